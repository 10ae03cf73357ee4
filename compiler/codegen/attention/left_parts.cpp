// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/left_parts.h"

using namespace mlir;

namespace tenon::compiler::codegen {

Value KeyParts::lineAt(KernelBuilder &k, Value tile, Value part, Value row) const {
  Value line = k.add(k.mul(k.add(k.mul(tile, k.number(count)), part), k.number(rows)), row);
  return k.at(memory, k.b.getF32Type(), k.mul(line, k.number(columns + kBehind)));
}

void KeyParts::store(KernelBuilder &k, Value tile, Value part, Value row, Value column, const PartialSum &sum) const {
  Value line = lineAt(k, tile, part, row);
  Value to = k.at(line, k.b.getF32Type(), column);
  if (sum.values.size() == 1)
    k.store(sum.values.front(), to, sizeof(float));
  else
    storeVector(k, sum.values, to);
  k.when(k.equal(column, k.number(0)), [&] {
    k.store(sum.largest, k.at(line, k.b.getF32Type(), k.number(columns)), 4);
    k.store(sum.weights, k.at(line, k.b.getF32Type(), k.number(columns + 1)), 4);
  });
}

} // namespace tenon::compiler::codegen
