// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/few_queries/few_queries_reader.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

using Shape = FewQueriesShape;
constexpr uint32_t kEight = Shape::kEight, kVector = Shape::kVector, kDepthStep = Shape::kDepthStep,
                   kColumnStep = Shape::kColumnStep;
constexpr uint32_t kBytes = 16, kWide = 16; // of a load; elements of a byte

} // namespace

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

/// Elements along the operand's vector axis.
FewQueriesReader::Values FewQueriesReader::vector(const ProductKernel &kernel, const Operand &operand, Value across,
                                                  Value reduced, bool isFast, bool mayEnd, uint32_t width) {
  TileSpace space(kernel, tile_.inBatch, tile_.firstRow, k_.number(0));
  if (isFast)
    return words(space.read(operand, across, reduced, width, mayEnd));
  Values elements;
  for (uint32_t i = 0; i < width; ++i)
    llvm::append_range(elements,
                       space.read(operand, operand.isAlongReduced ? across : k_.add(across, k_.number(i)),
                                  operand.isAlongReduced ? k_.add(reduced, k_.number(i)) : reduced, 1, mayEnd));
  return words(elements);
}

uint32_t FewQueriesReader::stepsOf(const ProductKernel &kernel) const {
  return &kernel == &scores_ ? shape_.depthSteps() : shape_.columnSteps();
}

/// As wide as a load is: rows of memory are then read by fewer requests.
uint32_t FewQueriesReader::width(const ProductKernel &kernel) const {
  const Operand &right = kernel.product.right;
  const uint32_t elements = &kernel == &scores_ ? shape_.depth : shape_.columns, steps = stepsOf(kernel);
  const bool areWhole = elements % (kWide * (&kernel == &scores_ ? kDepthStep : kColumnStep) / kVector) == 0;
  if (!areWhole || steps % 2 != 0 || !isRaw(kernel, /*isFast=*/true) || !RunInputs::fit(kernel.shape, right, kWide))
    return kVector;
  const RunInputs inputs(kernel, right, kWide);
  const bool fits = llvm::all_of(llvm::seq(inputs.count()), [&](size_t i) { return inputs.bytes(i) <= kBytes; });
  return fits ? kWide : kVector;
}

Value FewQueriesReader::offset(const ProductKernel &kernel, uint32_t step) {
  const bool isDepth = &kernel == &scores_;
  const uint32_t width = this->width(kernel), steps = width / kVector, stride = isDepth ? kDepthStep : kColumnStep;
  return k_.add(k_.mul(isDepth ? lane_ : group_, k_.number(width)),
                k_.number(int64_t(step / steps) * steps * stride + step % steps * kVector));
}

FewQueriesReader::Values FewQueriesReader::queries(bool isFast) {
  Values all;
  for (uint32_t step = 0; step < shape_.depthSteps(); ++step)
    for (uint32_t eight = 0; eight < shape_.eights(); ++eight)
      llvm::append_range(all, vector(scores_, scores_.product.left,
                                     k_.add(tile_.firstRow, k_.add(group_, k_.number(int64_t(kEight) * eight))),
                                     offset(scores_, step), isFast, /*mayEnd=*/true));
  return all;
}

/// Two elements of a row.
Value FewQueriesReader::queryPair(Value row, Value depth, bool isFast) {
  const Operand &left = scores_.product.left;
  if (!isFast || !left.plain)
    return vector(scores_, left, row, depth, isFast, /*mayEnd=*/true, 2).front();
  // At once: LLVM would fold both ways to read into the one that is right wherever elements lie.
  TileSpace space(scores_, tile_.inBatch, tile_.firstRow, k_.number(0));
  const TileSpace::Source source = space.source(left, row, depth, 2, /*mayEnd=*/true);
  Value exists = source.exists ? source.exists : arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true));
  return k_.loadWhere(exists, k_.b.getI32Type(), source.address);
}

FewQueriesReader::Values FewQueriesReader::queryPairs(bool isFast) {
  Values all;
  for (uint32_t step = 0; step < shape_.depthSteps(); ++step)
    for (uint32_t eight = 0; eight < shape_.eights(); ++eight)
      for (uint32_t chunk = 0; chunk < kDepthStep / kVector; ++chunk) {
        Value row = k_.add(tile_.firstRow, k_.add(group_, k_.number(int64_t(kEight) * eight)));
        Value depth = k_.add(k_.number(step * kDepthStep + chunk * kVector), k_.mul(lane_, k_.number(2)));
        all.push_back(queryPair(row, depth, isFast));
      }
  return all;
}

