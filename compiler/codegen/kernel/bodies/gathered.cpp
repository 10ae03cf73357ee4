// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/bodies/gathered.h"

#include "compiler/codegen/kernel/straddling.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

Value addressOf(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor, Value element) {
  return k.at(arguments.pointers[tensor.binding], memoryType(tensor.element), element);
}

/// Whether the address is a multiple of `bytes`, a power of two.
Value isMultiple(KernelBuilder &k, Value address, int64_t bytes) {
  Value number = LLVM::PtrToIntOp::create(k.b, k.loc, k.b.getI64Type(), address);
  return k.equal(arith::AndIOp::create(k.b, k.loc, number, k.number(bytes - 1)), k.number(0));
}

VectorType vectorType(const KernelTensor &tensor, unsigned width) {
  return VectorType::get(width, memoryType(tensor.element));
}

Value loadVector(KernelBuilder &k, const KernelTensor &tensor, Value address, unsigned width, bool isStreamed,
                 bool isWhole) {
  return k.load(vectorType(tensor, width), address, width * dispatch::elementBytes(tensor.element), isStreamed,
                isWhole);
}

SmallVector<Value> elementsOf(KernelBuilder &k, const KernelTensor &tensor, Value vector, unsigned width) {
  SmallVector<Value> values;
  for (unsigned lane = 0; lane < width; ++lane)
    values.push_back(fromMemory(k, LLVM::ExtractElementOp::create(k.b, k.loc, vector, k.number(lane)), tensor.element));
  return values;
}

void storeVector(KernelBuilder &k, const KernelTensor &tensor, Value address, ValueRange values) {
  Value all = LLVM::PoisonOp::create(k.b, k.loc, VectorType::get(values.size(), memoryType(tensor.element)));
  for (auto [lane, value] : llvm::enumerate(values))
    all = LLVM::InsertElementOp::create(k.b, k.loc, all, toMemory(k, value, tensor.element), k.number(lane));
  k.store(all, address, values.size() * dispatch::elementBytes(tensor.element));
}

/// Where the elements of a tensor lie, and whether it has any.
class Places {
public:
  Places(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor, bool isThere)
      : k_(k), arguments_(arguments), tensor_(tensor),
        isThere_(isThere || llvm::none_of(tensor.shape, [](const Extent &extent) { return bool(extent.value); })) {
    for (const Extent &extent : tensor.shape) {
      lengths_.push_back(arguments.sizeOf(k.b, k.loc, extent));
      isEmpty_ |= !extent.value && extent.size == 0;
    }
  }

  bool isEmpty() const { return isEmpty_; }
  /// i1; null where it has for certain.
  Value hasElements() {
    if (isThere_)
      return {};
    Value size = k_.number(1);
    for (Value length : lengths_)
      size = k_.mul(size, length);
    return k_.less(k_.number(0), size);
  }
  Value element(ArrayRef<Lanes> indices, unsigned lane) {
    Value element = k_.number(0), stride = k_.number(1);
    for (size_t dimension = lengths_.size(); dimension-- > 0;) {
      element = k_.add(element, k_.mul(indices[dimension][lane], stride));
      stride = k_.mul(stride, lengths_[dimension]);
    }
    return element;
  }
  Value load(ArrayRef<Lanes> indices, unsigned lane) {
    auto read = [&] { return SmallVector<Value>{loadElement(k_, arguments_, tensor_, element(indices, lane))}; };
    Value hasAny = hasElements();
    return hasAny ? k_.choose(hasAny, tensor_.element, read, [&] { return SmallVector<Value>{zero()}; }).front()
                  : read().front();
  }
  Value zero() { return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(tensor_.element)); }

private:
  KernelBuilder &k_;
  const KernelArguments &arguments_;
  const KernelTensor &tensor_;
  SmallVector<Value> lengths_; // [rank]
  bool isThere_, isEmpty_ = false;
};

} // namespace

