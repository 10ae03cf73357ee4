// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/patches/computed_tensor.h"

#include "compiler/dispatch/analysis/convolutions/convolution.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

Value insideOfBorder(Value image) {
  linalg::GenericOp border = borderAround(image);
  return border ? (*border.getBody()->getOps<tensor::ExtractOp>().begin()).getTensor() : image;
}

Value readImage(OpBuilder &b, Value image, ArrayRef<Value> place, ReadElement read) {
  linalg::GenericOp border = borderAround(image);
  if (!border)
    return read(b, place);
  IRMapping values;
  for (Operation &op : border.getBody()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      values.map(index.getResult(), place[index.getDim()]);
    } else if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      const SmallVector<Value> indices =
          llvm::map_to_vector(extract.getIndices(), [&](Value each) { return values.lookupOrDefault(each); });
      values.map(extract.getResult(), read(b, indices));
    } else {
      b.clone(op, values);
    }
  }
  return values.lookupOrDefault(border.getBody()->getTerminator()->getOperand(0));
}

} // namespace tenon::compiler::dispatch
