// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel's Python object holds.
#pragma once

#include "python/native/object/device.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tenon::python {

/// A parameter of the kernel, which the caller passes but for tensor maps whose extents an array says.
struct Parameter {
  tenon_slot_info_t slot;
  std::string name;
  bool hasElement = false; // of a binding
  tenon_element_type_t element = TENON_F32;
  std::optional<uint32_t> mappedFrom; // of a tensor map that nobody passes: of which parameter, an array
  bool isPassed() const { return !mappedFrom; }
};

struct Kernel {
  Ref executable, device;
  tenon_executable_t *handle = nullptr;
  uint32_t ordinal = 0;
  tenon_export_info_t info = {};
  std::vector<Parameter> parameters;
  Ref grid; // numbers, or a callable that says them for the arguments; or null
  Ref meta; // whatever the package knows of where it is from

  size_t passed() const {
    return static_cast<size_t>(std::count_if(parameters.begin(), parameters.end(), std::mem_fn(&Parameter::isPassed)));
  }
  const Device &deviceValue() const { return valueOf<Device>(device.get()); }
};

} // namespace tenon::python
