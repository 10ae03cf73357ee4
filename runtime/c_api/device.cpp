// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API: status, drivers, devices, buffers, executables. Each function checks its arguments and forwards.
#include "runtime/c_api/support.h"
#include "runtime/memory/allocator.h"
#include "runtime/memory/transfer.h"

using namespace tenon;
using namespace tenon::runtime;
using namespace tenon::runtime::c_api;

namespace {

/// The 32 digits of "GPU-xxxxxxxx-xxxx-...", lower case; empty for other text.
std::string uuidDigits(std::string_view text) {
  if (text.starts_with("GPU-"))
    text.remove_prefix(4);
  std::string digits;
  for (char c : text)
    if (c != '-')
      digits += static_cast<char>(c >= 'A' && c <= 'F' ? c + 32 : c);
  const bool isHex = digits.find_first_not_of("0123456789abcdef") == std::string::npos;
  return isHex && digits.size() == 32 ? digits : std::string();
}

std::string digitsOf(const std::array<uint8_t, 16> &uuid) {
  std::string digits;
  for (uint8_t byte : uuid)
    digits += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
  return digits;
}

tenon_status_t *writeInfo(const cuda::Driver &driver, size_t ordinal, tenon_device_info_t *out) {
  TENON_C_ASSIGN_OR_RETURN(DeviceInfo info, queryDeviceInfo(driver, ordinal));
  tenon_device_info_t value = {};
  std::strncpy(value.name, info.name.c_str(), sizeof(value.name) - 1);
  value.compute_capability = info.computeCapability;
  value.driver_version = static_cast<uint32_t>(driver.version());
  value.memory_bytes = info.memoryBytes;
  std::copy(info.uuid.begin(), info.uuid.end(), value.uuid);
  value.is_emulator = info.isEmulator;
  return toC(writeStruct(out, value, "out"));
}

} // namespace

tenon_status_code_t tenon_status_code(const tenon_status_t *status) {
  return status ? static_cast<tenon_status_code_t>(status->status.code()) : TENON_OK;
}
const char *tenon_status_message(const tenon_status_t *status) {
  return status ? status->message.c_str() : "";
}
const char *tenon_status_code_name(tenon_status_code_t code) {
  const uint32_t number = numberOf(code);
  if (number > TENON_INTERNAL)
    return "unknown code";
  return statusCodeName(static_cast<StatusCode>(number)).data(); // a string literal
}
tenon_status_t *tenon_status_create(tenon_status_code_t code, const char *message) {
  const uint32_t number = numberOf(code);
  if (number == TENON_OK)
    return nullptr;
  const bool isKnown = number <= TENON_INTERNAL;
  return toC(Status(isKnown ? static_cast<StatusCode>(number) : StatusCode::Internal, message ? message : ""));
}
void tenon_status_free(tenon_status_t *status) {
  delete status;
}
void tenon_status_release(tenon_status_t *status) {
  delete status;
}

const char *tenon_version(void) {
  return TENON_VERSION;
}

tenon_status_t *tenon_driver_open(const char *name, tenon_driver_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_ASSIGN_OR_RETURN(cuda::DeviceSelector selector, cuda::DeviceSelector::parse(name ? name : ""));
  auto driver = cuda::Driver::open(selector, cuda::DriverSearch::fromEnvironment());
  if (!driver.ok())
    return toC(driver.takeStatus());
  *out = new tenon_driver{driver.take()};
  return nullptr;
}
void tenon_driver_release(tenon_driver_t *driver) {
  delete driver;
}
const char *tenon_driver_notice(const tenon_driver_t *driver) {
  return driver ? driver->value->notice().c_str() : "";
}
tenon_status_t *tenon_driver_device_count(const tenon_driver_t *driver, size_t *out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(driver);
  TENON_C_ASSIGN_OR_RETURN(int count, driver->value->deviceCount());
  *out = static_cast<size_t>(count);
  return nullptr;
}

tenon_status_t *tenon_driver_device_info(const tenon_driver_t *driver, size_t ordinal, tenon_device_info_t *out) {
  TENON_C_REQUIRE(driver);
  TENON_C_REQUIRE(out);
  return writeInfo(*driver->value, ordinal, out);
}

