// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes of a call: `call`, the name that it was registered by, and `data`, numbers:
//
//   kernel     grid x, y, z; for each parameter that is a binding its argument i, or result j as -1 - j; the words of
//   the constants function   the bits of each scalar input, in their order
#include "python/native/jax_call.h"

#include "python/native/arrays/staging.h"
#include "python/native/functions/function.h"
#include "python/native/kernels/kernel.h"
#include "python/native/object/elements.h"
#include "python/native/xla_ffi.h"

#include <dlfcn.h>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace tenon::python {

namespace {

struct Target {
  Ref object; // keeps the handles
  const Device *device = nullptr;
  bool isKernel = false;
  LaunchTarget kernel;
  CallTarget function;
};

/// Compiled code may call for as long as the process lives, so nothing is ever taken out.
struct Targets {
  std::mutex mutex;
  std::map<std::string, Target, std::less<>> byName;
};
Targets &targets() {
  static auto *all = new Targets;
  return *all;
}

bool elementOfXla(xla::DataType type, tenon_element_type_t *out) {
  switch (type) {
  case xla::kPred:
    *out = TENON_I1;
    return true;
  case xla::kS8:
  case xla::kU8:
    *out = TENON_I8;
    return true;
  case xla::kS16:
  case xla::kU16:
    *out = TENON_I16;
    return true;
  case xla::kS32:
  case xla::kU32:
    *out = TENON_I32;
    return true;
  case xla::kS64:
  case xla::kU64:
    *out = TENON_I64;
    return true;
  case xla::kF16:
    *out = TENON_F16;
    return true;
  case xla::kBf16:
    *out = TENON_BF16;
    return true;
  case xla::kF32:
    *out = TENON_F32;
    return true;
  case xla::kF64:
    *out = TENON_F64;
    return true;
  }
  return false;
}

xla::ErrorCode codeOf(tenon_status_code_t code) {
  switch (code) {
  case TENON_INVALID_ARGUMENT:
    return xla::kInvalidArgument;
  case TENON_NOT_FOUND:
    return xla::kNotFound;
  case TENON_OUT_OF_RANGE:
    return xla::kOutOfRange;
  case TENON_FAILED_PRECONDITION:
    return xla::kFailedPrecondition;
  case TENON_RESOURCE_EXHAUSTED:
    return xla::kResourceExhausted;
  case TENON_UNIMPLEMENTED:
    return xla::kUnimplemented;
  case TENON_UNAVAILABLE:
    return xla::kUnavailable;
  case TENON_DATA_LOSS:
    return xla::kDataLoss;
  case TENON_ABORTED:
    return xla::kAborted;
  default:
    return xla::kInternal;
  }
}

tenon_status_t *refuse(const std::string &text) {
  return tenon_status_create(TENON_INVALID_ARGUMENT, text.c_str());
}

/// A buffer of the call, with where the device sees it.
struct Operand {
  const xla::Buffer *buffer = nullptr;
  tenon_element_type_t element = TENON_F32;
  uint64_t bytes = 0, address = 0;
};

/// Copies on the stream of the call, and waits where the source does not outlive it. The C API has no such function,
/// the driver that it has loaded does.
tenon_status_t *copyOnStream(uint64_t target, uint64_t source, uint64_t bytes, void *stream, bool wait) {
  using Copy = int (*)(uint64_t, uint64_t, size_t, void *);
  using Wait = int (*)(void *);
  static void *driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  static const auto copy = reinterpret_cast<Copy>(driver ? ::dlsym(driver, "cuMemcpyDtoDAsync_v2") : nullptr);
  static const auto synchronize = reinterpret_cast<Wait>(driver ? ::dlsym(driver, "cuStreamSynchronize") : nullptr);
  int error = copy && synchronize ? copy(target, source, bytes, stream) : -1;
  if (error == 0 && wait)
    error = synchronize(stream);
  if (error == 0)
    return nullptr;
  return tenon_status_create(TENON_INTERNAL,
                             ("a result cannot be copied: the driver answers " + std::to_string(error)).c_str());
}

/// One call. Lives on the stack of XLA's thread.
class JaxCall {
public:
  JaxCall(const Target &target, const xla::CallFrame &frame, std::span<const int64_t> data, void *stream)
      : target_(target), frame_(frame), data_(data), stream_(stream), staging_(*target.device) {}