Type memoryType(Type element) {
  return element.isInteger(1) ? Type(IntegerType::get(element.getContext(), 8)) : element;
}

Value fromMemory(KernelBuilder &k, Value value, Type element) {
  if (!element.isInteger(1))
    return value;
  Value zero = arith::ConstantOp::create(k.b, k.loc, k.b.getI8IntegerAttr(0));
  return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ne, value, zero);
}

Value toMemory(KernelBuilder &k, Value value, Type element) {
  return element.isInteger(1) ? arith::ExtUIOp::create(k.b, k.loc, k.b.getI8Type(), value).getResult() : value;
}

Value loadElement(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor, Value element) {
  return fromMemory(k,
                    k.load(memoryType(tensor.element), addressOf(k, arguments, tensor, element),
                           dispatch::elementBytes(tensor.element)),
                    tensor.element);
}

SmallVector<Value> loadAligned(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor,
                               Value first, unsigned width, bool isStreamed) {
  return elementsOf(k, tensor,
                    loadVector(k, tensor, addressOf(k, arguments, tensor, first), width, isStreamed, /*isWhole=*/false),
                    width);
}

void storeAligned(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor, Value first,
                  ValueRange values) {
  storeVector(k, tensor, addressOf(k, arguments, tensor, first), values);
}

namespace {

/// The elements one by one.
Value loadEach(KernelBuilder &k, const KernelTensor &tensor, Value address, unsigned width) {
  Value all = LLVM::PoisonOp::create(k.b, k.loc, vectorType(tensor, width));
  for (unsigned lane = 0; lane < width; ++lane) {
    Value element = k.load(memoryType(tensor.element), k.at(address, memoryType(tensor.element), k.number(lane)),
                           dispatch::elementBytes(tensor.element));
    all = LLVM::InsertElementOp::create(k.b, k.loc, all, element, k.number(lane));
  }
  return all;
}

/// By the aligned vectors that hold them; where those reach beyond the tensor, at its ends, one by one.
SmallVector<Value> loadShifted(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor,
                               Value first, unsigned width, bool isStreamed) {
  Value address = addressOf(k, arguments, tensor, first);
  const unsigned bytes = width * dispatch::elementBytes(tensor.element), words = bytes / 4;
  Type i32 = k.b.getI32Type();
  auto inside = [&] {
    Straddling run = loadStraddling(k, address, bytes, isStreamed);
    run.words.push_back(run.shift);
    return run.words;
  };
  auto apart = [&] {
    Value all = LLVM::BitcastOp::create(k.b, k.loc, VectorType::get(words, i32), loadEach(k, tensor, address, width));
    SmallVector<Value> values;
    for (unsigned word = 0; word < words; ++word)
      values.push_back(LLVM::ExtractElementOp::create(k.b, k.loc, all, k.number(word)));
    Value zero = arith::ConstantOp::create(k.b, k.loc, k.b.getI32IntegerAttr(0));
    values.append(words + 1, zero);
    return values;
  };
  // Shifted behind the branch: what is read next does not wait for what was read here.
  SmallVector<Value> values = k.choose(isInside(k, arguments, tensor, first, first, bytes),
                                       SmallVector<Type>(2 * words + 1, i32), inside, apart);
  Value shift = values.pop_back_val();
  SmallVector<Value> run = runOf(k, {values, shift}, memoryType(tensor.element));
  for (Value &each : run)
    each = fromMemory(k, each, tensor.element);
  return run;
}

} // namespace

