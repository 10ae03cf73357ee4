// Chooses the handlers that this processor can run.
#include "emulator/handlers.h"

namespace tenon::emulator {

const HandlerTable &handlers() {
  static const HandlerTable &chosen = []() -> const HandlerTable & {
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
              __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt");
    return v3 ? handlersV3() : handlersV2();
  }();
  return chosen;
}

} // namespace tenon::emulator
