// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/lines/look_back.h"

#include "tests/unit/compiler/codegen/kernel/kernel_writer.h"

namespace tenon::compiler::codegen {
namespace {

class LookBackTest : public KernelWriterTest {
protected:
  mlir::Value words() {
    auto pointer = mlir::LLVM::LLVMPointerType::get(&context_, 1);
    return mlir::LLVM::IntToPtrOp::create(*builder_, writer_->loc, pointer, parameter(0));
  }
};

TEST_F(LookBackTest, OneThreadTakesTheTicketOfABlock) {
  KernelBuilder &k = begin();
  EXPECT_TRUE(takeTicket(k, words()).getType().isInteger(64));
  EXPECT_EQ(count("llvm.atomicrmw"), 1u);
  EXPECT_EQ(count("nvvm.barrier0") + count("nvvm.barrier"), 1u);
}

TEST_F(LookBackTest, LongValuesAreTwoWords) {
  for (auto [type, words_] : {std::pair<mlir::Type, unsigned>(mlir::Float32Type::get(&context_), 1),
                              {mlir::IntegerType::get(&context_, 1), 1},
                              {mlir::Float64Type::get(&context_), 2},
                              {mlir::IntegerType::get(&context_, 64), 2}}) {
    KernelBuilder &k = begin();
    EXPECT_EQ(SaidValues::wordsOf(type), words_);
    SaidValues places(k, type, words());
    places.say(k.number(3), unknown(type));
    EXPECT_EQ(count("llvm.store"), words_);
    EXPECT_EQ(places.hear(k.number(3)).getType(), type);
    EXPECT_EQ(count("llvm.load"), words_);
    EXPECT_EQ(count("scf.while"), 1u);
  }
}

} // namespace
} // namespace tenon::compiler::codegen
