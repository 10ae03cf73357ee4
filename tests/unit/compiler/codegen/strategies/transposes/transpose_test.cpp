// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/transposes/transpose.h"

#include "compiler/codegen/strategies/elementwise.h"
#include "tests/unit/compiler/codegen/kernels.h"

#include "llvm/ADT/STLExtras.h"

namespace tenon::compiler::codegen {
namespace {

class TransposePlans : public KernelTest {
protected:
  /// Those of y[j, i] = x[i, j] of bf16, i and j of unknown length.
  std::vector<Plan> ofUnknownSizes() {
    const std::string tensor = "tensor<?x?xbf16>";
    kernel_ = *KernelFunction::read(parseFunction(
        "func.func @k(%n: i64, %m: i64, %x: " + tensor + " {tenon.dims = array<i64: 1, 0>}) -> (" + tensor +
        " {tenon.dims = array<i64: 0, 1>}) {\n%a = arith.index_cast %n : i64 to index\n"
        "%b = arith.index_cast %m : i64 to index\n%e = tensor.empty(%a, %b) : " +
        tensor +
        "\n%r = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j, i)>], "
        "iterator_types = [\"parallel\", \"parallel\"]} ins(%x : " +
        tensor + ") outs(%e : " + tensor + ") {\n^bb0(%v: bf16, %o: bf16):\nlinalg.yield %v : bf16\n} -> " + tensor +
        "\nreturn %r : " + tensor + "\n}\n"));
    shape_ = GroupShape::of(*kernel_);
    return Transpose(elementwise_).plans(*kernel_, shape_);
  }
  /// Those that run for so many rows, and elements of a row, of the result.
  std::vector<Plan> running(const std::vector<Plan> &plans, int64_t read, int64_t written) {
    std::vector<Plan> found;
    auto lengthOf = [&](const Guard &guard) {
      if (guard.length.size() == 2)
        return read * written;
      return guard.length.front().value == shape_.axes[0].extents.front().value ? read : written;
    };
    llvm::copy_if(plans, std::back_inserter(found), [&](const Plan &plan) {
      return llvm::all_of(plan.guards, [&](const Guard &guard) { return guard.holdsFor(lengthOf(guard)); });
    });
    return found;
  }

  const Elementwise elementwise_;
  std::optional<KernelFunction> kernel_;
  GroupShape shape_;
};

TEST_F(TransposePlans, OneRunsWhateverTheLengths) {
  const std::vector<Plan> plans = ofUnknownSizes();
  for (int64_t read : {1, 2, 7, 8, 9, 16, 17, 31, 100, 4096, 1 << 20})
    for (int64_t written : {1, 3, 7, 8, 16, 17, 64, 1000, 1 << 20})
      EXPECT_EQ(running(plans, read, written).size(), 1u) << read << " " << written;
}

TEST_F(TransposePlans, ShortAxesHaveTilesThatAreLongAlongTheOther) {
  const std::vector<Plan> plans = ofUnknownSizes();
  auto only = [&](int64_t read, int64_t written) { return running(plans, read, written).front(); };
  EXPECT_EQ(only(4096, 4096).choice("written"), 128);
  EXPECT_EQ(only(100000, 10).choice("written"), 16);
  EXPECT_EQ(only(100000, 10).choice("read"), 512);
  EXPECT_EQ(only(16, 100000).choice("read"), 16);
  EXPECT_EQ(only(16, 100000).choice("written"), 512);
  for (const Plan &plan : plans) // of shared memory, which all blocks of a multiprocessor have together
    if (plan.strategy == "transpose")
      EXPECT_LE(plan.choice("written") * plan.choice("read") * 2, 32 << 10);
  EXPECT_EQ(only(100000, 7).strategy, "elementwise");
  EXPECT_EQ(only(7, 100000).strategy, "elementwise");
}

} // namespace
} // namespace tenon::compiler::codegen
