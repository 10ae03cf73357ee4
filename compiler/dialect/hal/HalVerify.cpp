#include "compiler/dialect/hal/HalOps.h"
using namespace mlir;
namespace tenon::compiler::hal {
LogicalResult ExecutableSourceOp::verify() {
  return success();
}
LogicalResult ExecutableOp::verify() {
  return success();
}
LogicalResult ExecutableVariantOp::verify() {
  return success();
}
LogicalResult ExecutableExportOp::verify() {
  return success();
}
LogicalResult ExecutableExportOp::verifyRegions() {
  return success();
}
LogicalResult ExecutableConditionOp::verifyRegions() {
  return success();
}
LogicalResult ExecutableConstantBlockOp::verify() {
  return success();
}
LogicalResult DispatchExternOp::verify() {
  return success();
}
LogicalResult DispatchExternOp::verifyRegions() {
  return success();
}
} // namespace tenon::compiler::hal
