// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/handlers/cluster_ops.h"

#include "emulator/check/shadow_checker.h"
#include "emulator/machine/cluster.h"
#include "emulator/machine/fault.h"
#include "emulator/machine/lanes.h"

#include <cuda.h>

namespace tenon::emulator {
namespace {

using TENON_LEVEL::at;

/// The rank's bits lie at the same place in shared and in generic addresses: the window is aligned to its size.
template <typename T> void map(Warp &warp, const Decoded &i, uint32_t mask) {
  const T *a = at<T>(warp, i.a);
  const uint32_t *rank = at<uint32_t>(warp, i.b);
  T result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) // a rank that does not exist is reported where the address is used
    result[l] = (a[l] & ~static_cast<T>(0xff000000u)) | static_cast<T>(rank[l] > 0xff ? 0xff : rank[l])
                                                            << kClusterRankShift;
  TENON_LEVEL::write(at<T>(warp, i.d), result, mask);
}

template <typename T> void rankOf(Warp &warp, const Decoded &i, uint32_t mask) {
  const T *a = at<T>(warp, i.a);
  uint32_t result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l)
    result[l] = static_cast<uint32_t>(a[l]) >> kClusterRankShift;
  TENON_LEVEL::write(at<uint32_t>(warp, i.d), result, mask);
}

void arrive(Warp &warp, const Decoded &i, uint32_t mask) {
  if (uint32_t twice = warp.clusterArrived & mask) {
    raiseFault(warp, i, static_cast<uint32_t>(__builtin_ctz(twice)), CUDA_ERROR_ILLEGAL_INSTRUCTION,
               "barrier.cluster.arrive a second time, with no barrier.cluster.wait between");
    return;
  }
  warp.clusterArrived |= mask;
  warp.clusterPending |= mask;
  if (ShadowChecker *checker = warp.executor->checker)
    checker->arriveAtCluster(warp, mask);
}

} // namespace

Handler mapHandler(uint32_t bytes) {
  return bytes == 4 ? &map<uint32_t> : bytes == 8 ? &map<uint64_t> : nullptr;
}
Handler rankHandler(uint32_t bytes) {
  return bytes == 4 ? &rankOf<uint32_t> : bytes == 8 ? &rankOf<uint64_t> : nullptr;
}
Handler clusterArriveHandler() {
  return &arrive;
}

} // namespace tenon::emulator