tenon_status_t *tenon_device_open(tenon_driver_t *driver, size_t ordinal, tenon_device_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(driver);
  return giveHandle(Device::create(driver->value, static_cast<int>(std::min<size_t>(ordinal, 1 << 20))), out);
}
tenon_status_t *tenon_device_open_uuid(tenon_driver_t *driver, const char *uuid, tenon_device_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(driver);
  TENON_C_REQUIRE(uuid);
  const std::string wanted = uuidDigits(uuid);
  if (wanted.empty())
    return toC(makeError(StatusCode::InvalidArgument, "'", uuid, "' is no uuid: expected GPU- and 32 digits"));
  TENON_C_ASSIGN_OR_RETURN(int count, driver->value->deviceCount());
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    TENON_C_ASSIGN_OR_RETURN(DeviceInfo info, queryDeviceInfo(*driver->value, static_cast<size_t>(ordinal)));
    if (digitsOf(info.uuid) == wanted)
      return giveHandle(Device::create(driver->value, ordinal), out);
  }
  return toC(makeError(StatusCode::NotFound, "no device has the uuid '", uuid, "'; there are ", count));
}
tenon_status_t *tenon_device_open_default(const char *name, tenon_device_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_ASSIGN_OR_RETURN(cuda::DeviceSelector selector, cuda::DeviceSelector::parse(name ? name : ""));
  return giveHandle(Device::open(selector, cuda::DriverSearch::fromEnvironment()), out);
}
void tenon_device_release(tenon_device_t *device) {
  delete device;
}
tenon_status_t *tenon_device_wait(tenon_device_t *device) {
  TENON_C_REQUIRE(device);
  Status finished = withReport(*device->value, device->value->stream().synchronize());
  device->value->rememberFault(finished);
  return toC(std::move(finished));
}
tenon_status_t *tenon_device_info(const tenon_device_t *device, tenon_device_info_t *out) {
  TENON_C_REQUIRE(device);
  TENON_C_REQUIRE(out);
  return writeInfo(device->value->driver(), static_cast<size_t>(device->value->ordinal()), out);
}
tenon_status_t *tenon_device_statistics(const tenon_device_t *device, tenon_statistics_t *out) {
  TENON_C_REQUIRE(device);
  const Statistics counts = device->value->statistics();
  const tenon_statistics_t value = {sizeof(value),
                                    counts.allocations,
                                    counts.frees,
                                    counts.bytesLive,
                                    counts.bytesPeak,
                                    counts.launches,
                                    counts.modulesLoaded,
                                    counts.jitCompilations,
                                    counts.jitCacheHits,
                                    counts.graphsInstantiated,
                                    counts.graphNodesPatched};
  return toC(writeStruct(out, value, "out"));
}
tenon_status_t *tenon_device_trace_begin(tenon_device_t *device) {
  TENON_C_REQUIRE(device);
  device->value->setTrace(std::make_shared<Trace>());
  return nullptr;
}
tenon_status_t *tenon_device_trace_end(tenon_device_t *device) {
  TENON_C_REQUIRE(device);
  device->value->setTrace(nullptr);
  return nullptr;
}

tenon_status_t *tenon_device_trace_write(const tenon_device_t *device, const char *path) {
  TENON_C_REQUIRE(device);
  TENON_C_REQUIRE(path);
  const Trace *trace = device->value->trace();
  if (!trace)
    return toC(makeError(StatusCode::FailedPrecondition, "the device records nothing: tenon_device_trace_begin first"));
  return toC(trace->write(path));
}
tenon_status_t *tenon_device_set_memory_limit(tenon_device_t *device, uint64_t bytes) {
  TENON_C_REQUIRE(device);
  device->value->setMemoryLimit(bytes);
  return nullptr;
}
tenon_status_t *tenon_device_memory(tenon_device_t *device, uint64_t *free_bytes, uint64_t *total_bytes) {
  TENON_C_OUTPUT(free_bytes);
  TENON_C_OUTPUT(total_bytes);
  TENON_C_REQUIRE(device);
  TENON_C_ASSIGN_OR_RETURN(MemoryInfo info, queryMemory(*device->value));
  *free_bytes = info.freeBytes;
  *total_bytes = info.totalBytes;
  return nullptr;
}

