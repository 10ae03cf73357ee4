// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/lines/look_back.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr StringLiteral kDevice = "device";
constexpr int64_t kHalf = 32;
constexpr int64_t kSaid = int64_t(1) << kHalf; // of a word, above half a value

} // namespace

Value takeTicket(KernelBuilder &k, Value counter) {
  Type i32 = k.b.getI32Type();
  Value shared = k.shared(i32, 1);
  k.when(k.equal(k.thread(), k.number(0)), [&] {
    Value one = arith::ConstantOp::create(k.b, k.loc, k.b.getI32IntegerAttr(1));
    Value ticket = LLVM::AtomicRMWOp::create(k.b, k.loc, LLVM::AtomicBinOp::add, counter, one,
                                             LLVM::AtomicOrdering::monotonic, kDevice);
    k.store(ticket, shared, 4);
  });
  k.barrier();
  return arith::ExtUIOp::create(k.b, k.loc, k.b.getI64Type(), k.load(i32, shared, 4));
}

int64_t SaidValues::wordsOf(Type type) {
  return type.getIntOrFloatBitWidth() > kHalf ? 2 : 1;
}

Value SaidValues::integer(int64_t value) {
  return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI64IntegerAttr(value));
}

Value SaidValues::at(Value place, int64_t word) {
  return k_.at(words_, k_.b.getI64Type(), k_.add(k_.mul(place, k_.number(wordsOf(type_))), k_.number(word)));
}

void SaidValues::clear(Value place) {
  for (int64_t word = 0; word < wordsOf(type_); ++word)
    k_.store(integer(0), at(place, word), 8);
}

void SaidValues::say(Value place, Value value) {
  const unsigned width = type_.getIntOrFloatBitWidth();
  Value bits = isa<FloatType>(type_)
                   ? arith::BitcastOp::create(k_.b, k_.loc, k_.b.getIntegerType(width), value).getResult()
                   : value;
  if (width < 64)
    bits = arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), bits);
  for (int64_t word = 0; word < wordsOf(type_); ++word) {
    Value half = word == 0 ? bits : arith::ShRUIOp::create(k_.b, k_.loc, bits, integer(kHalf)).getResult();
    Value said = arith::OrIOp::create(k_.b, k_.loc, k_.both(half, integer(kSaid - 1)), integer(kSaid));
    LLVM::StoreOp::create(k_.b, k_.loc, said, at(place, word), 8, /*isVolatile=*/false, /*isNonTemporal=*/false,
                          /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic, kDevice);
  }
}

Value SaidValues::hear(Value place) {
  SmallVector<Value> nothing(wordsOf(type_), integer(0));
  SmallVector<Type> types(nothing.size(), k_.b.getI64Type());
  auto loop = scf::WhileOp::create(
      k_.b, k_.loc, types, nothing,
      [&](OpBuilder &, Location, ValueRange) {
        SmallVector<Value> words;
        Value all;
        for (int64_t word = 0; word < wordsOf(type_); ++word) {
          words.push_back(LLVM::LoadOp::create(k_.b, k_.loc, k_.b.getI64Type(), at(place, word), 8,
                                               /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/false,
                                               /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic, kDevice));
          all = all ? k_.both(all, words.back()) : words.back();
        }
        Value isEmpty = k_.equal(k_.both(all, integer(kSaid)), integer(0));
        scf::ConditionOp::create(k_.b, k_.loc, isEmpty, words);
      },
      [&](OpBuilder &, Location, ValueRange) { scf::YieldOp::create(k_.b, k_.loc, nothing); });
  Value bits = k_.both(loop.getResult(0), integer(kSaid - 1));
  if (loop.getNumResults() == 2)
    bits = arith::OrIOp::create(k_.b, k_.loc, bits,
                                arith::ShLIOp::create(k_.b, k_.loc, loop.getResult(1), integer(kHalf)));
  const unsigned width = type_.getIntOrFloatBitWidth();
  if (width < 64)
    bits = arith::TruncIOp::create(k_.b, k_.loc, k_.b.getIntegerType(width), bits);
  return isa<FloatType>(type_) ? arith::BitcastOp::create(k_.b, k_.loc, type_, bits).getResult() : bits;
}

} // namespace tenon::compiler::codegen
