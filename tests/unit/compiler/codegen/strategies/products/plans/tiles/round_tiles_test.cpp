// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/tiles/round_tiles.h"

#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_product.h"
#include "compiler/codegen/contraction/tile_map.h"
#include "compiler/codegen/strategies/products/plans/tile_plan.h"
#include "compiler/codegen/strategies/products/plans/tiles/cluster_sums.h"
#include "tests/unit/compiler/codegen/strategies/products/plans/contraction_plans_testing.h"

namespace tenon::compiler::codegen {
namespace {

class RoundTilesTest : public ContractionPlansTest {
protected:
  /// With a result of 16 bits. right: "nk" or "kn".
  void readNarrow(const std::string &right, int64_t m, int64_t n, int64_t k, bool isForHopper = true) {
    auto type = [](int64_t rows, int64_t columns, const std::string &element) {
      return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + element + ">";
    };
    const std::string a = type(m, k, "bf16"), b = right == "nk" ? type(n, k, "bf16") : type(k, n, "bf16"),
                      sums = type(m, n, "f32"), result = type(m, n, "bf16"), map = "affine_map<(m, n, k) -> (";
    kernel_ = KernelFunction::read(parseFunction(
        "func.func @k(%a: " + a + ", %b: " + b + ") -> " + result + " {\n%zero = arith.constant 0.0 : f32\n" +
        "%e = tensor.empty() : " + sums + "\n%f = linalg.fill ins(%zero : f32) outs(%e : " + sums + ") -> " + sums +
        "\n%r = linalg.generic {indexing_maps = [" + map + "m, k)>, " + map + (right == "nk" ? "n, k" : "k, n") +
        ")>, " + map + "m, n)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} ins(%a, %b : " + a +
        ", " + b + ") outs(%f : " + sums + ") {\n^bb0(%x: bf16, %y: bf16, %s: f32):\n" +
        "%v = arith.extf %x : bf16 to f32\n%w = arith.extf %y : bf16 to f32\n%p = arith.mulf %v, %w : f32\n" +
        "%t = arith.addf %s, %p : f32\nlinalg.yield %t : f32\n} -> " + sums + "\n%o = tensor.empty() : " + result +
        "\n%q = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], " +
        "iterator_types = [\"parallel\", \"parallel\"]} ins(%r : " + sums + ") outs(%o : " + result +
        ") {\n^bb0(%x: f32, %y: bf16):\n%v = arith.truncf %x : f32 to bf16\nlinalg.yield %v : bf16\n} -> " + result +
        "\nreturn %q : " + result + "\n}\n"));
    ASSERT_TRUE(mlir::succeeded(kernel_)) << messages_;
    shape_.emplace(GroupShape::of(*kernel_));
    if (isForHopper)
      kernel_->function->setAttr(dispatch::kHopperOnlyAttr, mlir::UnitAttr::get(&context_));
  }
  std::vector<RoundTile> tilesOf(const std::string &right, int64_t m, int64_t n, int64_t k, bool isForHopper = true) {
    readNarrow(right, m, n, k, isForHopper);
    const llvm::SmallVector<RoundTile> found = roundTilesOf(*kernel_, *shape_, *Product::of(*kernel_, *shape_));
    return {found.begin(), found.end()};
  }
};

TEST_F(RoundTilesTest, AreTheNarrowestOfTheirRounds) {
  for (const char *right : {"nk", "kn"}) {
    const std::vector<RoundTile> found = tilesOf(right, 300, 28672, 4096);
    const Product product = *Product::of(*kernel_, *shape_);
    EXPECT_FALSE(found.empty());
    for (const RoundTile &each : found) {
      const Product multiplied = asMultiplied(product, each.isExchanged);
      const WarpgroupTile narrower{each.tile->rows, each.tile->columns - kFittedMultiple, 0};
      auto roundsOf = [&](const WarpgroupTile &tile) {
        return (*warpgroupTilesOf(*shape_, multiplied, tile) + 131) / 132;
      };
      EXPECT_LE(roundsOf(*each.tile), 4);
      if (each.tile->columns > 64)
        EXPECT_GT(roundsOf(narrower), roundsOf(*each.tile)) << each.tile->rows << " x " << each.tile->columns;
      EXPECT_TRUE(isWarpgroupTile(each.tile->rows, each.tile->columns, multiplied.right));
      const uint32_t staged = columnsOfStage(multiplied.right, uint32_t(each.tile->columns));
      EXPECT_LE(warpgroupSharedBytes(uint32_t(each.tile->rows), staged), 227u << 10);
    }
  }
}

TEST_F(RoundTilesTest, SumsOfTheLargestAreNotTakenApartInClusters) {
  readNarrow("nk", 300, 28672, 4096);
  const Product product = *Product::of(*kernel_, *shape_);
  EXPECT_FALSE(mayShareInCluster(*shape_, product, WarpgroupTile{256, kMostOfRounds, 0}));
  EXPECT_TRUE(mayShareInCluster(*shape_, product, WarpgroupTile{256, kMostFittedOfFour, 0}));
}

TEST_F(RoundTilesTest, OtherTargetsAndRowsThatAreNoVectorsHaveNone) {
  EXPECT_TRUE(tilesOf("nk", 300, 28671, 4095).empty());
  EXPECT_TRUE(tilesOf("nk", 300, 28672, 4096, /*isForHopper=*/false).empty());
  plans(300, 28672, 4096); // of f32
  EXPECT_TRUE(roundTilesOf(*kernel_, *shape_, *Product::of(*kernel_, *shape_)).empty());
}

TEST_F(RoundTilesTest, SidesAreExchangedWhereRowsAreFew) {
  const abi::TargetArch hopper{90, abi::ArchSuffix::A};
  for (auto [m, columns] : {std::pair<int64_t, int64_t>{300, 160}, {263, 144}}) {
    readNarrow("nk", m, 28672, 4096);
    const std::vector<Plan> found = Contraction().plans(*kernel_, *shape_);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found.front().choice(kExchanged), 1) << m;
    EXPECT_EQ(found.front().choice("warpgroup_rows"), 256) << m;
    EXPECT_EQ(found.front().choice("warpgroup_columns"), columns) << m;
    for (auto [name, value] : found.front().choices)
      EXPECT_TRUE(Contraction().takes(name, value)) << name.str() << " " << value;
    const std::optional<TileChoice> chosen = Contraction().choiceOf(*kernel_, *shape_, found.front(), hopper);
    ASSERT_TRUE(chosen);
    EXPECT_TRUE(llvm::is_contained(Contraction().choices(*kernel_, *shape_, hopper), *chosen)) << chosen->text();
  }
  for (int64_t k : {512, 1472}) { // short sums
    readNarrow("nk", 300, 28672, k);
    EXPECT_EQ(Contraction().plans(*kernel_, *shape_).front().choice(kExchanged), 0) << k;
  }
}

} // namespace
} // namespace tenon::compiler::codegen
