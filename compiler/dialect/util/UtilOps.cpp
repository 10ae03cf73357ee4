// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// util.unfoldable_constant has no folder and util.optimization_barrier no declared effects: that is all it takes. The
// text of functions and globals is in UtilFunctions.cpp.
#include "compiler/dialect/util/UtilOps.h"

#include "compiler/dialect/shared/inliner.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "compiler/dialect/util/UtilDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/util/UtilAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/util/UtilTypes.cpp.inc"
#define GET_OP_CLASSES
#include "compiler/dialect/util/UtilOps.cpp.inc"

namespace tenon::compiler::util {

void UtilDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/dialect/util/UtilAttrs.cpp.inc"
      >();
}

void UtilDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/dialect/util/UtilTypes.cpp.inc"
      >();
}

void UtilDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/util/UtilOps.cpp.inc"
      >();
  addInterfaces<AlwaysInline>();
}

LogicalResult OptimizationBarrierOp::verify() {
  if (getOperands().empty())
    return emitOpError("found no operand, at least one is wanted");
  return success();
}

} // namespace tenon::compiler::util
