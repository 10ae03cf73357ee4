// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call of a function of a program, from the caller's arrays to the caller's results (function.h).
#pragma once

#include "python/native/arrays/array.h"
#include "python/native/arrays/staging.h"
#include "python/native/arrays/view.h"
#include "python/native/object/device.h"

#include <utility>
#include <vector>

namespace tenon::python {

/// What a function takes or gives.
struct Type {
  tenon_element_type_t element;
  bool isScalar;
  bool isUnread; // an input: any array does
  size_t rank;
  const int64_t *shape;      // the program's
  bool isDonated, isUpdated; // an input
  size_t inputPlusOne;       // a result
};

/// A function of a program: what is known of it before it is called.
struct Function {
  Ref program, device;
  tenon_program_t *handle = nullptr;
  uint32_t index = 0;
  tenon_function_info_t info = {};
  std::vector<Type> inputs, results;
  tenon_results_t *reused = nullptr; // by calls that return at once, under the interpreter's lock

  Function() = default;
  Function(Function &&other) noexcept
      : program(std::move(other.program)), device(std::move(other.device)), handle(other.handle), index(other.index),
        info(other.info), inputs(std::move(other.inputs)), results(std::move(other.results)),
        reused(std::exchange(other.reused, nullptr)) {}
  ~Function() { tenon_results_release(reused); }
  const Device &deviceValue() const { return valueOf<Device>(device.get()); }
};

/// One call, from its arguments to its results. Lives on the stack.
class Call {
public:
  Call(Function &function, PyObject *arguments)
      : function_(function), arguments_(arguments), staging_(function.deviceValue()) {}
  ~Call() {
    for (size_t i = 0; i < produced_.size(); ++i) {
      if (produced_[i].managed)
        produced_[i].managed->deleter(produced_[i].managed);
      Py_XDECREF(produced_[i].object);
    }
    if (isReused_ && !function_.reused)
      function_.reused = results_;
    else
      tenon_results_release(results_);
  }

  bool checkNames(PyObject *keywords);
  bool readArguments();
  bool readOptions(PyObject *keywords);
  bool run();
  PyObject *takeResults();

private:
  static constexpr size_t kInlined = 8;
  struct Produced { // a result's memory, from the caller's library
    runtime::dlpack::ManagedVersioned *managed = nullptr;
    PyObject *object = nullptr;
  };
  bool readTensor(size_t index, PyObject *argument, tenon_value_t &value);
  bool checkDevice(size_t index, const View &view);
  bool checkWritable(size_t index, const Library &library, View &view);
  bool readOut(PyObject *out);
  static uint64_t resultMemory(void *user, size_t index, const tenon_value_t *type, uint64_t bytes);
  uint64_t allocate(size_t index, const tenon_value_t &type, uint64_t bytes);
  size_t placeInOut(size_t result) const; // among out_
  PyObject *takeTensor(size_t index, const tenon_value_t &value);
  static uint64_t addressOf(PyObject *made); // 0 and an exception: it is none

  Function &function_;
  PyObject *arguments_; // a tuple, borrowed
  Staging staging_;
  View inlined_[kInlined];
  std::vector<View> more_;
  View *views_ = inlined_;
  size_t viewCount_ = 0;
  tenon_value_t inlinedValues_[kInlined];
  std::vector<tenon_value_t> moreValues_;
  tenon_value_t *values_ = inlinedValues_;
  const Library *style_ = nullptr; // of the first array: what results become
  bool isStyleHost_ = false;
  bool hasStream_ = false, hasHost_ = false;
  bool keepsInputs_ = false;
  void *stream_ = nullptr;
  static constexpr size_t kNone = ~size_t(0);
  size_t wrongOut_ = kNone; // among out_
  std::vector<int64_t> wantedOut_;
  tenon_element_type_t wantedOutElement_ = TENON_F32;
  std::vector<View> out_;
  Ref outObjects_;
  std::vector<Produced> produced_;
  tenon_results_t *results_ = nullptr;
  bool isReused_ = false;
};

} // namespace tenon::python
