// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the files of the C API share: a handle is a struct that holds one reference to a C++ object, a status that is ok
// is NULL, and structs are read and written by their struct_size, so that older and newer callers both work.
#pragma once

#include "runtime/device/device.h"
#include "runtime/executable/executable.h"
#include "runtime/program/program.h"
#include "runtime/program/program_file.h"
#include "runtime/queue/submission_queue.h"

#include <algorithm>
#include <cstring>
#include <tenon/runtime.h>

struct tenon_status {
  tenon::Status status;
  std::string message; // NUL-terminated
};
struct tenon_driver {
  std::shared_ptr<const tenon::runtime::cuda::Driver> value;
};
struct tenon_device {
  std::shared_ptr<tenon::runtime::Device> value;
};
struct tenon_buffer {
  std::shared_ptr<tenon::runtime::Buffer> value;
};
struct tenon_file {
  std::shared_ptr<tenon::runtime::File> value;
};
struct tenon_pool {
  std::shared_ptr<tenon::runtime::Pool> value;
};
struct tenon_executable {
  std::shared_ptr<tenon::runtime::Executable> value;
};
struct tenon_semaphore {
  std::shared_ptr<tenon::runtime::Semaphore> value;
};
struct tenon_event {
  std::shared_ptr<tenon::runtime::Event> value;
};
struct tenon_queue {
  std::shared_ptr<tenon::runtime::SubmissionQueue> value;
};
struct tenon_command_buffer {
  std::shared_ptr<tenon::runtime::CommandBuffer> value;
};

struct tenon_results {
  std::vector<tenon::runtime::Value> values;
  std::vector<tenon::runtime::Value> inputs; // of the last call: its lists are used again
  std::vector<tenon_buffer> buffers;         // what tenon_results_at hands out
};

