#include "compiler/dialect/flow/FlowOps.h"
using namespace mlir;
namespace tenon::compiler::flow {
LogicalResult DispatchOp::verify() {
  return success();
}
LogicalResult DispatchOp::verifySymbolUses(SymbolTableCollection &) {
  return success();
}
} // namespace tenon::compiler::flow
