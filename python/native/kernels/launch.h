// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One launch: arguments to addresses and words, by a list that was made when the kernel was; then one call of the C
// API.
#pragma once

#include "python/native/arrays/staging.h"
#include "python/native/arrays/view.h"
#include "python/native/kernels/kernel_value.h"

namespace tenon::python {

constexpr size_t kInlined = 16; // arguments that need no allocation

/// One launch, on the stack.
class Launch {
public:
  explicit Launch(const Kernel &kernel) : kernel_(kernel), staging_(kernel.deviceValue()) {}

  bool read(PyObject *arguments);
  bool setStream(PyObject *stream);
  bool pack(PyObject *values, std::vector<uint64_t> &words);
  bool run(const uint32_t grid[3]);

private:
  bool readOne(const Parameter &parameter, PyObject *argument);
  bool readBinding(const Parameter &parameter, PyObject *argument);
  bool readConstant(const Parameter &parameter, PyObject *argument);
  bool readStruct(const Parameter &parameter, PyObject *argument, uint64_t *words);
  bool readExtents(const Parameter &parameter, PyObject *argument, uint64_t *words);
  bool fillMaps(const View *views);

  const Kernel &kernel_;
  Staging staging_;
  View views_[kInlined];
  std::vector<View> moreViews_;
  View *nextView_ = views_;
  tenon_memory_range_t inlinedRanges_[kInlined];
  std::vector<tenon_memory_range_t> moreRanges_;
  tenon_memory_range_t *ranges_ = inlinedRanges_;
  uint64_t inlinedWords_[4 * kInlined];
  std::vector<uint64_t> moreWords_;
  uint64_t *words_ = inlinedWords_;
  bool hasStream_ = false, hasDeviceArray_ = false;
  void *stream_ = nullptr;
};

} // namespace tenon::python
