// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor maps: encoded by the host, read by cp.async.bulk.tensor (emulator/async/tensor_map.h). What a driver refuses
// is refused with CUDA_ERROR_INVALID_VALUE and, as that says little, one line on stderr.
#include "emulator/async/tensor_map.h"
#include "emulator/driver/call.h"

#include <cstdio>
#include <cstring>

using namespace tenon;
using namespace tenon::emulator;

namespace {

CUresult refuse(const char *function, const std::string &why) {
  fprintf(stderr, "tenon emulator: %s: %s\n", function, why.c_str());
  return CUDA_ERROR_INVALID_VALUE;
}

/// Null: the map cannot be there.
TensorMap *mapAt(CUtensorMap *map) {
  return reinterpret_cast<uint64_t>(map) % kTensorMapAlignment ? nullptr : reinterpret_cast<TensorMap *>(map);
}

} // namespace

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *box,
                                const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  TENON_ENTER_CONTEXT(); // an H200's driver wants one, though a map is only bytes
  if (!map || !mapAt(map))
    return refuse(__func__, "the tensor map has to lie at a multiple of 64");
  static_assert(sizeof(cuuint64_t) == sizeof(uint64_t) && sizeof(CUtensorMap) == kTensorMapBytes);
  TensorRequest request{static_cast<uint32_t>(type),
                        rank,
                        reinterpret_cast<uint64_t>(address),
                        reinterpret_cast<const uint64_t *>(sizes),
                        reinterpret_cast<const uint64_t *>(strides),
                        box,
                        steps,
                        static_cast<uint32_t>(interleave),
                        static_cast<uint32_t>(swizzle),
                        static_cast<uint32_t>(promotion),
                        static_cast<uint32_t>(fill)};
  if (interleave == CU_TENSOR_MAP_INTERLEAVE_16B || interleave == CU_TENSOR_MAP_INTERLEAVE_32B) {
    refuse(__func__, "the emulator does not support interleaved layouts");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (std::string wrong = checkTensorRequest(request); !wrong.empty())
    return refuse(__func__, wrong);
  TensorMap encoded = encodeTensorMap(request);
  memcpy(map, &encoded, sizeof encoded);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address) {
  TENON_ENTER();
  TensorMap *encoded = map ? mapAt(map) : nullptr;
  if (!encoded || encoded->mark != TensorMap::kMark)
    return refuse(__func__, "no tensor map that cuTensorMapEncodeTiled made");
  if (!address || reinterpret_cast<uint64_t>(address) % 16)
    return refuse(__func__, "globalAddress has to be a multiple of 16");
  encoded->address = reinterpret_cast<uint64_t>(address);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                                 const cuuint64_t *, const int *, const int *, cuuint32_t, cuuint32_t,
                                 const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                 CUtensorMapFloatOOBfill) {
  TENON_ENTER();
  refuse(__func__, "the emulator does not support im2col");
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                                     const cuuint64_t *, int, int, cuuint32_t, cuuint32_t, const cuuint32_t *,
                                     CUtensorMapInterleave, CUtensorMapIm2ColWideMode, CUtensorMapSwizzle,
                                     CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  TENON_ENTER();
  refuse(__func__, "the emulator does not support im2col");
  return CUDA_ERROR_NOT_SUPPORTED;
}