  tenon_status_t *run() {
    if (tenon_status_t *status = readAll(frame_.arguments, arguments_, /*areWritten=*/false))
      return status;
    if (tenon_status_t *status = readAll(frame_.results, results_, /*areWritten=*/true))
      return status;
    if (tenon_status_t *status = target_.isKernel ? launch() : call())
      return status;
    return onGpu() ? nullptr : staging_.finish();
  }

private:
  bool onGpu() const { return !target_.device->info.is_emulator; }

  tenon_status_t *readAll(const xla::Values &values, std::vector<Operand> &out, bool areWritten) {
    for (int64_t i = 0; i < values.count; ++i) {
      Operand one;
      one.buffer = static_cast<const xla::Buffer *>(values.values[i]);
      if (values.kinds[i] != xla::kBuffer || !elementOfXla(one.buffer->type, &one.element))
        return refuse((areWritten ? "result " : "argument ") + std::to_string(i) + " has elements of XLA's type " +
                      std::to_string(one.buffer->type) + ", which kernels have no name for");
      one.bytes = byteSize(one.element);
      for (int64_t axis = 0; axis < one.buffer->rank; ++axis)
        one.bytes *= static_cast<uint64_t>(one.buffer->shape[axis]);
      one.address = reinterpret_cast<uint64_t>(one.buffer->data);
      if (one.bytes == 0)
        one.address = 256; // what is empty lies nowhere
      else if (!onGpu())
        if (tenon_status_t *status = staging_.place(one.address, one.bytes, areWritten, &one.address))
          return status;
      out.push_back(one);
    }
    return nullptr;
  }

  tenon_status_t *launch();
  tenon_status_t *call();
  static uint64_t resultMemory(void *user, size_t index, const tenon_value_t *type, uint64_t bytes);

