// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host's part of a launch is evaluated by the runtime from a list of register operations, without a JIT compiler.
// An operation without a register operation is rejected here, at its location, rather than deep inside the lowering.
#include "compiler/dialect/hal/host_region.h"

#include "compiler/dialect/hal/HalOps.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace tenon::compiler {

bool isHostEvaluable(Operation *op) {
  bool known =
      llvm::StringSwitch<bool>(op->getName().getStringRef())
          .Cases({"arith.constant", "arith.select", "arith.cmpi"}, true)
          .Cases({"arith.addi", "arith.subi", "arith.muli", "arith.andi", "arith.ori", "arith.xori"}, true)
          .Cases({"arith.divsi", "arith.divui", "arith.ceildivsi", "arith.ceildivui", "arith.floordivsi", "arith.remsi",
                  "arith.remui"},
                 true)
          .Cases({"arith.shli", "arith.shrsi", "arith.shrui"}, true) // by constants
          .Cases({"arith.minsi", "arith.minui", "arith.maxsi", "arith.maxui"}, true)
          .Cases({"arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci"}, true)
          .Cases({"affine.apply", "affine.min", "affine.max"}, true)
          .Default(false);
  return known && llvm::all_of(op->getResultTypes(), [](Type type) {
           return type.isIndex() || (type.isSignlessInteger() && type.getIntOrFloatBitWidth() <= 64);
         });
}

static LogicalResult verifyArguments(Operation *op, Region &region, StringRef what, bool workload) {
  TypeRange types = region.getArgumentTypes();
  if (types.empty() || !isa<hal::DeviceType>(types.front()))
    return op->emitOpError() << "has a " << what << " region that takes (" << types
                             << "), a !hal.device is wanted first";
  for (Type type : types.drop_front())
    if (!workload || !type.isIndex())
      return op->emitOpError() << "has a " << what << " region that takes " << type << ", "
                               << (workload ? "index values are wanted" : "nothing is wanted") << " after the device";
  return success();
}

LogicalResult verifyHostRegion(Operation *op, Region &region, StringRef what, bool workload, TypeRange results) {
  if (region.empty())
    return success();
  if (!region.hasOneBlock())
    return op->emitOpError() << "has a " << what << " region of " << region.getBlocks().size()
                             << " blocks, one is wanted: write a choice as arith.select";
  if (failed(verifyArguments(op, region, what, workload)))
    return failure();
  Block &block = region.front();
  bool ok = true;
  for (Operation &inner : block.without_terminator()) {
    if (isHostEvaluable(&inner) || isa<hal::DeviceQueryOp>(inner))
      continue;
    ok = false;
    InFlightDiagnostic diagnostic = inner.emitOpError()
                                    << "is found in a " << what
                                    << " region, integer arithmetic of 'arith' and 'affine' is wanted: the host "
                                       "evaluates it before the launch";
    diagnostic.attachNote(op->getLoc()) << "the " << what << " region is declared here";
  }
  auto last = dyn_cast<hal::ReturnOp>(block.getTerminator());
  if (!last || last.getOperands().getTypes() != results) {
    InFlightDiagnostic diagnostic = block.getTerminator()->emitOpError()
                                    << "returns (" << block.getTerminator()->getOperandTypes() << ") from a " << what
                                    << " region, hal.return of (" << results << ") is wanted";
    diagnostic.attachNote(op->getLoc()) << "the " << what << " region is declared here";
    return failure();
  }
  return success(ok);
}

} // namespace tenon::compiler
