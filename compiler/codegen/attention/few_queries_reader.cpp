// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/few_queries_reader.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

using Shape = FewQueriesShape;
constexpr uint32_t kHalf = Shape::kHalf, kVector = Shape::kVector, kDepthStep = Shape::kDepthStep,
                   kColumnStep = Shape::kColumnStep;

} // namespace

Value FewQueriesReader::rowOf(uint32_t half) {
  return k_.add(tile_.firstRow, k_.add(group_, k_.number(int64_t(kHalf) * half)));
}

/// Pairs of elements in registers of four bytes.
FewQueriesReader::Values FewQueriesReader::words(ArrayRef<Value> elements) {
  Values words;
  for (size_t i = 0; i < elements.size(); i += 2) {
    Value pair = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(2, elements.front().getType()));
    for (size_t j = 0; j < 2; ++j)
      pair = LLVM::InsertElementOp::create(k_.b, k_.loc, pair, elements[i + j], k_.number(j));
    words.push_back(LLVM::BitcastOp::create(k_.b, k_.loc, k_.b.getI32Type(), pair));
  }
  return words;
}

/// Eight elements along the operand's vector axis.
FewQueriesReader::Values FewQueriesReader::vector(const ProductKernel &kernel, const Operand &operand, Value across,
                                                  Value reduced, bool isFast, bool mayEnd) {
  TileSpace space(kernel, tile_.inBatch, tile_.firstRow, k_.number(0));
  if (isFast)
    return words(space.read(operand, across, reduced, kVector, mayEnd));
  Values elements;
  for (uint32_t i = 0; i < kVector; ++i)
    llvm::append_range(elements,
                       space.read(operand, operand.isAlongReduced ? across : k_.add(across, k_.number(i)),
                                  operand.isAlongReduced ? k_.add(reduced, k_.number(i)) : reduced, 1, mayEnd));
  return words(elements);
}

FewQueriesReader::Values FewQueriesReader::queries(bool isFast) {
  Values all;
  for (uint32_t step = 0; step < shape_.depthSteps(); ++step)
    for (uint32_t half = 0; half < shape_.halves(); ++half)
      llvm::append_range(all, vector(scores_, scores_.product.left, rowOf(half),
                                     k_.add(k_.mul(lane_, k_.number(kVector)), k_.number(step * kDepthStep)), isFast,
                                     /*mayEnd=*/false));
  return all;
}

SmallVector<FewQueriesReader::Place> FewQueriesReader::placesOf(Value key, bool mayEnd) {
  SmallVector<Place> places;
  for (uint32_t tile = 0; tile < 2; ++tile)
    for (uint32_t step = 0; step < shape_.depthSteps(); ++step)
      places.push_back({&scores_, k_.add(key, k_.add(group_, k_.number(int64_t(kHalf) * tile))),
                        k_.add(k_.mul(lane_, k_.number(kVector)), k_.number(step * kDepthStep)), false});
  for (uint32_t inLane : {0, 1, 8, 9})
    for (uint32_t step = 0; step < shape_.columnSteps(); ++step)
      places.push_back({&output_, k_.add(k_.mul(group_, k_.number(kVector)), k_.number(step * kColumnStep)),
                        k_.add(key, k_.add(k_.mul(lane_, k_.number(2)), k_.number(inLane))), mayEnd});
  return places;
}

/// What a body looks up by itself is on its way only when the body is computed: then that is done ahead.
bool FewQueriesReader::isRaw(const ProductKernel &kernel, bool isFast) const {
  auto looksUp = [](const KernelOp &op) {
    return !linalg::GenericOp(op.op).getBody()->getOps<tensor::ExtractOp>().empty();
  };
  return isFast && RunInputs::fit(kernel.shape, kernel.product.right, kVector) &&
         llvm::none_of(kernel.kernel.ops, looksUp);
}

FewQueriesReader::Values FewQueriesReader::load(Value key, bool isFast, bool mayEnd) {
  Values all;
  for (const Place &place : placesOf(key, mayEnd)) {
    const Operand &right = place.kernel->product.right;
    if (!isRaw(*place.kernel, isFast)) {
      llvm::append_range(all, vector(*place.kernel, right, place.across, place.reduced, isFast, place.mayEnd));
      continue;
    }
    TileSpace space(*place.kernel, tile_.inBatch, tile_.firstRow, k_.number(0));
    llvm::append_range(all, RunInputs(*place.kernel, right, kVector)
                                .load(space.at(right, place.across, place.reduced, kVector, place.mayEnd)));
  }
  return all;
}

FewQueriesReader::Values FewQueriesReader::wordsOf(ValueRange loaded, Value key, bool isFast, bool mayEnd) {
  Values all;
  for (const Place &place : placesOf(key, mayEnd)) {
    const Operand &right = place.kernel->product.right;
    const bool isRaw = this->isRaw(*place.kernel, isFast);
    RunInputs inputs(*place.kernel, right, kVector);
    const size_t count = isRaw ? inputs.count() : kVector / 2;
    if (isRaw) {
      Bodies::Scope scope(place.kernel->bodies);
      TileSpace space(*place.kernel, tile_.inBatch, tile_.firstRow, k_.number(0));
      inputs.stage(loaded.take_front(count));
      llvm::append_range(all, words(space.finish(space.at(right, place.across, place.reduced, kVector, place.mayEnd))));
      place.kernel->bodies.unstage();
    } else {
      llvm::append_range(all, loaded.take_front(count));
    }
    loaded = loaded.drop_front(count);
  }
  return all;
}

Value FewQueriesReader::pairOf(Value first, Value second, bool isHigh) {
  auto constant = [&](int64_t value) {
    return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(int32_t(value))).getResult();
  };
  if (isHigh)
    return arith::OrIOp::create(k_.b, k_.loc, arith::ShRUIOp::create(k_.b, k_.loc, first, constant(16)),
                                arith::AndIOp::create(k_.b, k_.loc, second, constant(0xffff0000)));
  return arith::OrIOp::create(k_.b, k_.loc, arith::AndIOp::create(k_.b, k_.loc, first, constant(0xffff)),
                              arith::ShLIOp::create(k_.b, k_.loc, second, constant(16)));
}

} // namespace tenon::compiler::codegen