namespace tenon::runtime::c_api {

/// NULL for ok.
tenon_status_t *toC(Status status);
/// Behind a kernel's fault on the emulator, what it reports of it: kernel, thread, address, line. A program that links
/// the library has no other way to see it.
Status withReport(const Device &device, Status status);
/// Takes over; NULL is ok.
Status fromC(tenon_status_t *status);

/// The number of an enum that a caller gave, who may be written in C and pass any. As a value of the enum, C++ leaves
/// undefined what reading it gives, and a compiler may drop the comparison that should refuse it.
template <typename Enum>
  requires(std::is_enum_v<Enum> && sizeof(Enum) == sizeof(uint32_t))
uint32_t numberOf(const Enum &given) {
  uint32_t number = 0;
  std::memcpy(&number, &given, sizeof(number));
  return number;
}

/// The most elements that an array of a caller may have: points of a submission, bindings, constants, names. More is a
/// size that was never set, and reading so many would leave the caller's memory.
constexpr size_t kMostElements = 1 << 16;
/// OutOfRange: more than kMostElements; InvalidArgument: some, and no array.
Status checkArray(const void *array, size_t count, const char *name);

/// Likewise of a bool, whose byte may be any: all but 0 is true.
inline bool isSet(const bool &given) {
  unsigned char byte = 0;
  static_assert(sizeof(given) == sizeof(byte));
  std::memcpy(&byte, &given, sizeof(byte));
  return byte != 0;
}

inline Status nullArgument(const char *name) {
  return makeError(StatusCode::InvalidArgument, "argument '", name, "' is NULL");
}

/// The first member of a struct. Every sizeof is a multiple of 8, since a size_t is in it: another number would cut a
/// pointer in two.
inline Result<size_t> structSize(const void *given, size_t known, const char *name) {
  size_t size = 0;
  std::memcpy(&size, given, sizeof(size));
  if (size < sizeof(size) || size > 4096 || size % sizeof(size) != 0)
    return makeError(StatusCode::InvalidArgument, "'", name, "' has struct_size ", size, ", expected sizeof, ", known);
  return size;
}

/// A caller's struct of any age: what it lacks is zero; what it has more must be zero.
template <typename T> Result<T> readStruct(const T *given, const char *name) {
  if (!given)
    return nullArgument(name);
  TENON_ASSIGN_OR_RETURN(const size_t size, structSize(given, sizeof(T), name));
  const auto *bytes = reinterpret_cast<const unsigned char *>(given);
  for (size_t i = sizeof(T); i < size; ++i)
    if (bytes[i] != 0)
      return makeError(StatusCode::Unimplemented, "'", name, "' of ", size, " bytes sets a field that this library (",
                       sizeof(T), " bytes) does not know");
  T out;
  std::memset(static_cast<void *>(&out), 0, sizeof(T));
  std::memcpy(static_cast<void *>(&out), given, std::min(size, sizeof(T)));
  return out;
}

/// Writes what the caller's struct has room for, and zeros the rest of it; its struct_size stays.
template <typename T> Status writeStruct(T *target, const T &value, const char *name) {
  if (!target)
    return nullArgument(name);
  TENON_ASSIGN_OR_RETURN(const size_t size, structSize(target, sizeof(T), name));
  auto *bytes = reinterpret_cast<unsigned char *>(target);
  std::memset(bytes + sizeof(size), 0, size - sizeof(size));
  std::memcpy(bytes + sizeof(size), reinterpret_cast<const unsigned char *>(&value) + sizeof(size),
              std::min(size, sizeof(T)) - sizeof(size));
  return okStatus();
}

/// Puts a new handle, or the failure: then *out is NULL.
template <typename Handle, typename T> tenon_status_t *giveHandle(Result<T> result, Handle **out) {
  if (!result.ok())
    return toC(result.takeStatus());
  *out = new Handle{result.take()};
  return nullptr;
}

/// The environment's wishes, and the caller's over them; `given` may be null.
Result<ExecutableOptions> readImageOptions(const tenon_image_options_t *given);

Result<std::vector<SemaphorePoint>> readPoints(const tenon_semaphore_point_t *points, size_t count, const char *name);
/// `given` may be null: device memory for every use.
Result<BufferOptions> readOptions(const tenon_buffer_options_t *given);
/// Into a value whose memory is used again. `device`: whose memory an address is of; null: addresses are refused.
Status readValue(const tenon_value_t &given, Device *device, Value &out);
BufferRef readRef(const tenon_buffer_ref_t &ref);
/// Null for none.
Buffer::Release releaseOf(tenon_release_fn released, void *user);

struct ReadSubmission {
  tenon_submission_t given;
  std::vector<SemaphorePoint> waits, signals;
};
Result<ReadSubmission> readSubmission(const tenon_submission_t *submission);
/// InvalidArgument: it has commands or a table, which `what` ("a host call") does not take.
Result<ReadSubmission> readPointsOnly(const tenon_submission_t *submission, const char *what);

} // namespace tenon::runtime::c_api

/// In a function that returns a status: every argument must be there; an output is NULL until it is given.
#define TENON_C_REQUIRE(argument)                                                                                      \
  if (!(argument))                                                                                                     \
  return ::tenon::runtime::c_api::toC(::tenon::runtime::c_api::nullArgument(#argument))
#define TENON_C_OUTPUT(argument)                                                                                       \
  TENON_C_REQUIRE(argument);                                                                                           \
  *(argument) = {}
#define TENON_C_RETURN_IF_ERROR(expr)                                                                                  \
  do {                                                                                                                 \
    if (::tenon::Status tenonCStatus_ = (expr); !tenonCStatus_.ok())                                                   \
      return ::tenon::runtime::c_api::toC(std::move(tenonCStatus_));                                                   \
  } while (false)
#define TENON_C_ASSIGN_OR_RETURN(decl, expr)                                                                           \
  TENON_C_ASSIGN_OR_RETURN_IMPL_(TENON_CONCAT_(tenonCResult_, __LINE__), decl, expr)
#define TENON_C_ASSIGN_OR_RETURN_IMPL_(result, decl, expr)                                                             \
  auto result = (expr);                                                                                                \
  if (!result.ok())                                                                                                    \
    return ::tenon::runtime::c_api::toC(result.takeStatus());                                                          \
  decl = result.take()
