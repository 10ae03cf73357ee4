// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/straddling.h"

#include "compiler/dispatch/analysis/kernel_config.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr unsigned kWord = 4;

/// How far behind the start of an aligned vector an address lies.
Value behindVector(KernelBuilder &k, Value address, unsigned bytes) {
  Value number = LLVM::PtrToIntOp::create(k.b, k.loc, k.b.getI64Type(), address);
  return arith::AndIOp::create(k.b, k.loc, number, k.number(bytes - 1));
}

/// Of the vectors that hold a run: two, or one where it is aligned.
Value bytesOfBoth(KernelBuilder &k, Value behind, unsigned bytes) {
  return k.select(k.equal(behind, k.number(0)), k.number(bytes), k.number(2 * int64_t(bytes)));
}

Value bytesBehind(KernelBuilder &k, Value pointer, Value bytes) {
  return k.at(pointer, k.b.getI8Type(), bytes);
}

Value word(KernelBuilder &k, int64_t value) {
  return arith::ConstantOp::create(k.b, k.loc, k.b.getI32IntegerAttr(int32_t(value)));
}

} // namespace

bool canStraddle(const KernelArguments &arguments, const KernelTensor &tensor, unsigned width) {
  const uint64_t bytes = uint64_t(width) * dispatch::elementBytes(tensor.element);
  return width > 1 && !arguments.written.contains(tensor.binding) && bytes >= kWord && bytes <= 4 * kWord &&
         llvm::isPowerOf2_64(bytes);
}

/// In bytes, which may be more than a word counts.
static Value isInsideByBytes(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor,
                             Value first, Value last, unsigned bytes) {
  const int64_t elementBytes = dispatch::elementBytes(tensor.element);
  Value size = k.number(elementBytes);
  for (const Extent &extent : tensor.shape)
    size = k.mul(size, arguments.sizeOf(k.b, k.loc, extent));
  // Of addresses only the low bits are looked at: where vectors begin, counted from the tensor's start.
  auto behind = [&](Value element) {
    Value address = bytesBehind(k, arguments.pointers[tensor.binding], k.mul(element, k.number(elementBytes)));
    return behindVector(k, address, bytes);
  };
  auto notBelow = [&](Value x, Value y) {
    return k.b.createOrFold<arith::CmpIOp>(k.loc, arith::CmpIPredicate::uge, x, y);
  };
  Value lastBehind = behind(last);
  Value end = k.sub(k.add(k.mul(last, k.number(elementBytes)), bytesOfBoth(k, lastBehind, bytes)), lastBehind);
  return k.both(notBelow(k.mul(first, k.number(elementBytes)), behind(first)), notBelow(size, end));
}

Value isInside(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor, Value first, Value last,
               unsigned bytes) {
  Value is;
  k.outOfWords([&] { is = isInsideByBytes(k, arguments, tensor, first, last, bytes); });
  return is;
}

Straddling loadStraddling(KernelBuilder &k, Value address, unsigned bytes, bool isStreamed) {
  const unsigned words = bytes / kWord;
  auto type = VectorType::get(words, k.b.getI32Type());
  Value behind = behindVector(k, address, bytes);
  Value low = bytesBehind(k, address, k.sub(k.number(0), behind));
  Value next = k.sub(bytesOfBoth(k, behind, bytes), k.number(bytes));
  Straddling result;
  for (Value from : {low, bytesBehind(k, low, next)}) {
    Value vector = k.load(type, from, bytes, isStreamed, /*isWhole=*/true);
    for (unsigned each = 0; each < words; ++each)
      result.words.push_back(LLVM::ExtractElementOp::create(k.b, k.loc, vector, k.number(each)));
  }
  result.shift = k.word(behind);
  return result;
}

SmallVector<Value> shiftedWords(KernelBuilder &k, ValueRange words, Value shift, unsigned elementBytes,
                                unsigned count) {
  SmallVector<Value> all = words;
  // Conditions, not the shift itself: to who reads the kernel's code, a number made of an address is one.
  auto isBehindBy = [&](unsigned bytes) -> Value {
    Value bit = arith::AndIOp::create(k.b, k.loc, shift, word(k, bytes));
    return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ne, bit, word(k, 0));
  };
  // Whole words first, by half as many in each step, then what is left of one.
  for (unsigned step = (words.size() - count) / 2; step != 0 && step * kWord >= elementBytes; step /= 2) {
    Value isBehind = isBehindBy(step * kWord);
    for (size_t i = 0; i + step < all.size(); ++i)
      all[i] = k.select(isBehind, all[i + step], all[i]);
    all.truncate(all.size() - step);
  }
  Value rest = word(k, 0); // bits
  for (unsigned bytes = kWord / 2; bytes >= elementBytes; bytes /= 2)
    rest = k.add(rest, k.select(isBehindBy(bytes), word(k, 8 * bytes), word(k, 0)));
  SmallVector<Value> run;
  for (unsigned i = 0; i < count; ++i)
    run.push_back(elementBytes < kWord ? LLVM::FshrOp::create(k.b, k.loc, all[i + 1], all[i], rest).getResult()
                                       : all[i]);
  return run;
}

SmallVector<Value> wordsOf(KernelBuilder &k, const Straddling &straddling, unsigned elementBytes) {
  return shiftedWords(k, straddling.words, straddling.shift, elementBytes, straddling.words.size() / 2);
}

Value vectorOfWords(KernelBuilder &k, ValueRange words) {
  Value vector = LLVM::PoisonOp::create(k.b, k.loc, VectorType::get(words.size(), k.b.getI32Type()));
  for (auto [number, word] : llvm::enumerate(words))
    vector = LLVM::InsertElementOp::create(k.b, k.loc, vector, word, k.number(int64_t(number)));
  return vector;
}

SmallVector<Value> elementsOfVector(KernelBuilder &k, Value vector, Type element) {
  auto type = cast<VectorType>(vector.getType());
  const int64_t bytes = type.getNumElements() * dispatch::elementBytes(type.getElementType());
  const int64_t count = bytes / dispatch::elementBytes(element);
  vector = LLVM::BitcastOp::create(k.b, k.loc, VectorType::get(count, element), vector);
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < count; ++lane)
    elements.push_back(LLVM::ExtractElementOp::create(k.b, k.loc, vector, k.number(lane)));
  return elements;
}

SmallVector<Value> runOf(KernelBuilder &k, const Straddling &straddling, Type element) {
  return elementsOfVector(k, vectorOfWords(k, wordsOf(k, straddling, dispatch::elementBytes(element))), element);
}

} // namespace tenon::compiler::codegen
