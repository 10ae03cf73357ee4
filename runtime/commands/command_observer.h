// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Called for each command of a call: before it is given to the device, and after it is complete. For what belongs
// to one command only while nothing else runs, such as the text that a kernel prints.
#pragma once

#include <string_view>

namespace tenon::runtime {

class CommandObserver {
public:
  virtual ~CommandObserver() = default;
  /// @param name of the export; "copy", "fill"
  virtual void before(std::string_view name) = 0;
  /// Complete, or failed.
  virtual void after() = 0;
};

} // namespace tenon::runtime
