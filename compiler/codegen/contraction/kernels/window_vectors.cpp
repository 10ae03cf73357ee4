// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/window_vectors.h"

using namespace mlir;

namespace tenon::compiler::codegen {

bool WindowVectors::areThere(const GroupShape &shape, const Product &product, const Operand &operand, uint32_t depth) {
  constexpr int64_t kMostPlaces = 32; // bits
  if (!operand.border || operand.border->expert || !operand.isAlongReduced || !product.places.empty())
    return false;
  const ArrayRef<unsigned> reduced = product.reduced;
  const SpaceAxis &channels = shape.axes[reduced.back()];
  const std::optional<int64_t> places = shape.sizeOf(reduced.drop_back());
  if (operand.vectorAxis != reduced.back() || channels.axes.size() != 1 || !channels.size ||
      *channels.size % depth != 0 || !places || *places > kMostPlaces)
    return false;
  // Channels are all inside.
  for (auto [loop, axis] : llvm::enumerate(shape.group.axisOf.lookup(product.op->op)))
    for (auto [expr, mayLeave] : llvm::zip_equal(operand.border->tensor.map.getResults(), operand.border->mayLeave))
      if (axis == channels.axes.front() && mayLeave && expr.isFunctionOfDim(unsigned(loop)))
        return false;
  return true;
}

void WindowVectors::add(Value across, Value reduced) {
  const int64_t places = *kernel_.shape.sizeOf(ArrayRef(kernel_.product.reduced).drop_back());
  Vector vector{{}, k_.word(k_.number(0))};
  for (int64_t place = 0; place < places; ++place) {
    const TileSpace::Source there = source(across, k_.add(reduced, k_.number(place * channels())));
    if (place == 0)
      vector.first = there.address;
    Value bit = k_.select(there.exists, k_.word(k_.number(int64_t(1) << place)), k_.word(k_.number(0)));
    vector.inside = arith::OrIOp::create(k_.b, k_.loc, vector.inside, bit);
  }
  vectors_.push_back(vector);
}

SmallVector<TileSpace::Source> WindowVectors::at(Value step) {
  // Of any row: what it adds is in both addresses.
  auto addressOf = [&](Value reduced) {
    return LLVM::PtrToIntOp::create(k_.b, k_.loc, k_.b.getI64Type(), source(first_, reduced).address).getResult();
  };
  Value reduced = k_.mul(step, k_.number(kernel_.depth)), place = k_.word(k_.div(reduced, k_.number(channels())));
  Value distance = k_.sub(addressOf(reduced), addressOf(k_.number(0)));
  SmallVector<TileSpace::Source> found;
  for (const Vector &vector : vectors_) {
    Value bit = arith::ShRUIOp::create(k_.b, k_.loc, vector.inside, place);
    found.push_back({k_.at(vector.first, k_.b.getI8Type(), distance),
                     arith::TruncIOp::create(k_.b, k_.loc, k_.b.getI1Type(), bit)});
  }
  return found;
}

} // namespace tenon::compiler::codegen
