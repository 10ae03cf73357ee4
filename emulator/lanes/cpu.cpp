// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the handlers that this processor can run.
#include "emulator/machine/handlers.h"

namespace tenon::emulator {
namespace {

bool runs(Level level) {
  __builtin_cpu_init();
  return level == Level::V2 ||
         (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
          __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt"));
}

Level &chosen() {
  static Level level = runs(Level::V3) ? Level::V3 : Level::V2;
  return level;
}

} // namespace

bool chooseLevel(Level level) {
  if (!runs(level))
    return false;
  chosen() = level;
  return true;
}

const HandlerTable &handlers() {
  return chosen() == Level::V3 ? handlersV3() : handlersV2();
}

} // namespace tenon::emulator
