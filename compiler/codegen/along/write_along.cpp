// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/write_along.h"

#include "compiler/codegen/along/route.h"
#include "compiler/codegen/along/scan.h"
#include "compiler/codegen/along/scatter.h"
#include "compiler/codegen/along/sorting/sort.h"
#include "compiler/codegen/along/sorting/topk.h"
#include "compiler/codegen/along/tile_transform.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {

static ArrayRef<const AlongStrategy *> alongStrategies() {
  static const Route route;
  static const Scan scan;
  static const Scatter scatter;
  static const Sort sort;
  static const TileTransform tiles;
  static const Topk topk;
  static const AlongStrategy *const all[] = {&route, &scan, &scatter, &sort, &tiles, &topk};
  return all;
}

const AlongStrategy &alongStrategyOf(const KernelFunction &kernel) {
  for (const AlongStrategy *strategy : alongStrategies())
    if (strategy->takes(kernel.along.op))
      return *strategy;
  llvm_unreachable("every operation along a dimension has a strategy");
}

LogicalResult writeAlong(const KernelFunction &kernel, const abi::ParameterLayout &parameters,
                         LLVM::LLVMFuncOp function) {
  const AlongStrategy &strategy = alongStrategyOf(kernel);
  func::FuncOp source = kernel.function;
  auto name = kernel.strategy.getAs<StringAttr>("name");
  if (!name || name != strategy.name())
    return source.emitError() << "'" << dispatch::kStrategyAttr << "' must name '" << strategy.name()
                              << "', which computes '" << kernel.along.op->getName() << "'";
  OpBuilder b(function.getContext());
  b.setInsertionPointToStart(function.addEntryBlock(b));
  KernelBuilder k(b, kernel.loc(), function, kernel.threads);
  KernelArguments arguments = mapArguments(kernel, parameters, function, b);
  AlongWriter writer{kernel, k, arguments};
  strategy.write(writer);
  LLVM::ReturnOp::create(b, k.loc, ValueRange());
  return success();
}

} // namespace tenon::compiler::codegen
