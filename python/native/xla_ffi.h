// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// XLA's foreign functions, as C structs: how compiled JAX code calls what is not XLA's. They are its binary interface
// of version 0 (xla/ffi/api/c_api.h of the XLA project), declared here so that nothing is needed to build. A struct
// begins with its size, and only grows at its end.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::python::xla {

enum ErrorCode : int32_t {
  kInvalidArgument = 3,
  kNotFound = 5,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
};
enum DataType : int32_t {
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kBf16 = 16,
};
inline constexpr int32_t kBuffer = 1;                   // of arguments and results
inline constexpr int32_t kArray = 1, kString = 4;       // of attributes
inline constexpr int32_t kMetadata = 1;                 // of extensions
inline constexpr int32_t kExecute = 3;                  // of stages
inline constexpr uint32_t kCommandBufferCompatible = 1; // a trait: the same work at every call

struct Error; // XLA's
struct Context;

struct Extension {
  size_t size;
  int32_t type;
  Extension *next;
};
struct Version {
  size_t size;
  Extension *extensions;
  int32_t major, minor;
};
struct Metadata {
  size_t size;
  Version version;
  uint32_t traits;
};
struct MetadataExtension {
  Extension base;
  Metadata *metadata;
};

struct Buffer {
  size_t size;
  Extension *extensions;
  DataType type;
  void *data;
  int64_t rank;
  int64_t *shape; // [rank]
};
struct Text {
  const char *data;
  size_t length;
};
struct Array {
  DataType type;
  size_t count;
  void *data;
};
/// Arguments and results: `values` are Buffer *.
struct Values {
  size_t size;
  Extension *extensions;
  int64_t count;
  int32_t *kinds;
  void **values;
};
struct Attributes {
  size_t size;
  Extension *extensions;
  int64_t count;
  int32_t *kinds;
  Text **names;
  void **values; // Text * of kString, Array * of kArray
};

struct CreateError {
  size_t size;
  Extension *extensions;
  const char *message;
  ErrorCode code;
};
struct GetStream {
  size_t size;
  Extension *extensions;
  Context *context;
  void *stream; // a CUstream
};
/// XLA's functions, as far as they are used.
struct Api {
  size_t size;
  Extension *extensions;
  Version version;
  const void *internal;
  Error *(*createError)(CreateError *);
  void (*unused[3])();
  Error *(*getStream)(GetStream *);
};

struct CallFrame {
  size_t size;
  Extension *extensions;
  const Api *api;
  Context *context;
  int32_t stage;
  Values arguments, results;
  Attributes attributes;
};

} // namespace tenon::python::xla
