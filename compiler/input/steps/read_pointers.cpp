// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pointer says which global is meant, and is made and used in one function: the importers that write it have one for
// each weight. Pointers that are passed on or chosen from have no place in a program here, and are refused.
#include "compiler/dialect/util/UtilOps.h"
#include "compiler/input/steps/steps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

/// The address that the pointer is; none where it is another value.
util::GlobalAddressOp addressOf(Value pointer) {
  return pointer.getDefiningOp<util::GlobalAddressOp>();
}

LogicalResult refusePointer(Operation *op) {
  return op->emitOpError() << "uses a pointer that is no util.global.address, which is not supported: write the "
                              "address in front of it";
}

LogicalResult checkTarget(Operation *op, Type found, Value pointer) {
  const Type wanted = cast<util::PtrType>(pointer.getType()).getTarget();
  if (found == wanted)
    return success();
  return op->emitOpError() << "found " << found << " for a pointer to " << wanted << ", the same type is wanted";
}

LogicalResult readLoad(util::GlobalLoadIndirectOp load) {
  util::GlobalAddressOp address = addressOf(load.getPointer());
  if (!address)
    return refusePointer(load);
  if (failed(checkTarget(load, load.getResult().getType(), load.getPointer())))
    return failure();
  OpBuilder builder(load);
  auto named = util::GlobalLoadOp::create(builder, load.getLoc(), load.getResult().getType(), address.getGlobalAttr(),
                                          load.getIsImmutableAttr());
  load.replaceAllUsesWith(named.getResult());
  load.erase();
  return success();
}

LogicalResult readStore(util::GlobalStoreIndirectOp store) {
  util::GlobalAddressOp address = addressOf(store.getPointer());
  if (!address)
    return refusePointer(store);
  if (failed(checkTarget(store, store.getValue().getType(), store.getPointer())))
    return failure();
  OpBuilder builder(store);
  util::GlobalStoreOp::create(builder, store.getLoc(), store.getValue(), address.getGlobalAttr());
  store.erase();
  return success();
}

} // namespace

LogicalResult readPointers(ModuleOp module) {
  bool ok = true;
  module.walk([&](Operation *op) {
    if (auto load = dyn_cast<util::GlobalLoadIndirectOp>(op))
      ok &= succeeded(readLoad(load));
    else if (auto store = dyn_cast<util::GlobalStoreIndirectOp>(op))
      ok &= succeeded(readStore(store));
  });
  if (!ok)
    return failure();
  module.walk([&](util::GlobalAddressOp address) {
    if (!address.getResult().use_empty()) {
      ok = false;
      address.emitOpError() << "is used by '" << (*address.getResult().user_begin())->getName()
                            << "', which is not supported: pointers to globals are only loaded from and stored to";
      return;
    }
    address.erase();
  });
  return success(ok);
}

} // namespace tenon::compiler::input
