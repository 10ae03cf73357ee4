// The steps of a call. In: a verified function and the caller's values. The verifier (abi/executable_format.md) has
// shown that every index is in its array, so what is checked here is what only the call knows: input types, the values
// of registers, and the ranges and grids made of them.
#include "runtime/call.h"

#include "runtime/device.h"
#include "runtime/register_program.h"

#include <limits>

namespace tenon::runtime {

namespace {

constexpr uint32_t kWholeRange = std::numeric_limits<uint32_t>::max(); // "from the start", "to the end"

// Largest workgroup counts of a launch (CUDA Programming Guide, technical specifications).
constexpr int64_t kMaxGrid[3] = {2147483647, 65535, 65535};

template <typename Vector> uint32_t sizeOf(const Vector *vector) {
  return vector ? vector->size() : 0;
}

abi::ElementType elementOf(const abi::fb::ValueType &type) {
  return static_cast<abi::ElementType>(type.element());
}

/// Empty when the value has the declared type, else what differs.
std::string typeDifference(const abi::fb::ValueType &declared, const Value &value) {
  if (declared.kind() == abi::fb::ValueKind::Scalar) {
    const Scalar *scalar = std::get_if<Scalar>(&value);
    if (!scalar)
      return "a tensor was given for a scalar";
    return scalar->element == elementOf(declared) ? "" : "the types differ";
  }
  const Tensor *tensor = std::get_if<Tensor>(&value);
  if (!tensor)
    return "a scalar was given for a tensor";
  if (tensor->element != elementOf(declared))
    return "the element types differ";
  const uint32_t rank = sizeOf(declared.shape());
  if (tensor->shape.size() != rank)
    return concat("rank ", tensor->shape.size(), ", expected rank ", rank);
  for (uint32_t i = 0; i < rank; ++i) {
    const int64_t extent = declared.shape()->Get(i);
    if (tensor->shape[i] < 0 || (extent >= 0 && tensor->shape[i] != extent))
      return concat("dimension ", i, " is ", tensor->shape[i], ", expected ", extent);
  }
  Result<uint64_t> bytes = denseBytes(tensor->shape, tensor->element);
  if (!bytes.ok())
    return std::string(bytes.status().message());
  if (!tensor->buffer || tensor->buffer->size() < *bytes)
    return concat("its buffer has ", tensor->buffer ? tensor->buffer->size() : 0, " bytes, the tensor needs ", *bytes);
  return "";
}

} // namespace

Status checkInputCount(const abi::fb::Function &function, size_t given) {
  const uint32_t declared = sizeOf(function.inputs());
  if (given == declared)
    return okStatus();
  std::string types;
  for (uint32_t i = 0; i < declared; ++i)
    types += concat(i ? ", " : "", abi::typeSpelling(*function.inputs()->Get(i)));
  return makeError(StatusCode::InvalidArgument, given, given == 1 ? " input" : " inputs", " given, function '",
                   function.name()->string_view(), "' takes ", declared, " (", types, ")");
}

Status Call::checkInputs() const {
  TENON_RETURN_IF_ERROR(checkInputCount(function_, inputs_.size()));
  const std::string_view name = function_.name()->string_view();
  const uint32_t declared = sizeOf(function_.inputs());
  for (uint32_t i = 0; i < declared; ++i) {
    const abi::fb::ValueType &type = *function_.inputs()->Get(i);
    if (std::string difference = typeDifference(type, inputs_[i]); !difference.empty())
      return makeError(StatusCode::InvalidArgument, "input ", i, " of function '", name, "' is ",
                       typeSpelling(inputs_[i]), ", expected ", abi::typeSpelling(type), ": ", difference);
  }
  return okStatus();
}

Status Call::computeRegisters() {
  TENON_ASSIGN_OR_RETURN(registers_, runRegisterProgram(function_, inputs_));
  return okStatus();
}

Status Call::evaluateChecks() const {
  for (uint32_t i = 0; i < sizeOf(function_.checks()); ++i) {
    const abi::fb::Check &check = *function_.checks()->Get(i);
    if (registers_[check.condition()] != 0)
      continue;
    std::string where = check.location() ? concat(check.location()->string_view(), ": ") : std::string();
    return makeError(StatusCode::InvalidArgument, where, "function '", function_.name()->string_view(),
                     "': ", check.message()->string_view());
  }
  return okStatus();
}

Status Call::loadKernels() {
  kernels_.assign(sizeOf(function_.commands()), nullptr);
  for (uint32_t i = 0; i < kernels_.size(); ++i) {
    const abi::fb::Command &command = *function_.commands()->Get(i);
    const abi::fb::Dispatch *dispatch = command.body_as_Dispatch();
    if (!dispatch)
      continue;
    Executable &executable = *program_.executables_[dispatch->executable()];
    TENON_ASSIGN_OR_RETURN(kernels_[i], executable.load(dispatch->export_ordinal()));
  }
  return okStatus();
}

Status Call::bindBuffers() {
  for (uint32_t i = 0; i < sizeOf(function_.buffers()); ++i) {
    const abi::fb::Buffer &buffer = *function_.buffers()->Get(i);
    BoundBuffer bound;
    switch (buffer.source()) {
    case abi::fb::BufferSource::Input: {
      const Tensor *tensor = std::get_if<Tensor>(&inputs_[buffer.index()]);
      if (!tensor)
        return makeError(StatusCode::InvalidArgument, "function '", function_.name()->string_view(), "': buffer ", i,
                         " is input ", buffer.index(), ", which is no tensor");
      TENON_ASSIGN_OR_RETURN(bound.bytes, denseBytes(tensor->shape, tensor->element));
      bound.buffer = tensor->buffer;
      break;
    }
    case abi::fb::BufferSource::Transient: {
      const int64_t bytes = buffer.size() < registers_.size() ? registers_[buffer.size()] : -1;
      if (bytes < 0)
        return makeError(StatusCode::OutOfRange, "function '", function_.name()->string_view(), "': buffer ", i,
                         " has ", bytes, " bytes");
      bound.bytes = static_cast<uint64_t>(bytes);
      TENON_ASSIGN_OR_RETURN(bound.buffer, program_.device_->allocate(bound.bytes));
      break;
    }
    case abi::fb::BufferSource::Constant:
      bound.buffer = program_.constants_[buffer.index()];
      bound.bytes = bound.buffer->size();
      break;
    }
    buffers_.push_back(std::move(bound));
  }
  return okStatus();
}

Result<DeviceRange> Call::resolve(const abi::fb::BufferRange &range) const {
  const BoundBuffer &bound = buffers_[range.buffer()];
  const int64_t offset = range.offset() == kWholeRange ? 0 : registers_[range.offset()];
  const int64_t size = static_cast<int64_t>(bound.bytes);
  if (offset < 0 || offset > size)
    return makeError(StatusCode::OutOfRange, "a range of buffer ", range.buffer(), " starts at byte ", offset,
                     ", the buffer has ", size);
  const int64_t length = range.length() == kWholeRange ? size - offset : registers_[range.length()];
  if (length < 0 || length > size - offset)
    return makeError(StatusCode::OutOfRange, "a range of buffer ", range.buffer(), " has ", length, " bytes from byte ",
                     offset, ", the buffer has ", size);
  return DeviceRange{bound.buffer->address() + static_cast<uint64_t>(offset), static_cast<uint64_t>(length)};
}

Status Call::submitCommands() {
  for (uint32_t i = 0; i < sizeOf(function_.commands()); ++i) {
    Status status = submit(*function_.commands()->Get(i), i);
    if (status.ok() && options_.synchronous)
      status = program_.device_->queue().synchronize();
    if (status.ok())
      continue;
    // A kernel's fault may come back from a later command; waiting after each, it is this one's.
    const bool isFault = status.code() == StatusCode::Aborted && !options_.synchronous;
    return isFault ? describeFault(std::move(status)) : std::move(status).withContext(describeCommand(i));
  }
  return okStatus();
}

Status Call::submit(const abi::fb::Command &command, uint32_t index) {
  switch (command.body_type()) {
  case abi::fb::CommandBody::Dispatch:
    return submitDispatch(*command.body_as_Dispatch(), index);
  case abi::fb::CommandBody::Copy: {
    const abi::fb::Copy &copy = *command.body_as_Copy();
    TENON_ASSIGN_OR_RETURN(DeviceRange source, resolve(*copy.source()));
    TENON_ASSIGN_OR_RETURN(DeviceRange target, resolve(*copy.target()));
    return program_.device_->queue().copy(source, target);
  }
  case abi::fb::CommandBody::Fill:
    return submitFill(*command.body_as_Fill());
  case abi::fb::CommandBody::NONE:
    break;
  }
  return makeError(StatusCode::DataLoss, "a command without a body");
}

Status Call::submitFill(const abi::fb::Fill &fill) {
  TENON_ASSIGN_OR_RETURN(DeviceRange target, resolve(*fill.target()));
  return program_.device_->queue().fill(target, static_cast<uint32_t>(registers_[fill.pattern()]), fill.pattern_size());
}

Status Call::submitDispatch(const abi::fb::Dispatch &dispatch, uint32_t index) {
  const LoadedExport &kernel = *kernels_[index];
  std::array<uint32_t, 3> grid = {};
  for (uint32_t axis = 0; axis < 3; ++axis) {
    const int64_t count = registers_[dispatch.grid()->Get(axis)];
    if (count < 0 || count > kMaxGrid[axis])
      return makeError(StatusCode::OutOfRange, "the workgroup count is ", count, " along ", "xyz"[axis],
                       ", possible are 0 to ", kMaxGrid[axis]);
    grid[axis] = static_cast<uint32_t>(count);
  }

  // An empty tensor is an empty grid, which a launch would refuse.
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return okStatus();

  std::vector<DeviceRange> bindings;
  std::vector<uint64_t> constants;
  for (uint32_t i = 0; i < sizeOf(dispatch.bindings()); ++i) {
    Result<DeviceRange> range = resolve(*dispatch.bindings()->Get(i));
    if (!range.ok())
      return range.takeStatus().withContext(concat("binding ", i));
    const uint32_t alignment =
        i < kernel.declaration->layout.bindings.size() ? kernel.declaration->layout.bindings[i].alignment : 0;
    if (alignment != 0 && range->address % alignment != 0)
      return makeError(StatusCode::InvalidArgument, "binding ", i, " is at address ", range->address,
                       ", the layout declares an alignment of ", alignment, " bytes");
    bindings.push_back(*range);
  }
  for (uint32_t i = 0; i < sizeOf(dispatch.constants()); ++i)
    constants.push_back(static_cast<uint64_t>(registers_[dispatch.constants()->Get(i)]));
  TENON_ASSIGN_OR_RETURN(ArgumentPack arguments,
                         ArgumentPack::pack(kernel.parameters, kernel.encodeTensorMap, bindings, constants));
  launched_.push_back(index);
  program_.device_->countLaunch();
  return program_.device_->queue().launch(kernel.function, grid, kernel.declaration->launch,
                                          arguments.kernelParameters());
}

std::string Call::describeCommand(uint32_t index) const {
  const abi::fb::Command &command = *function_.commands()->Get(index);
  std::string out = command.location() ? concat(command.location()->string_view(), ": ") : std::string();
  out += concat("function '", function_.name()->string_view(), "', command ", index, " (",
                abi::fb::EnumNameCommandBody(command.body_type()));
  if (kernels_[index])
    out += concat(" of '", kernels_[index]->declaration->name, "', variant '", kernels_[index]->variantName, "'");
  return out + ")";
}

Status Call::describeFault(Status status) const {
  if (launched_.empty())
    return std::move(status).withContext(concat("function '", function_.name()->string_view(), "'"));
  if (launched_.size() == 1)
    return std::move(status).withContext(describeCommand(launched_.front()));
  // The queue says that something failed, not what.
  std::string candidates;
  for (uint32_t index : launched_)
    candidates += concat("\n  ", describeCommand(index));
  return makeError(status.code(), "function '", function_.name()->string_view(), "': ", status.message(),
                   "\none of these dispatches failed; run with --synchronous to know which:", candidates);
}

Status Call::synchronize() {
  Status status = program_.device_->queue().synchronize();
  return status.ok() ? okStatus() : describeFault(std::move(status));
}

Result<Tensor> Call::collectTensor(const abi::fb::ResultValue &result, uint32_t index) const {
  Tensor tensor;
  tensor.element = elementOf(*result.type());
  for (uint32_t i = 0; i < sizeOf(result.shape()); ++i)
    tensor.shape.push_back(registers_[result.shape()->Get(i)]);
  TENON_ASSIGN_OR_RETURN(uint64_t bytes, denseBytes(tensor.shape, tensor.element));
  const BoundBuffer &bound = buffers_[result.buffer()];
  if (bytes > bound.bytes)
    return makeError(StatusCode::OutOfRange, "result ", index, " of function '", function_.name()->string_view(),
                     "' is ", tensorTypeSpelling(tensor.shape, tensor.element), " (", bytes, " bytes) in a buffer of ",
                     bound.bytes, " bytes");
  tensor.buffer = bound.buffer;
  return tensor;
}

Result<std::vector<Value>> Call::collectResults() const {
  std::vector<Value> results;
  for (uint32_t i = 0; i < sizeOf(function_.results()); ++i) {
    const abi::fb::ResultValue &result = *function_.results()->Get(i);
    if (result.type()->kind() == abi::fb::ValueKind::Scalar) {
      results.push_back(Scalar{elementOf(*result.type()), registers_[result.scalar()]});
      continue;
    }
    TENON_ASSIGN_OR_RETURN(Tensor tensor, collectTensor(result, i));
    results.push_back(std::move(tensor));
  }
  return results;
}

} // namespace tenon::runtime
