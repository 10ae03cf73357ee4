// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/scan.h"

#include "tests/unit/compiler/codegen/along/plans.h"

namespace tenon::compiler::codegen {
namespace {

class ScanTest : public AlongTest {
protected:
  AlongPlans scan(const std::string &tensor, const std::string &rows, int dimension, const std::string &type = "f32",
                  const std::string &operation = "arith.addf") {
    return plansOf({tensor, rows},
                   "scan dimension(" + std::to_string(dimension) + ") inclusive(true) ins(%x : " + tensor +
                       ") outs(%x, %y : " + tensor + ", " + rows + ") {\n^bb0(%a: " + type + ", %b: " + type +
                       "):\n%s = " + operation + " %a, %b : " + type + "\niree_linalg_ext.yield %s : " + type + "\n}",
                   {tensor, rows});
  }
};

TEST_F(ScanTest, AWarpScansAShortLineAndABlockALongerOne) {
  AlongPlans plans = scan("tensor<9999x100xf32>", "tensor<9999xf32>", 1);
  ASSERT_EQ(plans.kernels.size(), 1u);
  EXPECT_EQ(choice(plans.kernels[0], "lanes"), 32);
  EXPECT_EQ(plans.kernels[0].grid[0].perBlock, 8);
  plans = scan("tensor<9999x4000xf32>", "tensor<9999xf32>", 1);
  ASSERT_EQ(plans.kernels.size(), 1u);
  EXPECT_EQ(choice(plans.kernels[0], "lanes"), 256);
  EXPECT_TRUE(plans.scratch.empty());
}

TEST_F(ScanTest, FewLongLinesAreCut) {
  AlongPlans plans = scan("tensor<4x1000000xf16>", "tensor<4xf16>", 1, "f16");
  ASSERT_EQ(plans.kernels.size(), 2u);
  EXPECT_EQ(choice(plans.kernels[0], "pass"), 1);
  EXPECT_EQ(choice(plans.kernels[1], "pass"), 2);
  ASSERT_EQ(plans.scratch.size(), 1u);
  EXPECT_TRUE(plans.scratch[0].element.isF32()); // sums of f16 are kept in f32
  EXPECT_EQ(plans.scratch[0].extents.back().size, choice(plans.kernels[0], "parts"));
}

TEST_F(ScanTest, UnknownLengthsHaveGuardsThatLeaveNoneOut) {
  AlongPlans plans = scan("tensor<?xf32>", "tensor<f32>", 0);
  ASSERT_EQ(plans.kernels.size(), 7u);
  EXPECT_TRUE(plans.kernels[0].guards[0].orEmpty);
  for (size_t i : {1, 2, 3, 5})
    EXPECT_EQ(plans.kernels[i].guards[0].above, *plans.kernels[i - 1].guards[0].most);
  for (size_t i : {4, 6}) { // both kernels of a line in parts
    EXPECT_EQ(plans.kernels[i].guards[0].above, plans.kernels[i - 1].guards[0].above);
    EXPECT_EQ(choice(plans.kernels[i], "parts"), choice(plans.kernels[i - 1], "parts"));
  }
  EXPECT_FALSE(plans.kernels[6].guards[0].most.has_value());
}

TEST_F(ScanTest, LinesThatWouldLeaveMultiprocessorsIdleAreCutIntoSmallTiles) {
  auto cut = [&](const std::string &lines, const std::string &length) {
    AlongPlans plans = scan("tensor<" + lines + "x" + length + "xf32>", "tensor<" + lines + "xf32>", 1);
    const bool isCut = plans.kernels.size() == 2;
    EXPECT_EQ(plans.scratch.size(), isCut ? 1U : 0U);
    return isCut ? std::pair(choice(plans.kernels[0], "parts"), choice(plans.kernels[0], "chunks"))
                 : std::pair(int64_t(1), int64_t(0));
  };
  EXPECT_EQ(cut("1", "16384"), std::pair(int64_t(16), int64_t(1)));
  EXPECT_EQ(cut("32", "8192"), std::pair(int64_t(8), int64_t(1)));
  EXPECT_EQ(cut("1", "8191").first, 1);
  EXPECT_EQ(cut("33", "16384").first, 1);
  EXPECT_EQ(cut("1", "262144"), std::pair(int64_t(256), int64_t(1)));
  EXPECT_EQ(cut("1", "4194304"), std::pair(int64_t(512), int64_t(4)));
}

TEST_F(ScanTest, PartsOfFewLinesHavePlacesInScratchMemory) {
  for (int64_t lines : {1, 2, 7, 31, 32, 33, 200}) {
    const std::string number = std::to_string(lines);
    AlongPlans plans = scan("tensor<" + number + "x?xf32>", "tensor<" + number + "xf32>", 1);
    ASSERT_EQ(plans.scratch.size(), 1u);
    for (const Plan &plan : plans.kernels)
      EXPECT_LE(choice(plan, "parts"), plans.scratch[0].extents.back().size) << lines;
  }
}

TEST_F(ScanTest, UnknownNumbersOfLinesAreCutByWhatTheyAre) {
  // One kernel or both of a cut run, of any number of lines and any length.
  for (auto [tensor, rows, dimension, long_] : {std::tuple("tensor<?x?xf32>", "tensor<?xf32>", 1, int64_t(1) << 20),
                                                {"tensor<?x?xf32>", "tensor<?xf32>", 0, int64_t(1) << 20},
                                                {"tensor<1000000x?xf32>", "tensor<?xf32>", 0, int64_t(0)}}) {
    AlongPlans plans = scan(tensor, rows, dimension);
    ASSERT_EQ(plans.scratch.size(), 1u);
    for (int64_t lines : {1, 4, 5, 33, 64, 65, 255, 257, 2000, 100000})
      for (int64_t length : {int64_t(1), int64_t(2049), int64_t(40000), long_}) {
        int64_t runs = 0, parts = 0;
        for (const Plan &plan : plans.kernels) {
          // The first of several guards is about lines; of one, so it is where lengths are known.
          const bool isFirst = plan.guards.size() > 1 || tensor[7] != '?';
          bool isRun = true;
          for (auto [number, guard] : llvm::enumerate(plan.guards))
            isRun &= guard.holdsFor(number == 0 && isFirst ? lines : length);
          if (!isRun)
            continue;
          ++runs;
          parts = std::max(parts, choice(plan, "parts"));
        }
        EXPECT_EQ(runs, parts > 1 ? 2 : 1) << tensor << " " << lines << " lines of " << length;
        EXPECT_LE(lines * std::max<int64_t>(parts, 0), *plans.scratch[0].most);
      }
  }
}

TEST_F(ScanTest, ThreadsWalkDownColumnsAndRunWhatIsNotAssociative) {
  AlongPlans plans = scan("tensor<100x99999xf32>", "tensor<99999xf32>", 0);
  ASSERT_EQ(plans.kernels.size(), 1u);
  EXPECT_EQ(choice(plans.kernels[0], "lanes"), 1);
  plans = scan("tensor<4x1000000xf32>", "tensor<4xf32>", 1, "f32", "arith.subf");
  ASSERT_EQ(plans.kernels.size(), 1u);
  EXPECT_EQ(choice(plans.kernels[0], "lanes"), 1);
  plans = scan("tensor<100000x3xf32>", "tensor<3xf32>", 0);
  EXPECT_EQ(plans.kernels.size(), 2u); // few columns: in parts
}

} // namespace
} // namespace tenon::compiler::codegen
