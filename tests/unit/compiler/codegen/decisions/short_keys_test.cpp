// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/decisions/short_keys.h"

#include "compiler/dispatch/prepare/choice_keys.h"
#include "tests/unit/compiler/codegen/kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

namespace tenon::compiler::codegen {
namespace {

class ShortKeys : public KernelTest {
protected:
  /// The place of the first largest element of each row of ?x`columns`, by keys. `extreme` is what the accumulator %m
  /// becomes.
  mlir::func::FuncOp byKeys(const std::string &type, const std::string &columns = "?",
                            const std::string &extreme = "arith.select %c, %x, %m : ") {
    const std::string compare = type[0] == 'i' ? "arith.cmpi sgt" : "arith.cmpf ogt";
    const std::string start = type[0] == 'i' ? "0" : "0.0";
    mlir::func::FuncOp function = parseFunction(
        "func.func @f(%a: tensor<?x" + columns + "x" + type + ">, %n: index) -> tensor<?xi64> {\n%s = arith.constant " +
        start + " : " + type + "\n%z = arith.constant 0 : i64\n%e = tensor.empty(%n) : tensor<?x" + type +
        ">\n%p = tensor.empty(%n) : tensor<?xi64>\n%v = linalg.fill ins(%s : " + type + ") outs(%e : tensor<?x" + type +
        ">) -> tensor<?x" + type + ">\n%w = linalg.fill ins(%z : i64) outs(%p : tensor<?xi64>) -> tensor<?xi64>\n" +
        "%r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, " +
        "affine_map<(i, j) -> (i)>], iterator_types = [\"parallel\", \"reduction\"]} ins(%a : tensor<?x" + columns +
        "x" + type + ">) outs(%v, %w : tensor<?x" + type + ">, tensor<?xi64>) {\n^bb0(%x: " + type + ", %m: " + type +
        ", %o: i64):\n%c = " + compare + ", %x, %m : " + type +
        "\n%i = linalg.index 1 : index\n%h = arith.index_cast %i : index to i64\n%b = " + extreme + type +
        "\n%t = arith.select %c, %h, %o : i64\nlinalg.yield %b, %t : " + type + ", i64\n} -> (tensor<?x" + type +
        ">, tensor<?xi64>)\nreturn %r#1 : tensor<?xi64>\n}");
    dispatch::reduceChoicesByKeys(function);
    return function;
  }
  /// The types of what reductions compute, in order.
  static std::vector<unsigned> bitsOf(mlir::func::FuncOp function) {
    std::vector<unsigned> bits;
    for (auto op : function.getOps<mlir::linalg::GenericOp>())
      if (op.getNumReductionLoops() != 0)
        bits.push_back(mlir::getElementTypeOrSelf(op.getResultTypes()[0]).getIntOrFloatBitWidth());
    return bits;
  }
};

TEST_F(ShortKeys, NarrowElementsHaveKeysOf32Bits) {
  for (auto [type, most] : {std::pair("bf16", 65535), {"f16", 65535}, {"i16", 65535}, {"i8", (1 << 24) - 1}}) {
    mlir::func::FuncOp function = byKeys(type);
    EXPECT_EQ(bitsOf(function), std::vector<unsigned>{64}) << type;
    EXPECT_EQ(shortenKeys(function), most) << type;
    EXPECT_EQ(bitsOf(function), std::vector<unsigned>{32}) << type;
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
  }
}

TEST_F(ShortKeys, TheBestOf32BitsAndItsPlaceAreOneKey) {
  for (const char *type : {"f32", "i32"}) {
    mlir::func::FuncOp function = byKeys(type);
    EXPECT_EQ(bitsOf(function), (std::vector<unsigned>{32, 64})) << type;
    EXPECT_EQ(shortenKeys(function), (int64_t(1) << 32) - 1) << type;
    EXPECT_EQ(bitsOf(function), std::vector<unsigned>{64}) << type;
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
  }
}

TEST_F(ShortKeys, SoIsThePlaceOfTheFirstNaN) {
  mlir::func::FuncOp function = byKeys("bf16", "?", "arith.maximumf %x, %m : ");
  EXPECT_EQ(shortenKeys(function), 65535);
  EXPECT_EQ(bitsOf(function), (std::vector<unsigned>{32, 32}));
  function = byKeys("f32", "?", "arith.maximumf %x, %m : ");
  EXPECT_EQ(bitsOf(function), (std::vector<unsigned>{64, 32, 64}));
  EXPECT_EQ(shortenKeys(function), (int64_t(1) << 32) - 1);
  EXPECT_EQ(bitsOf(function), (std::vector<unsigned>{64, 64}));
}

TEST_F(ShortKeys, OtherKeysStay) {
  EXPECT_FALSE(shortenKeys(byKeys("f64")));
  EXPECT_FALSE(shortenKeys(byKeys("f32", "1000"))); // as short as they get
  EXPECT_FALSE(shortenKeys(parseFunction(kRowSum)));
}

TEST_F(ShortKeys, ChoicesOfTwoTypesStay) {
  // Keys of both have 32 bits, but places of one have more of them than the other leaves.
  (void)byKeys("bf16");
  mlir::OwningOpRef<mlir::ModuleOp> kept = module_->clone();
  mlir::func::FuncOp other = byKeys("i8");
  auto both = *kept->getOps<mlir::func::FuncOp>().begin();
  const unsigned arguments = both.getNumArguments();
  for (mlir::BlockArgument argument : other.getArguments())
    (void)both.insertArgument(both.getNumArguments(), argument.getType(), {}, argument.getLoc());
  mlir::IRMapping values;
  for (mlir::BlockArgument argument : other.getArguments())
    values.map(argument, both.getArgument(arguments + argument.getArgNumber()));
  mlir::OpBuilder b(both.front().getTerminator());
  for (mlir::Operation &op : other.front().without_terminator())
    b.clone(op, values);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(both))) << messages_;
  EXPECT_FALSE(shortenKeys(both));
}

TEST_F(ShortKeys, WhatOthersSeeStays) {
  // Keys that leave the function, as those of parts of rows do.
  mlir::func::FuncOp function = byKeys("f32");
  auto keys = llvm::to_vector(function.getOps<mlir::linalg::GenericOp>())[1];
  function.front().getTerminator()->setOperand(0, keys->getResult(0));
  EXPECT_FALSE(shortenKeys(function));
  // Elements that are not counted from the beginning of the row.
  function = byKeys("f32");
  function.walk([](mlir::arith::IndexCastUIOp place) {
    if (auto index = place.getIn().getDefiningOp<mlir::linalg::IndexOp>()) {
      mlir::OpBuilder b(place);
      place.getInMutable().assign(mlir::arith::AddIOp::create(
          b, place.getLoc(), index, place->getParentOfType<mlir::func::FuncOp>().getArgument(1)));
    }
  });
  EXPECT_FALSE(shortenKeys(function));
  // The best of another tensor.
  function = byKeys("f32");
  auto ops = llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
  mlir::OpBuilder b(ops[0]);
  ops[0]->setOperand(
      0, mlir::tensor::CastOp::create(b, ops[0].getLoc(), function.getArgument(0).getType(), function.getArgument(0)));
  EXPECT_FALSE(shortenKeys(function));
}

} // namespace
} // namespace tenon::compiler::codegen
