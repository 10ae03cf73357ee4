// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/handlers/fence_ops.h"

#include "emulator/check/shadow_checker.h"

namespace tenon::emulator {
namespace {

void fence(Warp &warp, const Decoded &i, uint32_t mask) {
  ShadowChecker *checker = warp.executor->checker;
  if (!checker)
    return;
  if (i.flag)
    checker->proxyFence(warp, mask);
  else
    checker->fence(warp, i, mask);
}

void meet(Warp &warp, const Decoded &, uint32_t mask) {
  if (ShadowChecker *checker = warp.executor->checker)
    checker->meet(warp, mask);
}

} // namespace

Handler fenceHandler() {
  return &fence;
}
Handler meetHandler() {
  return &meet;
}

} // namespace tenon::emulator
