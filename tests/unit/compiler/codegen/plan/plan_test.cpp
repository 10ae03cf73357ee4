// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/strategies.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class PlanTest : public KernelTest {
protected:
  /// A result of unknown size that is read by `map` from a tensor of two or three dimensions.
  static std::string copy(const std::string &dimensions, const std::string &element, const std::string &read,
                          const std::string &dims) {
    const size_t rank = dims.size();
    std::string tensor = "tensor<", sizes, order, resultDims;
    for (size_t i = 0; i < rank; ++i) {
      tensor += "?x";
      sizes += (i ? ", " : "") + std::string("%i") + std::to_string(i);
      order += (i ? ", " : "") + std::string("\"parallel\"");
      resultDims += (i ? ", " : "") + std::to_string(i);
    }
    tensor += element + ">";
    std::string readDims, arguments, casts;
    for (size_t i = 0; i < rank; ++i) {
      readDims += (i ? ", " : "") + std::string(1, dims[i]);
      arguments += "%n" + std::to_string(i) + ": i64, ";
      casts += "%i" + std::to_string(i) + " = arith.index_cast %n" + std::to_string(i) + " : i64 to index\n";
    }
    return "func.func @k(" + arguments + "%a: " + tensor + " {tenon.dims = array<i64: " + readDims + ">}) -> (" +
           tensor + " {tenon.dims = array<i64: " + resultDims + ">}) {\n" + casts + "%e = tensor.empty(" + sizes +
           ") : " + tensor + "\n%r = linalg.generic {indexing_maps = [affine_map<(" + dimensions + ") -> (" + read +
           ")>, affine_map<(" + dimensions + ") -> (" + dimensions + ")>], iterator_types = [" + order +
           "]} ins(%a : " + tensor + ") outs(%e : " + tensor + ") {\n^bb0(%x: " + element + ", %o: " + element +
           "):\nlinalg.yield %x : " + element + "\n} -> " + tensor + "\nreturn %r : " + tensor + "\n}\n";
  }
  std::vector<Plan> plansOf(const std::string &text) {
    kernel_ = KernelFunction::read(parseFunction(text));
    EXPECT_TRUE(mlir::succeeded(kernel_)) << messages_;
    const GroupShape shape = GroupShape::of(*kernel_);
    for (const Strategy *each : strategies())
      if (std::vector<Plan> plans = each->plans(*kernel_, shape); !plans.empty())
        return plans;
    return {};
  }
  mlir::FailureOr<KernelFunction> kernel_ = mlir::failure();
};

TEST_F(PlanTest, AGuardKnowsLengthsAndWhatTheyAreAMultipleOf) {
  const Guard guard{{}, 8, 64, /*orEmpty=*/false, 4, 8};
  EXPECT_TRUE(guard.holdsFor(12));
  EXPECT_TRUE(guard.holdsFor(60));
  EXPECT_FALSE(guard.holdsFor(4));
  EXPECT_FALSE(guard.holdsFor(16));
  EXPECT_FALSE(guard.holdsFor(14));
  EXPECT_FALSE(guard.holdsFor(68));
  EXPECT_FALSE(guard.holdsFor(0));
  EXPECT_TRUE((Guard{{}, 8, {}, /*orEmpty=*/true, 4, 8}.holdsFor(0)));
}

TEST_F(PlanTest, RowsOfUnknownLengthHaveAKernelForEachMultiple) {
  for (auto [element, multiples] :
       {std::pair("f32", std::vector<int64_t>{4, 2, 0}), {"bf16", {8, 4, 0}}, {"f64", {2, 0}}}) {
    const std::vector<Plan> plans = plansOf(copy("i, j, k", element, "j, i, k", "102"));
    ASSERT_EQ(plans.size(), multiples.size()) << element;
    for (size_t i = 0; i < plans.size(); ++i) {
      EXPECT_EQ(plans[i].strategy, "elementwise");
      EXPECT_EQ(plans[i].choice("multiple"), multiples[i]);
    }
    for (int64_t row = 1; row < 40; ++row)
      EXPECT_EQ(llvm::count_if(plans, [&](const Plan &plan) { return plan.guards[0].holdsFor(row); }), 1) << row;
  }
  EXPECT_EQ(plansOf(copy("i, j", "f32", "i, j", "01")).size(), 1u) << "of one axis it is all the same";
}

TEST_F(PlanTest, TransposesOfUnknownSizeHaveAKernelForEachSizeOfTiles) {
  for (auto [element, kernels] : {std::pair("f32", 2u), {"bf16", 3u}}) {
    const std::vector<Plan> all = plansOf(copy("i, j", element, "j, i", "10"));
    ASSERT_EQ(all.size(), kernels + 6) << "and those of short axes";
    // Of what is not long along the other axis either, tiles are no longer than that.
    auto elementsOf = [&](llvm::ArrayRef<int64_t> sizes) {
      auto holds = [&](const Guard &guard) {
        int64_t length = 1;
        for (const Extent &extent : guard.length)
          length *= sizes[*argumentOf(extent.value)];
        return guard.holdsFor(length);
      };
      const auto runs = llvm::find_if(all, [&](const Plan &plan) { return llvm::all_of(plan.guards, holds); });
      return runs == all.end() ? 0 : runs->choice("written") * runs->choice("read");
    };
    EXPECT_EQ(elementsOf({100, 10}), 16 * 128);
    EXPECT_EQ(elementsOf({10, 100}), 16 * 128);
    EXPECT_GT(elementsOf({10, 1000}), 16 * 128);
    EXPECT_GT(elementsOf({1000, 10}), 16 * 128);
    const llvm::ArrayRef<Plan> plans = llvm::ArrayRef(all).take_front(kernels);
    int64_t least = INT64_MAX;
    for (const Plan &plan : plans) {
      EXPECT_EQ(plan.strategy, "transpose");
      EXPECT_LT(plan.choice("written") * plan.choice("read"), least);
      least = plan.choice("written") * plan.choice("read");
    }
    EXPECT_EQ(least, 1024);
    for (int64_t elements : {1, 1000, 1 << 18, (1 << 20) - 1, 1 << 20, 1 << 22, 1 << 30})
      EXPECT_EQ(llvm::count_if(plans, [&](const Plan &plan) { return plan.guards[0].holdsFor(elements); }), 1)
          << elements;
  }
}

} // namespace
} // namespace tenon::compiler::codegen