SmallVector<Value> loadRun(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor, Value first,
                           unsigned width, bool isStreamed, bool isVector) {
  if (width == 1)
    return {loadElement(k, arguments, tensor, first)};
  if (isVector && dispatch::elementBytes(tensor.element) < 4 && canStraddle(arguments, tensor, width))
    return loadShifted(k, arguments, tensor, first, width, isStreamed);
  Value address = addressOf(k, arguments, tensor, first);
  // One value of both ways: LLVM would split a vector whose elements are taken out at once.
  Value isAligned = isMultiple(k, address, int64_t(width) * dispatch::elementBytes(tensor.element));
  auto whole = [&] {
    return SmallVector<Value>{
        loadVector(k, tensor, address, width, isStreamed, !arguments.written.contains(tensor.binding))};
  };
  auto apart = [&] { return SmallVector<Value>{loadEach(k, tensor, address, width)}; };
  return elementsOf(k, tensor, k.choose(isAligned, vectorType(tensor, width), whole, apart).front(), width);
}

void storeRun(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor, Value first,
              ValueRange values) {
  Value address = addressOf(k, arguments, tensor, first);
  const uint32_t bytes = dispatch::elementBytes(tensor.element);
  k.branch(
      isMultiple(k, address, int64_t(values.size()) * bytes), [&] { storeVector(k, tensor, address, values); },
      [&] {
        for (auto [lane, value] : llvm::enumerate(values))
          k.store(toMemory(k, value, tensor.element), k.at(address, memoryType(tensor.element), k.number(lane)), bytes);
      });
}

Lanes loadGathered(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor,
                   ArrayRef<Lanes> indices, unsigned width, bool isStreamed, bool isAligned, SmallVector<Value> *doubts,
                   bool isThere) {
  Places places(k, arguments, tensor, isThere);
  if (places.isEmpty())
    return Lanes::same(places.zero());
  if (llvm::all_of(indices, [](const Lanes &index) { return index.isSame(); }))
    return Lanes::same(places.load(indices, 0));
  auto one = [&] {
    SmallVector<Value> values;
    for (unsigned lane = 0; lane < width; ++lane)
      values.push_back(places.load(indices, lane));
    return values;
  };
  const bool isRow = llvm::all_of(indices.drop_back(), [](const Lanes &index) { return index.isSame(); });
  const Lanes &last = indices.back();
  if (!isRow || !last.isRun())
    return {one(), Order::Any};
  if (isAligned && last.order == Order::Run && !places.hasElements())
    return {loadAligned(k, arguments, tensor, places.element(indices, 0), width, isStreamed), Order::Any};
  Value isRun = arith::ConstantOp::create(k.b, k.loc, k.b.getBoolAttr(true));
  if (last.order == Order::Steps)
    isRun = k.equal(k.sub(last.last(), last[0]), k.number(width - 1));
  if (doubts)
    doubts->push_back(k.exclusiveOr(isRun, arith::ConstantOp::create(k.b, k.loc, k.b.getBoolAttr(true))));
  if (Value hasAny = places.hasElements())
    isRun = k.both(isRun, hasAny);
  auto none = [&] { return SmallVector<Value>(width, places.zero()); };
  return {k.choose(
              isRun, SmallVector<Type>(width, tensor.element),
              [&] { return loadRun(k, arguments, tensor, places.element(indices, 0), width, isStreamed); },
              [&] { return doubts ? none() : one(); }),
          Order::Any};
}

void loadInLoop(KernelBuilder &k, const KernelFunction &kernel, const KernelArguments &arguments, Operation *loop) {
  SmallVector<tensor::ExtractOp> reads;
  loop->walk([&](tensor::ExtractOp read) { reads.push_back(read); });
  for (tensor::ExtractOp read : reads) {
    OpBuilder::InsertionGuard guard(k.b);
    k.b.setInsertionPoint(read);
    SmallVector<Lanes> indices;
    for (Value place : read.getIndices())
      indices.push_back(Lanes::same(arith::IndexCastOp::create(k.b, k.loc, k.b.getI64Type(), place)));
    const KernelTensor &tensor = kernel.gathered.find(read.getTensor())->second;
    read.replaceAllUsesWith(loadGathered(k, arguments, tensor, indices, /*width=*/1, /*isStreamed=*/false)[0]);
    read.erase();
  }
}

} // namespace tenon::compiler::codegen
