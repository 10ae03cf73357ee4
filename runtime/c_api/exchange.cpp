// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API: memory and moments that other libraries and processes share.
#include "runtime/c_api/support.h"
#include "runtime/memory/shared_memory.h"
#include "runtime/values/dlpack.h"

using namespace tenon;
using namespace tenon::runtime;
using namespace tenon::runtime::c_api;

namespace {

Result<Semaphore::TimepointKind> readKind(const tenon_timepoint_kind_t &kind) {
  const uint32_t number = numberOf(kind);
  if (number > TENON_TIMEPOINT_SYNC_FILE)
    return makeError(StatusCode::InvalidArgument, "unknown kind of timepoint ", number);
  return static_cast<Semaphore::TimepointKind>(number);
}

} // namespace

tenon_status_t *tenon_dlpack_export(const tenon_value_t *value, struct DLManagedTensorVersioned **out) {
  TENON_C_OUTPUT(out);
  TENON_C_ASSIGN_OR_RETURN(tenon_value_t given, readStruct(value, "value"));
  TENON_C_REQUIRE(given.buffer);
  Value read;
  if (Status status = readValue(given, nullptr, read); !status.ok())
    return toC(std::move(status));
  const Tensor &tensor = *std::get_if<Tensor>(&read);
  TENON_C_ASSIGN_OR_RETURN(const uint64_t bytes, denseBytes(tensor.shape, tensor.element));
  if (bytes > tensor.buffer->size())
    return toC(makeError(StatusCode::OutOfRange, tensorTypeSpelling(tensor.shape, tensor.element), " needs ", bytes,
                         " bytes, the buffer has ", tensor.buffer->size()));
  TENON_C_ASSIGN_OR_RETURN(dlpack::ManagedVersioned * managed, exportDlpack(tensor));
  *out = reinterpret_cast<struct DLManagedTensorVersioned *>(managed);
  return nullptr;
}
tenon_status_t *tenon_dlpack_import(tenon_device_t *device, struct DLManagedTensorVersioned *managed,
                                    tenon_results_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(device);
  TENON_C_REQUIRE(managed);
  TENON_C_ASSIGN_OR_RETURN(Tensor tensor,
                           importDlpack(*device->value, reinterpret_cast<dlpack::ManagedVersioned *>(managed)));
  *out = new tenon_results;
  (*out)->values.push_back(std::move(tensor));
  return nullptr;
}

tenon_status_t *tenon_buffer_allocate_shareable(tenon_device_t *device, uint64_t bytes,
                                                const tenon_buffer_options_t *options, tenon_buffer_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(device);
  TENON_C_ASSIGN_OR_RETURN(BufferOptions read, readOptions(options));
  return giveHandle(allocateShareable(*device->value, bytes, read), out);
}
tenon_status_t *tenon_buffer_export_descriptor(const tenon_buffer_t *buffer, int *out) {
  TENON_C_REQUIRE(out);
  *out = -1;
  TENON_C_REQUIRE(buffer);
  TENON_C_ASSIGN_OR_RETURN(*out, exportDescriptor(*buffer->value));
  return nullptr;
}
tenon_status_t *tenon_buffer_import_descriptor(tenon_device_t *device, int descriptor, uint64_t bytes,
                                               const tenon_buffer_options_t *options, tenon_buffer_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(device);
  TENON_C_ASSIGN_OR_RETURN(BufferOptions read, readOptions(options));
  return giveHandle(importDescriptor(*device->value, descriptor, bytes, read), out);
}

tenon_status_t *tenon_semaphore_export_timepoint(tenon_semaphore_t *semaphore, uint64_t value,
                                                 tenon_timepoint_kind_t kind, uint64_t *out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(semaphore);
  TENON_C_ASSIGN_OR_RETURN(const Semaphore::TimepointKind wanted, readKind(kind));
  return toC(semaphore->value->exportTimepoint(value, wanted));
}
tenon_status_t *tenon_semaphore_import_timepoint(tenon_semaphore_t *semaphore, uint64_t value,
                                                 tenon_timepoint_kind_t kind, uint64_t handle) {
  TENON_C_REQUIRE(semaphore);
  TENON_C_ASSIGN_OR_RETURN(const Semaphore::TimepointKind given, readKind(kind));
  return toC(semaphore->value->importTimepoint(value, given, handle));
}
