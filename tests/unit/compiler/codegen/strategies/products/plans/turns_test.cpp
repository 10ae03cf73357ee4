// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/turns.h"

#include "compiler/codegen/strategies/products/contraction.h"
#include "tests/unit/compiler/codegen/contraction/products.h"

namespace tenon::compiler::codegen {
namespace {

constexpr abi::TargetArch kTarget{90, abi::ArchSuffix::A};

class TurnsTest : public ProductTest {
protected:
  /// A product of bf16, and `body`, which makes %o of %v behind it.
  std::vector<Plan> plans(int64_t m, int64_t n, int64_t k, const std::string &body) {
    auto tensor = [&](int64_t rows, int64_t columns, const std::string &type) {
      return tensorText({rows, columns}, type);
    };
    const std::string a = tensor(m, k, "bf16"), b = tensor(n, k, "bf16"), c = tensor(m, n, "f32"),
                      d = tensor(m, n, "bf16");
    kernel_ = KernelFunction::read(parseFunction(
        "func.func @k(%a: " + a + ", %b: " + b + ") -> " + d +
        " {\n%z = arith.constant 0.0 : f32\n%e = tensor.empty() : " + c +
        "\n%f = linalg.fill ins(%z : f32) outs(%e : " + c + ") -> " + c +
        "\n%p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, "
        "affine_map<(m, n, k) -> (m, n)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} ins(%a, %b "
        ": " +
        a + ", " + b + ") outs(%f : " + c +
        ") {\n^bb0(%x: bf16, %y: bf16, %s: f32):\n%u = arith.extf %x : bf16 to f32\n%w = arith.extf %y : bf16 to f32\n"
        "%q = arith.mulf %u, %w : f32\n%t = arith.addf %s, %q : f32\nlinalg.yield %t : f32\n} -> " +
        c + "\n%g = tensor.empty() : " + d +
        "\n%r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], "
        "iterator_types = [\"parallel\", \"parallel\"]} ins(%p : " +
        c + ") outs(%g : " + d + ") {\n^bb0(%v: f32, %h: bf16):\n" + body +
        "%o = arith.truncf %l : f32 to bf16\nlinalg.yield %o : bf16\n} -> " + d + "\nreturn %r : " + d + "\n}\n"));
    EXPECT_TRUE(mlir::succeeded(kernel_)) << messages_;
    shape_.emplace(GroupShape::of(*kernel_));
    return Contraction().plans(*kernel_, *shape_);
  }
};

constexpr const char *kHeavy = "%l0 = math.exp %v : f32\n%l1 = arith.mulf %l0, %v : f32\n%l2 = arith.addf %l1, %v : "
                               "f32\n%l = arith.mulf %l2, %l2 : f32\n",
                     *kLongest = "%l0 = math.erf %v : f32\n%l = arith.mulf %l0, %v : f32\n",
                     *kLight = "%l = arith.mulf %v, %v : f32\n";

TEST_F(TurnsTest, ResultsThatTakeLongAreComputedWhileTheNextTileIsMultiplied) {
  const std::vector<Plan> found = plans(6304, 3072, 768, kHeavy);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].choice(kTurns), 2);
  EXPECT_LE(found[0].choice("warpgroup_rows") * found[0].choice("warpgroup_columns"), 128 * 128);
  const std::optional<TileChoice> chosen = Contraction().choiceOf(*kernel_, *shape_, found[0], kTarget);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->number(kTurns), 2) << chosen->text();
  EXPECT_TRUE(llvm::is_contained(Contraction().choices(*kernel_, *shape_, kTarget), *chosen));
  const std::vector<Plan> given = Contraction().plansWith(*kernel_, *shape_, {{kTarget, *chosen}});
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].choices, found[0].choices);
  for (auto [name, value] : found[0].choices)
    EXPECT_TRUE(Contraction().takes(name, value)) << name.str() << " " << value;
}

TEST_F(TurnsTest, OtherTilesAreHalvedWhateverIsChosen) {
  plans(6304, 3072, 768, kHeavy);
  const TileChoice whole{kByWarpgroups.str(), {{"rows", 128}, {"columns", 256}}};
  EXPECT_EQ(Contraction().plansWith(*kernel_, *shape_, {{kTarget, whole}})[0].choice(kTurns), 0);
  const std::optional<Plan> plan = Contraction().plan(*kernel_, *shape_);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->choice(kTurns), 0) << "no choice of it is needed";
}

TEST_F(TurnsTest, NotOfLightResultsNorOfOneTile) {
  EXPECT_EQ(plans(6304, 3072, 768, kLight)[0].choice(kTurns), 0);
  EXPECT_EQ(plans(6304, 3072, 768, kLongest)[0].choice(kTurns), 0);
  EXPECT_EQ(plans(256, 3072, 768, kHeavy)[0].choice(kTurns), 0);
}

TEST_F(TurnsTest, SumsOfATileFitAConsumersRegisters) {
  const KernelFunction &kernel = read("mk", "nk", {{'m', "4096"}, {'n', "4096"}, {'k', "512"}});
  const Product product = Product::of(kernel, *shape_)->forWarpgroups();
  EXPECT_TRUE(mayTakeTurns(*shape_, product, {128, 128, 0}));
  EXPECT_TRUE(mayTakeTurns(*shape_, product, {64, 256, 0}));
  EXPECT_FALSE(mayTakeTurns(*shape_, product, {128, 192, 0}));
  EXPECT_FALSE(mayTakeTurns(*shape_, product, {256, 128, 0}));
}

} // namespace
} // namespace tenon::compiler::codegen
