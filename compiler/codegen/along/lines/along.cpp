// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/lines/along.h"

#include "compiler/codegen/kernel/bodies/gathered.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {

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

Value AlongWriter::load(const KernelAlongInput &input, Value element) {
  if (input.scalar)
    return arguments.scalars.lookup(input.scalar);
  return load(static_cast<const KernelTensor &>(input), element);
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

Value AlongWriter::unsorted(unsigned operand, Value element, Value place) {
  const KernelAlong &along = kernel.along;
  auto places = along.op->getAttrOfType<DenseI64ArrayAttr>(dispatch::kPlacesAttr);
  if (!places || !llvm::is_contained(places.asArrayRef(), int64_t(operand)))
    return along.inputs.empty() ? start(along.outputs[operand], element) : load(along.inputs[operand], element);
  Type type = along.outputs[operand].tensor.element;
  const unsigned bits = type.getIntOrFloatBitWidth();
  return bits == 64 ? place : k.b.createOrFold<arith::TruncIOp>(k.loc, type, place);
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

} // namespace tenon::compiler::codegen
