// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/bodies/small_tensors.h"

#include "tests/unit/compiler/codegen/kernel/kernel_writer.h"

namespace tenon::compiler::codegen {
namespace {

class SmallTensors : public KernelWriterTest {
protected:
  /// A copy of tensor<?xROWxf32>.
  KernelFunction copy(const std::string &row) {
    const std::string tensor = "tensor<?x" + row + "xf32>", dims = " {tenon.dims = array<i64: 0>}";
    auto kernel = KernelFunction::read(parseFunction(
        "func.func @k(%n: i64, %a: " + tensor + dims + ") -> (" + tensor + dims +
        ") {\n%d = arith.index_cast %n : i64 to index\n%e = tensor.empty(%d) : " + tensor +
        "\n%r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], "
        "iterator_types = [\"parallel\", \"parallel\"]} ins(%a : " +
        tensor + ") outs(%e : " + tensor +
        ") {\n^bb0(%x: f32, %o: f32):\n%1 = arith.negf %x : f32\nlinalg.yield %1 : f32\n} -> " + tensor +
        "\nreturn %r : " + tensor + "\n}\n"));
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_;
    return *kernel;
  }
  /// What a kernel says of tensors whose number of elements has this reciprocal.
  std::optional<bool> areSmallBy(const KernelFunction &kernel, mlir::DenseI64ArrayAttr key, int64_t elements) {
    KernelBuilder &k = begin();
    KernelArguments arguments;
    arguments.reciprocals[key] = k.number(INT64_MAX / elements);
    mlir::Value is = areSmall(k, kernel, GroupShape::of(kernel), arguments);
    return is ? KernelBuilder::known(is) : std::nullopt;
  }
};

TEST_F(SmallTensors, OneNumberForTensorsOfOneShape) {
  const KernelFunction kernel = copy("7");
  mlir::Builder b(&context_);
  const auto keys = elementKeys(b, kernel, GroupShape::of(kernel));
  ASSERT_TRUE(keys);
  ASSERT_EQ(keys->size(), 1u);
  EXPECT_EQ(keys->front().asArrayRef(), (llvm::ArrayRef<int64_t>{7, 0}));
}

TEST_F(SmallTensors, HaveLessThanWordsCount) {
  const KernelFunction kernel = copy("7");
  mlir::Builder b(&context_);
  const auto keys = elementKeys(b, kernel, GroupShape::of(kernel));
  ASSERT_TRUE(keys);
  const int64_t most = (int64_t(1) << 31) - (int64_t(1) << 20);
  EXPECT_EQ(areSmallBy(kernel, keys->front(), 1), true);
  EXPECT_EQ(areSmallBy(kernel, keys->front(), int64_t(1) << 30), true);
  EXPECT_EQ(areSmallBy(kernel, keys->front(), most + 1), false);
  EXPECT_EQ(areSmallBy(kernel, keys->front(), int64_t(1) << 31), false);
  EXPECT_EQ(areSmallBy(kernel, keys->front(), int64_t(1) << 40), false);
}

TEST_F(SmallTensors, AreNotAskedForWhereNobodySays) {
  const KernelFunction kernel = copy("7");
  KernelBuilder &k = begin();
  EXPECT_FALSE(areSmall(k, kernel, GroupShape::of(kernel), KernelArguments()));
}

} // namespace
} // namespace tenon::compiler::codegen