SmallVector<FewQueriesReader::Place> FewQueriesReader::placesOf(Value key, bool isFast, bool mayEnd) {
  SmallVector<Place> places;
  auto forEachRun = [&](const ProductKernel &kernel, llvm::function_ref<void(Value, uint32_t)> add) {
    const uint32_t width = isFast ? this->width(kernel) : kVector;
    for (uint32_t step = 0; step < stepsOf(kernel); step += width / kVector)
      add(offset(kernel, step), width);
  };
  for (uint32_t tile = 0; tile < 2; ++tile)
    forEachRun(scores_, [&](Value offset, uint32_t width) {
      Value ofLane = k_.add(key, k_.add(group_, k_.number(int64_t(kEight) * tile)));
      places.push_back({&scores_, ofLane, offset, /*mayEnd=*/true, width});
    });
  for (uint32_t inLane : {0, 1, 8, 9})
    forEachRun(output_, [&](Value offset, uint32_t width) {
      Value ofLane = k_.add(key, k_.add(k_.mul(lane_, k_.number(2)), k_.number(inLane)));
      places.push_back({&output_, offset, ofLane, mayEnd, width});
    });
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

uint32_t FewQueriesReader::registers(bool isFast) {
  constexpr uint32_t kRegister = 4; // bytes
  uint32_t all = 0;
  for (const Place &place : placesOf(k_.number(0), isFast, /*mayEnd=*/false)) {
    RunInputs inputs(*place.kernel, place.kernel->product.right, place.width);
    uint32_t bytes = kVector * 2;
    if (isRaw(*place.kernel, isFast)) {
      bytes = 0;
      for (size_t input = 0; input < inputs.count(); ++input)
        if (!isScaled(*place.kernel, isFast) || scaled_->integers == input)
          bytes += inputs.bytes(input);
    }
    all += (bytes + kRegister - 1) / kRegister;
  }
  return all;
}

FewQueriesReader::Values FewQueriesReader::loadScales(Value key) {
  const Operand &right = output_.product.right;
  const RunInputs inputs(output_, right, kVector);
  TileSpace space(output_, tile_.inBatch, tile_.firstRow, k_.number(0));
  Values scales;
  for (uint32_t eight = 0; eight < 2; ++eight) {
    Value ofGroup = k_.add(key, k_.add(group_, k_.number(int64_t(kEight) * eight)));
    const TileSpace::Begun run = space.at(right, offset(output_, 0), ofGroup, kVector, /*mayEnd=*/true);
    scales.push_back(k_.load(k_.b.getF32Type(), inputs.address(scaled_->scale, run), inputs.bytes(scaled_->scale)));
  }
  return scales;
}

FewQueriesReader::Values FewQueriesReader::load(Value key, bool isFast, bool mayEnd) {
  Values all;
  for (const Place &place : placesOf(key, isFast, mayEnd)) {
    const Operand &right = place.kernel->product.right;
    if (!isRaw(*place.kernel, isFast)) {
      llvm::append_range(all, vector(*place.kernel, right, place.across, place.reduced, isFast, place.mayEnd));
      continue;
    }
    TileSpace space(*place.kernel, tile_.inBatch, tile_.firstRow, k_.number(0));
    RunInputs inputs(*place.kernel, right, place.width);
    const TileSpace::Begun run = space.at(right, place.across, place.reduced, place.width, place.mayEnd);
    if (isScaled(*place.kernel, isFast)) {
      const size_t input = scaled_->integers;
      all.push_back(k_.load(inputs.type(input), inputs.address(input, run), inputs.bytes(input)));
    } else {
      llvm::append_range(all, inputs.load(run));
    }
  }
  if (isScaled(output_, isFast))
    llvm::append_range(all, loadScales(key));
  return all;
}

FewQueriesReader::Block FewQueriesReader::blockOf(ValueRange loaded, Value key, bool isFast, bool mayEnd) {
  Block block;
  auto take = [&](size_t count) {
    const ValueRange first = loaded.take_front(count);
    loaded = loaded.drop_front(count);
    return first;
  };
  for (const Place &place : placesOf(key, isFast, mayEnd)) {
    const ProductKernel &kernel = *place.kernel;
    if (!isRaw(kernel, isFast)) {
      llvm::append_range(block.words, take(kVector / 2));
      continue;
    }
    // Of keys that are not there the weights are 0.
    if (isScaled(kernel, isFast)) {
      llvm::append_range(block.words, ScaledIntegers::pairs(k_, take(1).front()));
      continue;
    }
    const Operand &right = kernel.product.right;
    Bodies::Scope scope(kernel.bodies);
    TileSpace space(kernel, tile_.inBatch, tile_.firstRow, k_.number(0));
    RunInputs inputs(kernel, right, place.width);
    inputs.stage(take(inputs.count()));
    llvm::append_range(block.words,
                       words(space.finish(space.at(right, place.across, place.reduced, place.width, place.mayEnd))));
    kernel.bodies.unstage();
  }
  if (isScaled(output_, isFast))
    llvm::append_range(block.scales, take(2));
  return block;
}

} // namespace tenon::compiler::codegen
