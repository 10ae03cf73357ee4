// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/bodies/bodies.h"

#include "tests/unit/compiler/codegen/kernels.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace tenon::compiler::codegen {
namespace {

class BodiesTest : public KernelTest {
protected:
  /// Loads of the kernel that elementwise writes, by their number of elements.
  std::map<int64_t, unsigned> loads(const std::string &text) {
    auto lowered = lower(text);
    std::map<int64_t, unsigned> found;
    if (lowered)
      lowered->walk([&](mlir::LLVM::LoadOp load) {
        auto vector = llvm::dyn_cast<mlir::VectorType>(load.getType());
        ++found[vector ? vector.getNumElements() : 1];
      });
    return found;
  }
  static std::string kernel(const std::string &arguments, const std::string &maps, const std::string &ins,
                            const std::string &body) {
    return "func.func @k(" + arguments +
           ") -> tensor<64x128xf32> attributes {tenon.strategy = {name = \"elementwise\", threads = 256 : i64, "
           "unrolled = 1 : i64, width = 4 : i64}} {\n%e = tensor.empty() : tensor<64x128xf32>\n%r = linalg.generic "
           "{indexing_maps = [" +
           maps + "affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]} " + ins +
           " outs(%e : tensor<64x128xf32>) {\n" + body + "} -> tensor<64x128xf32>\nreturn %r : tensor<64x128xf32>\n}\n";
  }
};

TEST_F(BodiesTest, AnElementThatTwoOperandsAreIsLoadedOnce) {
  const std::string map = "affine_map<(i, j) -> (i, j)>, ";
  auto found = loads(kernel("%a: tensor<64x128xf32>", map + map, "ins(%a, %a : tensor<64x128xf32>, tensor<64x128xf32>)",
                            "^bb0(%x: f32, %y: f32, %o: f32):\n%s = arith.addf %x, %y : f32\nlinalg.yield %s : f32\n"));
  EXPECT_EQ(found[4], 1u);
}

TEST_F(BodiesTest, AShiftedRowIsAVectorWhereItIsAligned) {
  auto found = loads(kernel("%a: tensor<64x200xf32>", "affine_map<(i, j) -> (i, j + 4)>, ",
                            "ins(%a : tensor<64x200xf32>)", "^bb0(%x: f32, %o: f32):\nlinalg.yield %x : f32\n"));
  EXPECT_EQ(found[4], 1u);
  EXPECT_GE(found[1], 4u) << "elsewhere each element alone";
}

TEST_F(BodiesTest, ARowThatIsGatheredIsAVector) {
  auto found = loads(kernel("%a: tensor<1000x128xf32>, %at: tensor<64xi64>", "affine_map<(i, j) -> (i)>, ",
                            "ins(%at : tensor<64xi64>)",
                            "^bb0(%n: i64, %o: f32):\n%i = arith.index_cast %n : i64 to index\n"
                            "%j = linalg.index 1 : index\n"
                            "%x = tensor.extract %a[%i, %j] : tensor<1000x128xf32>\nlinalg.yield %x : f32\n"));
  EXPECT_EQ(found[4], 1u);
}

TEST_F(BodiesTest, ElementsThatAreGatheredOneByOneAreNone) {
  auto found = loads(kernel("%a: tensor<1000xf32>, %at: tensor<64x128xi64>", "affine_map<(i, j) -> (i, j)>, ",
                            "ins(%at : tensor<64x128xi64>)",
                            "^bb0(%n: i64, %o: f32):\n%i = arith.index_cast %n : i64 to index\n"
                            "%x = tensor.extract %a[%i] : tensor<1000xf32>\nlinalg.yield %x : f32\n"));
  EXPECT_EQ(found[4], 1u) << "the indices alone";
}

TEST_F(BodiesTest, OneSideOfABoundaryIsReadWhereLanesAgree) {
  // A row of [a | b], 64 columns each: the second read stands in a branch of its own.
  const std::string body = R"mlir(
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %c63 = arith.constant 63 : index
      %c64 = arith.constant 64 : index
      %c0 = arith.constant 0 : index
      %left = arith.minsi %j, %c63 : index
      %x = tensor.extract %a[%i, %left] : tensor<64x64xf32>
      %right = arith.subi %j, %c64 : index
      %inside = arith.cmpi ult, %right, %c64 : index
      %most = arith.minsi %right, %c63 : index
      %clamped = arith.maxsi %most, %c0 : index
      %y = tensor.extract %b[%i, %clamped] : tensor<64x64xf32>
      %z = arith.select %inside, %y, %x : f32
      linalg.yield %z : f32
  )mlir";
  auto lowered = lower(kernel("%a: tensor<64x64xf32>, %b: tensor<64x64xf32>", "", "", body));
  ASSERT_TRUE(lowered);
  // Which binding each vector load reads: where lanes are on both sides, the warp reads element by element.
  std::map<unsigned, unsigned> vectors;
  lowered->walk([&](mlir::LLVM::LoadOp load) {
    mlir::Value from = load.getAddr();
    while (auto step = from.getDefiningOp<mlir::LLVM::GEPOp>())
      from = step.getBase();
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(from);
        argument && llvm::isa<mlir::VectorType>(load.getType()))
      ++vectors[argument.getArgNumber()];
  });
  EXPECT_EQ(vectors[0], 1u);
  EXPECT_EQ(vectors[1], 1u);
}

} // namespace
} // namespace tenon::compiler::codegen
