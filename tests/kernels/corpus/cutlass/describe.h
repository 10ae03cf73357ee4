// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the host side of CUTLASS would hand to a launch, printed as a row of ../cutlass_params.inc: the bytes of Params,
// where pointers and tensor maps stand in them, and the launch. Pointers are drawn from pointer<T>(i); a tensor map is
// "encoded" by the function below, which leaves what it was asked for where the driver would leave the map.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

template <typename T> T *pointer(int i) {
  return reinterpret_cast<T *>(0x5a0000000000ull + (uint64_t(i) << 32));
}

struct MapRequest {
  char mark[8];
  uint8_t type, rank, interleave, swizzle, promotion, fill, pad[2];
  uint64_t address;
  uint32_t extents[5], box[5], steps[5], strides[4]; // elements, elements, elements, bytes
};
static_assert(sizeof(MapRequest) <= sizeof(CUtensorMap));

extern "C" CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                           const cuuint64_t *extents, const cuuint64_t *strides, const cuuint32_t *box,
                                           const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                           CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                           CUtensorMapFloatOOBfill fill) {
  MapRequest r{{'t', 'e', 'n', 's', 'o', 'r', 'm', 'p'},
               uint8_t(type),
               uint8_t(rank),
               uint8_t(interleave),
               uint8_t(swizzle),
               uint8_t(promotion),
               uint8_t(fill),
               {},
               uint64_t(address),
               {},
               {},
               {},
               {}};
  for (unsigned i = 0; i < rank; ++i) {
    r.extents[i] = uint32_t(extents[i]), r.box[i] = box[i], r.steps[i] = steps[i];
    if (i + 1 < rank)
      r.strides[i] = uint32_t(strides[i]);
  }
  std::memset(map, 0, sizeof *map);
  std::memcpy(map, &r, sizeof r);
  return CUDA_SUCCESS;
}

template <typename Params>
int describe(const char *name, const Params &params, dim3 grid, unsigned threads, size_t shared,
             dim3 cluster = {1, 1, 1}) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(&params);
  std::printf("{\"%s\", %zu, {%u, %u, %u}, {%u, %u, %u}, %u, %zu,\n \"", name, alignof(Params), grid.x, grid.y, grid.z,
              cluster.x, cluster.y, cluster.z, threads, shared);
  for (size_t i = 0; i < sizeof params; ++i)
    std::printf("%02x", bytes[i]);
  std::printf("\"},\n");
  return 0;
}