tenon_status_t *tenon_buffer_allocate(tenon_device_t *device, uint64_t bytes, const tenon_buffer_options_t *options,
                                      tenon_buffer_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(device);
  TENON_C_ASSIGN_OR_RETURN(BufferOptions read, readOptions(options));
  return giveHandle(allocateBuffer(*device->value, bytes, read), out);
}
tenon_status_t *tenon_buffer_create(tenon_device_t *device, const void *data, uint64_t bytes,
                                    const tenon_buffer_options_t *options, tenon_buffer_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(device);
  TENON_C_ASSIGN_OR_RETURN(BufferOptions read, readOptions(options));
  TENON_C_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> made, allocateBuffer(*device->value, bytes, read));
  if (data)
    TENON_C_RETURN_IF_ERROR(uploadBytes(*made, 0, {static_cast<const uint8_t *>(data), bytes}));
  *out = new tenon_buffer{std::move(made)};
  return nullptr;
}
tenon_status_t *tenon_buffer_retain(tenon_buffer_t *buffer, tenon_buffer_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(buffer);
  *out = new tenon_buffer{buffer->value};
  return nullptr;
}
tenon_status_t *tenon_buffer_import_device(tenon_device_t *device, uint64_t address, uint64_t bytes,
                                           const tenon_buffer_options_t *options, tenon_release_fn released, void *user,
                                           tenon_buffer_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(device);
  TENON_C_ASSIGN_OR_RETURN(BufferOptions read, readOptions(options));
  return giveHandle(importDeviceMemory(*device->value, address, bytes, read, releaseOf(released, user)), out);
}
tenon_status_t *tenon_buffer_import_host(tenon_device_t *device, void *memory, uint64_t bytes,
                                         const tenon_buffer_options_t *options, tenon_release_fn released, void *user,
                                         tenon_buffer_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(device);
  TENON_C_ASSIGN_OR_RETURN(BufferOptions read, readOptions(options));
  return giveHandle(importHostMemory(*device->value, memory, bytes, read, releaseOf(released, user)), out);
}
void tenon_buffer_release(tenon_buffer_t *buffer) {
  delete buffer;
}
uint64_t tenon_buffer_size(const tenon_buffer_t *buffer) {
  return buffer ? buffer->value->size() : 0;
}
uint64_t tenon_buffer_address(const tenon_buffer_t *buffer) {
  return buffer ? buffer->value->address() : 0;
}
void *tenon_buffer_host_address(const tenon_buffer_t *buffer) {
  return buffer ? buffer->value->hostAddress() : nullptr;
}
tenon_status_t *tenon_buffer_map(tenon_buffer_t *buffer, uint64_t offset, uint64_t length, uint32_t access,
                                 void **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(buffer);
  if (length == TENON_WHOLE_BUFFER)
    length = buffer->value->size() - std::min(offset, buffer->value->size());
  TENON_C_ASSIGN_OR_RETURN(std::span<uint8_t> bytes, buffer->value->map(offset, length, access));
  *out = bytes.data();
  return nullptr;
}
tenon_status_t *tenon_buffer_write(tenon_buffer_t *buffer, uint64_t offset, const void *data, size_t bytes) {
  TENON_C_REQUIRE(buffer);
  if (bytes != 0)
    TENON_C_REQUIRE(data);
  return toC(uploadBytes(*buffer->value, offset, {static_cast<const uint8_t *>(data), bytes}));
}
tenon_status_t *tenon_buffer_read(const tenon_buffer_t *buffer, uint64_t offset, void *data, size_t bytes) {
  TENON_C_REQUIRE(buffer);
  if (bytes != 0)
    TENON_C_REQUIRE(data);
  return toC(withReport(buffer->value->device(),
                        downloadBytes(*buffer->value, offset, {static_cast<uint8_t *>(data), bytes})));
}
