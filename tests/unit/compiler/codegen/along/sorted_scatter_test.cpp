// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorted_scatter.h"

#include "tests/unit/compiler/codegen/along/plans.h"

namespace tenon::compiler::codegen {
namespace {

class SortedScatterTest : public AlongTest {
protected:
  AlongPlans plansFor(const std::string &count, const std::string &width, const std::string &type,
                      const std::string &body) {
    const std::string slice = (width.empty() ? "" : width + "x") + type;
    const std::string updates = "tensor<" + count + "x" + slice + ">", whole = "tensor<100x" + slice + ">",
                      indices = "tensor<" + count + "x1xi64>", keys = "tensor<" + count + "xi16>",
                      numbers = "tensor<" + count + "xi32>";
    // Of one argument more than read() has names for: what is scattered into is an empty tensor.
    return plansOf({updates, indices, keys, numbers},
                   "scatter {tenon.sorted} dimension_map = [0] unique_indices(false) ins(%x, %y, %z, %w : " + updates +
                       ", " + indices + ", " + keys + ", " + numbers + ") outs(%o : " + whole + ") {\n^bb0(%a: " +
                       type + ", %b: " + type + "):\n" + body + "\niree_linalg_ext.yield %s : " + type + "\n}",
                   {whole}, "%o = tensor.empty() : " + whole);
  }
};

TEST_F(SortedScatterTest, SumsAreTakenInTilesAndThenAcrossThem) {
  AlongPlans plans = plansFor("1048576", "64", "bf16", "%s = arith.addf %a, %b : bf16");
  ASSERT_EQ(plans.kernels.size(), 3u); // behind the copy
  EXPECT_EQ(choice(plans.kernels[1], "sorted"), 1);
  EXPECT_EQ(choice(plans.kernels[2], "sorted"), 2);
  EXPECT_EQ(choice(plans.kernels[1], "lanes"), 64);
  EXPECT_EQ(choice(plans.kernels[1], "places"), 128); // 2^26 / 2^19
  // What a tile leaves is kept in f32; the first tile leaves nothing.
  ASSERT_EQ(plans.scratch.size(), 1u);
  EXPECT_TRUE(plans.scratch[0].element.isF32());
  EXPECT_EQ(plans.scratch[0].share, 128);
}

TEST_F(SortedScatterTest, TilesAreSmallWhereThreadsAreFew) {
  EXPECT_EQ(choice(plansFor("10000", "1", "f32", "%s = arith.addf %a, %b : f32").kernels[1], "places"), 8);
  EXPECT_EQ(choice(plansFor("10000", "", "f32", "%s = arith.addf %a, %b : f32").kernels[1], "lanes"), 1);
  EXPECT_EQ(choice(plansFor("10000", "3", "f32", "%s = arith.addf %a, %b : f32").kernels[1], "lanes"), 4);
  EXPECT_EQ(choice(plansFor("10000", "5000", "f32", "%s = arith.addf %a, %b : f32").kernels[1], "lanes"), 256);
}

TEST_F(SortedScatterTest, TheLastOfEachRunIsStored) {
  AlongPlans plans = plansFor("10000", "5", "f32", "%s = arith.negf %a : f32");
  ASSERT_EQ(plans.kernels.size(), 2u);
  EXPECT_EQ(choice(plans.kernels[1], "sorted"), 3);
  EXPECT_EQ(choice(plans.kernels[1], "places"), 1);
  EXPECT_TRUE(plans.scratch.empty());
  emit(plans.kernels[1]);
}

} // namespace
} // namespace tenon::compiler::codegen