  const Target &target_;
  const xla::CallFrame &frame_;
  std::span<const int64_t> data_;
  void *stream_;
  Staging staging_;
  std::vector<Operand> arguments_, results_;
  std::string wrong_; // of a result's memory
};

tenon_status_t *JaxCall::launch() {
  const LaunchTarget &kernel = target_.kernel;
  if (data_.size() != 3 + kernel.bindings.size() + kernel.wordCount)
    return refuse("the call has other bindings or constants than kernel '" + std::string(kernel.name) + "'");
  uint32_t grid[3];
  for (int axis = 0; axis < 3; ++axis)
    grid[axis] = static_cast<uint32_t>(data_[axis]);
  std::vector<tenon_memory_range_t> ranges(kernel.bindingCount);
  for (size_t i = 0; i < kernel.bindings.size(); ++i) {
    const int64_t place = data_[3 + i];
    const std::vector<Operand> &all = place < 0 ? results_ : arguments_;
    const auto index = static_cast<size_t>(place < 0 ? -1 - place : place);
    if (index >= all.size() || (kernel.bindings[i].isWritten && place >= 0))
      return refuse("binding " + std::to_string(i) + " of kernel '" + kernel.name + "' has no buffer in the call");
    const Operand &one = all[index];
    if (kernel.bindings[i].hasElement && kernel.bindings[i].element != one.element)
      return refuse("binding " + std::to_string(i) + " of kernel '" + kernel.name + "': its elements are " +
                    nameOf(one.element) + ", the kernel takes " + nameOf(kernel.bindings[i].element));
    ranges[kernel.bindings[i].index] = {one.address, one.bytes};
  }
  const auto *words = reinterpret_cast<const uint64_t *>(data_.data() + 3 + kernel.bindings.size());
  tenon_status_t *status = tenon_executable_launch_ranges(kernel.handle, kernel.ordinal, grid, ranges.data(),
                                                          ranges.size(), words, kernel.wordCount, stream_);
  return status || onGpu() ? status : tenon_device_wait(target_.device->handle);
}

uint64_t JaxCall::resultMemory(void *user, size_t index, const tenon_value_t *type, uint64_t bytes) {
  auto &call = *static_cast<JaxCall *>(user);
  const Operand *one = index < call.results_.size() ? &call.results_[index] : nullptr;
  const bool isLike = one && one->bytes == bytes && static_cast<size_t>(one->buffer->rank) == type->rank &&
                      std::equal(type->shape, type->shape + type->rank, one->buffer->shape);
  if (isLike)
    return one->address;
  call.wrong_ = "result " + std::to_string(index) + " of '" + call.target_.function.name + "' has shape (";
  for (size_t axis = 0; axis < type->rank; ++axis)
    call.wrong_ += (axis ? ", " : "") + std::to_string(type->shape[axis]);
  call.wrong_ += "), which is not what `results` said";
  return 0;
}

tenon_status_t *JaxCall::call() {
  const CallTarget &function = target_.function;
  std::vector<tenon_value_t> values;
  size_t nextArgument = 0, nextScalar = 0;
  for (const CallTarget::Input &input : function.inputs) {
    if (input.isUnread) { // and is not handed here
      values.push_back(tenon_value_of(TENON_I64, 0));
      continue;
    }
    if (input.isScalar ? nextScalar == data_.size() : nextArgument == arguments_.size())
      return refuse("the call has fewer inputs than function '" + std::string(function.name) + "'");
    if (input.isScalar) {
      values.push_back(tenon_value_of(input.element, data_[nextScalar++]));
      continue;
    }
    const Operand &one = arguments_[nextArgument++];
    tenon_value_t value = {};
    value.struct_size = sizeof(value);
    value.element = input.element == TENON_INDEX && one.element == TENON_I64 ? TENON_INDEX : one.element;
    value.shape = one.buffer->shape;
    value.rank = static_cast<size_t>(one.buffer->rank);
    value.address = one.address;
    value.bytes = one.bytes;
    values.push_back(value);
  }
  tenon_call_options_t options = {};
  options.struct_size = sizeof(options);
  options.on_stream = onGpu();
  options.stream = stream_;
  options.result_memory = resultMemory;
  options.result_user = this;
  tenon_results_t *made = nullptr;
  tenon_status_t *status =
      tenon_program_call_again(function.handle, function.index, values.data(), values.size(), &options, &made);
  if (!wrong_.empty()) {
    tenon_status_release(status);
    tenon_results_release(made);
    return refuse(wrong_);
  }
  // Behind the function's own results stand inputs that it has written, which XLA has in the same memory.
  for (size_t i = 0; !status && i < std::min(results_.size(), function.resultCount); ++i) {
    tenon_value_t value = {};
    value.struct_size = sizeof(value);
    status = tenon_results_at(made, i, &value);
    const uint64_t from = value.buffer ? tenon_buffer_address(value.buffer) : 0;
    if (status || from == results_[i].address || results_[i].bytes == 0)
      continue;
    // An input that comes out again, or a result that the function has memory of its own for.
    if (!value.buffer || value.element != results_[i].element || resultMemory(this, i, &value, results_[i].bytes) == 0)
      status = refuse(wrong_.empty() ? "result " + std::to_string(i) + " of '" + function.name + "' has other elements"
                                     : wrong_);
    else if (onGpu())
      status = copyOnStream(results_[i].address, from, results_[i].bytes, stream_, function.runsOnHost);
    else
      status = tenon_buffer_read(value.buffer, 0, results_[i].buffer->data, results_[i].bytes);
  }
  tenon_results_release(made);
  return status;
}

/// An attribute of the call; null: there is none of the kind.
const void *attribute(const xla::CallFrame &frame, std::string_view name, int32_t kind) {
  for (int64_t i = 0; i < frame.attributes.count; ++i)
    if (frame.attributes.kinds[i] == kind &&
        std::string_view(frame.attributes.names[i]->data, frame.attributes.names[i]->length) == name)
      return frame.attributes.values[i];
  return nullptr;
}

tenon_status_t *runCall(const xla::CallFrame &frame, bool isGpu, void *stream) {
  const auto *name = static_cast<const xla::Text *>(attribute(frame, "call", xla::kString));
  const auto *data = static_cast<const xla::Array *>(attribute(frame, "data", xla::kArray));
  if (!name || (data && data->type != xla::kS64))
    return refuse("a call of 'tenon' without its attributes: make it by tenon.jax_op");
  const std::string_view spelled(name->data, name->length);
  const Target *target = nullptr;
  {
    std::lock_guard lock(targets().mutex);
    const auto found = targets().byName.find(spelled);
    target = found == targets().byName.end() ? nullptr : &found->second;
  }
  if (!target)
    return refuse("this process has no '" + std::string(spelled) + "': make it by tenon.jax_op before the call");
  if (target->device->info.is_emulator == isGpu)
    return refuse("'" + std::string(spelled) + "' is on " + (isGpu ? "the emulator" : "a GPU") + ", JAX runs it on " +
                  (isGpu ? "a GPU: load it with device='cuda'" : "the CPU: load it with device='emulator'"));
  const std::span<const int64_t> numbers(data ? static_cast<const int64_t *>(data->data) : nullptr,
                                         data ? data->count : 0);
  return JaxCall(*target, frame, numbers, stream).run();
}

template <bool isGpu, bool runsOnHost> xla::Error *handle(xla::CallFrame *frame) {
  // XLA asks what a target is before it calls it.
  if (frame->extensions && frame->extensions->type == xla::kMetadata) {
    xla::Metadata &metadata = *reinterpret_cast<xla::MetadataExtension *>(frame->extensions)->metadata;
    metadata.version.major = 0;
    metadata.version.minor = frame->api && frame->api->version.major == 0 ? frame->api->version.minor : 3;
    metadata.traits = isGpu && !runsOnHost ? xla::kCommandBufferCompatible : 0;
    return nullptr;
  }
  void *stream = nullptr;
  if (isGpu) {
    xla::GetStream question = {sizeof(question), nullptr, frame->context, nullptr};
    if (xla::Error *error = frame->api->getStream(&question))
      return error;
    stream = question.stream ? question.stream : reinterpret_cast<void *>(1); // CU_STREAM_LEGACY
  }
  tenon_status_t *status = runCall(*frame, isGpu, stream);
  if (!status)
    return nullptr;
  const std::string text = std::string("tenon: ") + tenon_status_message(status);
  xla::CreateError made = {sizeof(made), nullptr, text.c_str(), codeOf(tenon_status_code(status))};
  tenon_status_release(status);
  return frame->api->createError(&made);
}

PyObject *registerTarget(PyObject *, PyObject *arguments) {
  const char *name = nullptr;
  PyObject *object = nullptr;
  if (!PyArg_ParseTuple(arguments, "sO:jax_register", &name, &object))
    return nullptr;
  Target target;
  target.isKernel = describeKernel(object, &target.kernel, &target.device);
  if (!target.isKernel && !describeFunction(object, &target.function, &target.device))
    return PyErr_Format(PyExc_TypeError, "%R is neither a kernel nor a function of a program", object);
  target.object = Ref::share(object);
  std::lock_guard lock(targets().mutex);
  if (!targets().byName.emplace(name, std::move(target)).second)
    return PyErr_Format(PyExc_ValueError, "'%s' is registered already", name);
  Py_RETURN_NONE;
}

/// A capsule as jax.ffi.register_ffi_target takes it.
PyObject *jaxTarget(PyObject *, PyObject *arguments) {
  int isGpu = 0, runsOnHost = 0;
  if (!PyArg_ParseTuple(arguments, "pp:jax_target", &isGpu, &runsOnHost))
    return nullptr;
  using Handler = xla::Error *(*)(xla::CallFrame *);
  constexpr Handler kHandlers[] = {handle<false, false>, handle<false, true>, handle<true, false>, handle<true, true>};
  return PyCapsule_New(reinterpret_cast<void *>(kHandlers[2 * isGpu + runsOnHost]), "xla._CUSTOM_CALL_TARGET", nullptr);
}

PyObject *scalar(PyObject *, PyObject *arguments) {
  PyObject *number = nullptr;
  const char *name = nullptr;
  tenon_element_type_t element = TENON_F32;
  int64_t bits = 0;
  if (!PyArg_ParseTuple(arguments, "Os:scalar_bits", &number, &name))
    return nullptr;
  if (!elementNamed(name, &element))
    return PyErr_Format(PyExc_TypeError, "'%s' is no element type", name);
  return scalarBits(number, element, &bits) ? PyLong_FromLongLong(bits) : nullptr;
}

PyMethodDef functions[] = {
    {"scalar_bits", method(scalar), METH_VARARGS, "scalar_bits(2.0, 'f32'): a number as a program takes it."},
    {"jax_register", method(registerTarget), METH_VARARGS, "jax_register(name, call): what calls of that name mean."},
    {"jax_target", method(jaxTarget), METH_VARARGS,
     "jax_target(is_gpu, runs_on_host): a target for JAX, as a capsule."},
    {},
};

} // namespace

bool addJax(PyObject *module) {
  return PyModule_AddFunctions(module, functions) == 0;
}

} // namespace tenon::python
