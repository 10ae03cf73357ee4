// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the structs of the C API to those of the runtime.
#include "runtime/c_api/support.h"

#include "abi/format/verify/verify.h"
#include "runtime/memory/allocator.h"

namespace tenon::runtime::c_api {

tenon_status_t *toC(Status status) {
  if (status.ok())
    return nullptr;
  std::string message(status.message());
  return new tenon_status{std::move(status), std::move(message)};
}

Status withReport(const Device &device, Status status) {
  const auto lastReport = device.driver().lastReport;
  if (status.code() != StatusCode::Aborted || !lastReport ||
      status.message().find("a kernel failed before") != std::string_view::npos)
    return status;
  std::string text(lastReport(nullptr, 0) + 1, '\0');
  lastReport(text.data(), text.size());
  text.resize(strnlen(text.data(), text.size()));
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text.empty() ? std::move(status) : Status(status.code(), concat(status.message(), "\n", text));
}

Status fromC(tenon_status_t *status) {
  if (!status)
    return okStatus();
  Status out = std::move(status->status);
  delete status;
  return out;
}

Result<BufferOptions> readOptions(const tenon_buffer_options_t *given) {
  if (!given)
    return BufferOptions{};
  TENON_ASSIGN_OR_RETURN(tenon_buffer_options_t options, readStruct(given, "options"));
  const uint32_t memory = numberOf(options.memory);
  if (memory > TENON_HOST_VISIBLE)
    return makeError(StatusCode::InvalidArgument, "unknown memory type ", memory);
  return BufferOptions{static_cast<MemoryType>(memory), options.usage ? options.usage : kUsageAll,
                       options.access ? options.access : kAccessAll};
}

Buffer::Release releaseOf(tenon_release_fn released, void *user) {
  if (!released)
    return nullptr;
  return [released, user] { released(user); };
}

Status checkArray(const void *array, size_t count, const char *name) {
  if (count > kMostElements)
    return makeError(StatusCode::OutOfRange, "'", name, "' has ", count, " elements, at most ", kMostElements,
                     " are read");
  return count != 0 && !array ? nullArgument(name) : okStatus();
}

Result<std::vector<SemaphorePoint>> readPoints(const tenon_semaphore_point_t *points, size_t count, const char *name) {
  TENON_RETURN_IF_ERROR(checkArray(points, count, name));
  std::vector<SemaphorePoint> out;
  for (size_t i = 0; i < count; ++i) {
    if (!points[i].semaphore)
      return makeError(StatusCode::InvalidArgument, "semaphore ", i, " of '", name, "' is NULL");
    out.push_back({points[i].semaphore->value, points[i].value});
  }
  return out;
}

BufferRef readRef(const tenon_buffer_ref_t &ref) {
  return {ref.buffer ? ref.buffer->value : nullptr, ref.offset, ref.length, ref.slot};
}

Result<ReadSubmission> readSubmission(const tenon_submission_t *submission) {
  ReadSubmission out;
  TENON_ASSIGN_OR_RETURN(out.given, readStruct(submission, "submission"));
  TENON_ASSIGN_OR_RETURN(out.waits, readPoints(out.given.waits, out.given.wait_count, "waits"));
  TENON_ASSIGN_OR_RETURN(out.signals, readPoints(out.given.signals, out.given.signal_count, "signals"));
  return out;
}

Result<ReadSubmission> readPointsOnly(const tenon_submission_t *submission, const char *what) {
  TENON_ASSIGN_OR_RETURN(ReadSubmission read, readSubmission(submission));
  if (read.given.commands || read.given.binding_count != 0)
    return makeError(StatusCode::InvalidArgument, what, " takes no commands");
  return read;
}

Result<ExecutableOptions> readImageOptions(const tenon_image_options_t *given) {
  TENON_ASSIGN_OR_RETURN(ExecutableOptions options, ExecutableOptions::fromEnvironment());
  if (!given)
    return options;
  TENON_ASSIGN_OR_RETURN(tenon_image_options_t read, readStruct(given, "options"));
  switch (const uint32_t images = numberOf(read.images)) {
  case TENON_IMAGES_DEFAULT:
    break;
  case TENON_IMAGES_ANY:
    options.images = ImagePolicy::Any;
    break;
  case TENON_IMAGES_CUBIN:
    options.images = ImagePolicy::Cubin;
    break;
  case TENON_IMAGES_PTX:
    options.images = ImagePolicy::Ptx;
    break;
  default:
    return makeError(StatusCode::InvalidArgument, "unknown images ", images);
  }
  if (read.variant)
    options.variant = read.variant;
  return options;
}

Status readValue(const tenon_value_t &given, Device *device, Value &out) {
  const uint32_t number = numberOf(given.element);
  if (number > TENON_INDEX)
    return makeError(StatusCode::InvalidArgument, "unknown element type ", number);
  const auto element = static_cast<abi::ElementType>(number);
  if (!given.buffer && given.address == 0 && given.bytes == 0) {
    out = Scalar{element, given.scalar_bits};
    return okStatus();
  }
  if (given.rank > abi::kMaxRank)
    return makeError(StatusCode::OutOfRange, "a tensor has rank ", given.rank, ", at most ", abi::kMaxRank,
                     " is possible");
  if (given.rank != 0 && !given.shape)
    return makeError(StatusCode::InvalidArgument, "a tensor of rank ", given.rank, " has no shape");
  if (!std::holds_alternative<Tensor>(out))
    out = Tensor();
  Tensor &tensor = *std::get_if<Tensor>(&out);
  tensor.element = element;
  tensor.shape.assign(given.shape, given.shape + given.rank);
  if (given.buffer) {
    tensor.buffer = given.buffer->value;
    return okStatus();
  }
  if (!device)
    return makeError(StatusCode::InvalidArgument, "a tensor is given by its address; here it needs a buffer");
  TENON_ASSIGN_OR_RETURN(tensor.buffer, importDeviceMemory(*device, given.address, given.bytes, {}, nullptr));
  return okStatus();
}

} // namespace tenon::runtime::c_api
