// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/along.h"

#include "compiler/codegen/along/scan.h"
#include "compiler/codegen/kernel/gathered.h"
#include "compiler/dispatch/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {

static ArrayRef<const AlongStrategy *> alongStrategies() {
  static const Scan scan;
  static const AlongStrategy *const all[] = {&scan};
  return all;
}

const AlongStrategy &alongStrategyOf(const KernelFunction &kernel) {
  for (const AlongStrategy *strategy : alongStrategies())
    if (strategy->takes(kernel.along.op))
      return *strategy;
  llvm_unreachable("every operation along a dimension has a strategy");
}

int64_t AlongWriter::choice(StringRef name) const {
  return kernel.strategy.getAs<IntegerAttr>(name).getInt();
}

int64_t AlongWriter::choiceOrZero(StringRef name) const {
  auto given = kernel.strategy.getAs<IntegerAttr>(name);
  return given ? given.getInt() : 0;
}

Value AlongWriter::load(const KernelTensor &tensor, Value element) {
  return loadElement(k, arguments, tensor, element);
}

void AlongWriter::store(const KernelTensor &tensor, Value element, Value value) {
  Type type = memoryType(tensor.element);
  if (type != tensor.element)
    value = arith::ExtUIOp::create(k.b, k.loc, type, value);
  k.store(value, k.at(arguments.pointers[tensor.binding], type, element), dispatch::elementBytes(tensor.element));
}

Value AlongWriter::start(const KernelAlongOutput &output, Value element) {
  if (output.startTensor)
    return load(*output.startTensor, element);
  if (output.startScalar)
    return arguments.scalars.lookup(output.startScalar);
  return arith::ConstantOp::create(k.b, k.loc, k.b.getZeroAttr(output.tensor.element)); // of tensor.empty: anything
}

SmallVector<Value> AlongWriter::region(ValueRange values) {
  Block &body = kernel.along.op->getRegion(0).front();
  IRMapping mapping = arguments.scalars;
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), values))
    mapping.map(argument, value);
  for (Operation &inner : body.without_terminator())
    copyScalarOp(k.b, inner, mapping);
  SmallVector<Value> results;
  for (Value yielded : body.getTerminator()->getOperands())
    results.push_back(mapping.lookup(yielded));
  return results;
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
