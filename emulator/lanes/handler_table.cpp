// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The handlers of one instruction set, as a table.
#include "emulator/lanes/memory_ops.h"
#include "emulator/matrix/matrix_ops.h"

namespace tenon::emulator {
namespace TENON_LEVEL {
Handler integerHandler(IntOp op, ptx::ScalarType type);
Handler compareIntegerHandler(Comparison comparison, ptx::ScalarType type);
Handler setIntegerHandler(Comparison comparison, ptx::ScalarType type);
Handler floatHandler(const FloatForm &form);
Handler compareFloatHandler(Comparison comparison, ptx::ScalarType type, bool ftz);
Handler setFloatHandler(Comparison comparison, ptx::ScalarType type, bool ftz);
Handler testpHandler(TestProperty property, ptx::ScalarType type);
Handler halfHandler(const FloatForm &form);
Handler halfCompareHandler(Comparison comparison, ptx::ScalarType type, bool ftz);
Handler halfSetHandler(Comparison comparison, ptx::ScalarType type, bool ftz, ptx::ScalarType result);
Handler convertHandler(const ConvertForm &form);
Handler shuffleHandler(ShuffleMode mode, bool isFixed);
Handler packHandler(bool packs, uint32_t bytes, uint32_t count);

namespace {
Handler compare(Comparison comparison, ptx::ScalarType type, bool ftz) {
  if (isSingleOrDouble(type))
    return compareFloatHandler(comparison, type, ftz);
  return ftz ? nullptr : compareIntegerHandler(comparison, type);
}
Handler set(Comparison comparison, ptx::ScalarType type, bool ftz, ptx::ScalarType result) {
  if (ptx::byteSize(result) != 4)
    return nullptr;
  if (isSingleOrDouble(type))
    return setFloatHandler(comparison, type, ftz);
  return ftz ? nullptr : setIntegerHandler(comparison, type);
}
constexpr HandlerTable kTable = {&integerHandler,
                                 &compare,
                                 &set,
                                 &floatHandler,
                                 &halfHandler,
                                 &halfCompareHandler,
                                 &halfSetHandler,
                                 &convertHandler,
                                 &testpHandler,
                                 &loadHandler,
                                 &storeHandler,
                                 &shuffleHandler,
                                 &packHandler,
                                 &loadMatrixHandler,
                                 &multiplyMatrixHandler,
                                 &loadFragmentHandler,
                                 &storeFragmentHandler,
                                 &multiplyFragmentsHandler};
} // namespace
} // namespace TENON_LEVEL

#define TENON_PASTE_(a, b) a##b
#define TENON_PASTE(a, b) TENON_PASTE_(a, b)
#define TENON_TABLE_v2 handlersV2
#define TENON_TABLE_v3 handlersV3
const HandlerTable &TENON_PASTE(TENON_TABLE_, TENON_LEVEL)() {
  return TENON_LEVEL::kTable;
}

} // namespace tenon::emulator
