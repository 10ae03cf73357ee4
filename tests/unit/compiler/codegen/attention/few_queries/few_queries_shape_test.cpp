// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many blocks share the keys of few queries, and which kernels those are.
#include "compiler/codegen/attention/few_queries/few_queries_shape.h"

#include "compiler/codegen/attention/few_queries/key_parts.h"
#include "compiler/codegen/attention/few_queries/key_ring.h"
#include "compiler/codegen/attention/few_queries/slice_sums.h"
#include "compiler/codegen/strategies/products/attention.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"
#include "tests/unit/compiler/codegen/attention/attention_kernel_test.h"

namespace tenon::compiler::codegen {
namespace {

class FewQueriesShapeTest : public AttentionKernelTest {
protected:
  /// @param keys "?": the kernel's argument says how many
  /// @param values "": their columns are as many as the depth; "of keys": they are the keys; else their number
  void read(const std::string &batch, const std::string &rows, const std::string &keys,
            const std::string &depth = "128", const std::string &values = "") {
    const std::string text = R"mlir(
MAPS
func.func @k(%count: i64, %q: tensor<BxMxDxf16>, %k: tensor<BxNxDxf16> DIMS, %v: tensor<BxNxExf16> DIMS) -> tensor<BxMxExf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.index_cast %count : i64 to index
  %es = tensor.empty(SIZE) : tensor<BxMxNxf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<BxMxNxf32>) -> tensor<BxMxNxf32>
  %eo = tensor.empty() : tensor<BxMxExf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<BxMxExf32>) -> tensor<BxMxExf32>
  %0 = linalg.generic {indexing_maps = [#bmk, #bnk, #bmn], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<BxMxDxf16>, tensor<BxNxDxf16>) outs(%fs : tensor<BxMxNxf32>) {
    MULTIPLY
  } -> tensor<BxMxNxf32>
  %1 = linalg.softmax dimension(2) ins(%0 : tensor<BxMxNxf32>) outs(%es : tensor<BxMxNxf32>) -> tensor<BxMxNxf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%1, VALUES : tensor<BxMxNxf32>, tensor<BxNxExf16>) outs(%fo : tensor<BxMxExf32>) {
    WEIGH
  } -> tensor<BxMxExf32>
  return %2 : tensor<BxMxExf32>
}
)mlir";
    const bool isKnown = keys != "?", areKeys = values == "of keys";
    const std::string columns = values.empty() || areKeys ? depth : values;
    readKernel(text, {{"DIMS", isKnown ? "" : "{tenon.dims = array<i64: 0>}"},
                      {"(SIZE)", isKnown ? "()" : "(%n)"},
                      {"VALUES", areKeys ? "%k" : "%v"},
                      {"<BxMxN", "<" + batch + "x" + rows + "x" + keys},
                      {"<BxMxD", "<" + batch + "x" + rows + "x" + depth},
                      {"<BxMxE", "<" + batch + "x" + rows + "x" + columns},
                      {"<BxNxD", "<" + batch + "x" + keys + "x" + depth},
                      {"<BxNxE", "<" + batch + "x" + keys + "x" + columns}});
  }
  /// Of a program for sm_90a alone.
  FewQueriesShape onHopper(const std::string &batch, const std::string &rows, const std::string &keys,
                           const std::string &depth, const std::string &values = "") {
    read(batch, rows, keys, depth, values);
    kernel_->function->setAttr(dispatch::kHopperOnlyAttr, mlir::UnitAttr::get(kernel_->function->getContext()));
    const auto shape = FewQueriesShape::of(*shape_, *attention_);
    EXPECT_TRUE(shape.has_value());
    return *shape;
  }
  std::vector<KeySharing> sharings() {
    const auto shape = FewQueriesShape::of(*shape_, *attention_);
    EXPECT_TRUE(shape.has_value());
    const auto found = shape->sharings(*shape_, *attention_);
    return {found.begin(), found.end()};
  }
};

TEST_F(FewQueriesShapeTest, SharesFewKeysInClusters) {
  read("8", "4", "1024");
  const auto found = sharings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].cluster, 8u);
  EXPECT_EQ(found[0].parts, 1u);
}

TEST_F(FewQueriesShapeTest, FillsTheDeviceWithPartsOfManyKeys) {
  for (const char *batch : {"1", "3", "8", "32"}) {
    read(batch, "4", "65536");
    const auto found = sharings();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].cluster, 1u);
    const uint32_t blocks = uint32_t(std::stoi(batch)) * found[0].parts;
    EXPECT_GE(blocks, 116u) << batch;
    EXPECT_LE(blocks, 132u) << batch;
  }
}

TEST_F(FewQueriesShapeTest, LeavesManyTilesAlone) {
  read("1024", "4", "4096");
  const auto found = sharings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].cluster * found[0].parts, 1u);
}

TEST_F(FewQueriesShapeTest, HasBlocksOfTwoWarpsWhereTheyFillTheDevice) {
  auto of = [&](const std::string &batch, const std::string &rows, const std::string &depth) {
    read(batch, rows, "1024", depth);
    const auto shape = FewQueriesShape::of(*shape_, *attention_);
    EXPECT_TRUE(shape.has_value());
    return shape.value_or(FewQueriesShape());
  };
  EXPECT_EQ(of("527", "4", "128").warps, 4u);
  const FewQueriesShape two = of("528", "4", "128");
  EXPECT_EQ(two.warps, 2u);
  EXPECT_EQ(two.resident(), 4u);
  EXPECT_EQ(two.slices(), 2u);
  EXPECT_EQ(of("800", "4", "128").warps, 4u); // of the last round half would be idle
  EXPECT_EQ(of("1024", "4", "128").warps, 2u);
  EXPECT_EQ(of("2048", "4", "128").warps, 2u);
  EXPECT_EQ(of("528", "16", "128").warps, 4u); // sums of more rows fill shared memory
  EXPECT_EQ(of("528", "4", "64").warps, 4u);   // two blocks of these have one's registers
}

TEST_F(FewQueriesShapeTest, ChoosesWhenTheProgramRunsWhereItDoesNotKnow) {
  read("8", "4", "?");
  const auto found = sharings();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_GT(found[0].cluster, 1u);
  EXPECT_EQ(found[0].parts, 1u);
  EXPECT_GT(found[1].parts, 8u);
  EXPECT_EQ(found[0].above, 0);
  EXPECT_EQ(found[0].most, found[1].above);
  EXPECT_FALSE(found[1].most.has_value());

  const std::vector<Plan> plans = AttentionStrategy().plans(*kernel_, *shape_);
  ASSERT_EQ(plans.size(), 3u); // clusters; parts, and what adds them up
  EXPECT_TRUE(plans[0].guards.front().holdsFor(0));
  for (int64_t keys : {int64_t(1), *found[0].most, *found[0].most + 1, int64_t(100000)}) {
    EXPECT_NE(plans[0].guards.front().holdsFor(keys), plans[1].guards.front().holdsFor(keys));
    EXPECT_EQ(plans[1].guards.front().holdsFor(keys), plans[2].guards.front().holdsFor(keys));
  }
  EXPECT_EQ(plans[1].choice(kKeyParts), found[1].parts);
  EXPECT_EQ(plans[2].choice(kAddsParts), found[1].parts);
  ASSERT_EQ(plans[0].scratch.size(), 1u); // the first plan's is all of them's
  EXPECT_EQ(plans[0].scratch.front().extents.front().size, int64_t(8 * 4 * (128 + 4)) * found[1].parts);
}

TEST_F(FewQueriesShapeTest, TakesGroupsOfQueries) {
  read("1", "33", "8192", "64");
  const auto shape = FewQueriesShape::of(*shape_, *attention_);
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->groups(), 3u);
  EXPECT_EQ(shape->rowsOfGroup(), 16u);
  EXPECT_GT(sharings().front().parts, 8u);
  EXPECT_EQ(keyPartsElements(*shape, 2, 5), 2 * 3 * 5 * 16 * (64 + 4));
  for (auto [batch, rows, keys] : {std::tuple{"1", "33", "512"}, // of few keys, or many tiles, tiles of 64 rows
                                   {"65", "33", "8192"},
                                   {"26", "71", "8192"},
                                   {"1", "129", "8192"}}) {
    read(batch, rows, keys, "64");
    EXPECT_FALSE(FewQueriesShape::of(*shape_, *attention_).has_value()) << batch << " " << rows << " " << keys;
  }
  read("25", "71", "8192", "64");
  EXPECT_TRUE(FewQueriesShape::of(*shape_, *attention_).has_value());
}

TEST_F(FewQueriesShapeTest, HasNoMoreTilesThanItsBlocksKnow) {
  for (const char *rows : {"64", "65", "128"}) {
    read("3", rows, "8192", "64");
    EXPECT_EQ(AttentionStrategy().plan(*kernel_, *shape_)->choice("rows"), std::stoi(rows) <= 64 ? 64 : 128) << rows;
  }
}

TEST_F(FewQueriesShapeTest, ReadsDepthsThatStepsAreNotWholeOf) {
  read("8", "4", "8192", "80");
  auto shape = FewQueriesShape::of(*shape_, *attention_);
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->wholeDepth(), 96u);
  EXPECT_EQ(shape->wholeColumns(), 128u);
  read("8", "4", "8192", "84"); // no whole vectors
  EXPECT_FALSE(FewQueriesShape::of(*shape_, *attention_).has_value());
  // Of many columns a warp has eight rows.
  read("8", "12", "8192", "256");
  shape = FewQueriesShape::of(*shape_, *attention_);
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->eights(), 1u);
  EXPECT_EQ(shape->groups(), 2u);
  EXPECT_FALSE(shape->isWide);
  read("8", "12", "8192", "264");
  shape = FewQueriesShape::of(*shape_, *attention_);
  ASSERT_TRUE(shape.has_value());
  EXPECT_TRUE(shape->isWide);
}

TEST_F(FewQueriesShapeTest, HasStepsOnTheirWayAsRegistersHold) {
  auto registersOf = [&](const char *depth, uint32_t bytes) { return uint32_t(std::stoi(depth)) * bytes; };
  for (auto [depth, bytes, ahead] : {std::tuple{"64", 1u, 2u}, {"64", 2u, 1u}, {"128", 2u, 1u}, {"256", 2u, 0u}}) {
    read("8", "4", "65536", depth);
    // A lane has a thirty-second of 16 keys and values, four bytes to a register.
    EXPECT_EQ(FewQueriesShape::of(*shape_, *attention_)->ahead(registersOf(depth, bytes) / 4), ahead) << depth;
  }
}

TEST_F(FewQueriesShapeTest, HasTwoBlocksOfFewRegistersAtOnce) {
  read("8", "4", "65536", "64");
  EXPECT_EQ(FewQueriesShape::of(*shape_, *attention_)->resident(), 2u);
  read("8", "4", "65536", "128");
  EXPECT_EQ(FewQueriesShape::of(*shape_, *attention_)->resident(), 1u);
  read("8", "16", "65536", "128");
  EXPECT_EQ(FewQueriesShape::of(*shape_, *attention_)->resident(), 2u);
}

TEST_F(FewQueriesShapeTest, SharesKeysOfGroupsOnHopperAlone) {
  read("1", "32", "8192");
  EXPECT_FALSE(FewQueriesShape::of(*shape_, *attention_)->isShared());
  // Groups of no rows would be multiplied, too.
  for (auto [rows, depth, sharing] : {std::tuple{"4", "128", 0u}, // a step for each part
                                      {"5", "128", 1u},
                                      {"16", "128", 1u},
                                      {"17", "128", 2u},
                                      {"33", "128", 1u},
                                      {"64", "128", 4u},
                                      {"71", "64", 1u},
                                      {"128", "64", 4u},
                                      {"8", "256", 0u},
                                      {"12", "256", 2u}}) // steps of eight slices fit once
    EXPECT_EQ(onHopper("1", rows, "8192", depth).sharing, sharing) << rows << " " << depth;
  EXPECT_TRUE(onHopper("32", "8", "8192", "128").isShared());
  EXPECT_FALSE(onHopper("33", "8", "8192", "128").isShared());
}

TEST_F(FewQueriesShapeTest, SharesKeysOfFewRowsWherePartsHaveManySteps) {
  for (auto [batch, rows, keys, isShared] : {std::tuple{"8", "4", "8192", true},
                                             {"8", "4", "65536", true},
                                             {"32", "1", "8192", true},
                                             {"8", "4", "5000", false}, // no more steps than are on their way at once
                                             {"8", "4", "4096", false},
                                             {"128", "4", "8192", false}}) {
    EXPECT_EQ(onHopper(batch, rows, keys, "128").isShared(), isShared) << batch << " " << keys;
    read(batch, rows, keys);
    EXPECT_FALSE(FewQueriesShape::of(*shape_, *attention_)->isShared()) << batch << " " << keys;
  }
}

TEST_F(FewQueriesShapeTest, HasBlocksOfFourWarpsWhereTheyAskForAllKeysAtOnce) {
  for (auto [batch, keys, warps, cluster] : {std::tuple{"8", "1024", 4u, 8u},
                                             {"8", "1025", 8u, 8u},
                                             {"8", "2048", 8u, 8u},
                                             {"8", "100", 4u, 1u},
                                             {"128", "1024", 8u, 1u}}) {
    read(batch, "4", keys);
    EXPECT_EQ(FewQueriesShape::of(*shape_, *attention_)->warps, warps) << batch << " " << keys;
    EXPECT_EQ(sharings().front().cluster, cluster) << batch << " " << keys;
  }
}

TEST_F(FewQueriesShapeTest, SaysWhereBlocksMayBeLaunchedEarly) {
  read("8", "4", "16384", "128");
  EXPECT_EQ(AttentionStrategy().plans(*kernel_, *shape_).front().choice(kOneBlock), 1);
  // Two of them crowd on a multiprocessor, or they have much to read.
  for (auto [keys, depth] : {std::tuple{"16384", "64"}, {"65536", "128"}}) {
    read("8", "4", keys, depth);
    const std::vector<Plan> plans = AttentionStrategy().plans(*kernel_, *shape_);
    ASSERT_EQ(plans.size(), 2u);
    for (const Plan &plan : plans)
      EXPECT_TRUE(llvm::none_of(plan.choices, [](const auto &choice) { return choice.first == kOneBlock; })) << keys;
  }
}

TEST_F(FewQueriesShapeTest, HasSharedStepsThatFit) {
  constexpr uint32_t kShared = 227 << 10;
  for (const char *rows : {"5", "16", "17", "32", "64", "128"})
    for (const char *depth : {"8", "64", "80", "128"}) {
      const FewQueriesShape shape = onHopper("1", rows, "8192", depth);
      ASSERT_TRUE(shape.isShared());
      EXPECT_EQ(shape.slices() * shape.sharing, shape.warps);
      EXPECT_EQ(shape.stepKeys(), 16 * shape.sixteens * shape.slices());
      EXPECT_GE(shape.stages(), 3u);
      const uint32_t ofCluster = shape.rowsOfBlock() * (shape.wholeColumns() + 8 * 2) * 4,
                     states = 2 * shape.slices() * shape.blockRows() * 4;
      EXPECT_LE(KeyRing::bytes(shape) + ofCluster + states + 64, kShared) << rows << " " << depth;
      EXPECT_GE(KeyRing::bytes(shape), SliceSums::bytes(shape));
      if (shape.rows > FewQueriesShape::kRows)
        continue; // warpgroups have the tiles, in parts
      const std::vector<Plan> plans = AttentionStrategy().plans(*kernel_, *shape_);
      EXPECT_EQ(plans.front().dynamicSharedBytes, KeyRing::bytes(shape));
      if (plans.size() > 1) {
        // The kernel that adds parts up: as much, or what it uses.
        const uint32_t split = keyPartsSplit(shape, 1), used = 8 * (shape.wholeColumns() / split + 2) * 4;
        const bool isOneRound = shape.groups() * shape.rowsOfBlock() * split <= 132;
        EXPECT_EQ(plans.back().dynamicSharedBytes, isOneRound ? KeyRing::bytes(shape) : used) << rows << " " << depth;
      }
    }
}

TEST_F(FewQueriesShapeTest, SharesColumnsAmongWarpsOfWideRows) {
  for (const char *rows : {"1", "16", "128"}) { // a program for other targets, too
    read("1", rows, "8192", "576", "512");      // of which no two steps fit
    EXPECT_FALSE(FewQueriesShape::of(*shape_, *attention_).has_value());
    read("1", rows, "8192", "320", "264");
    const auto shape = FewQueriesShape::of(*shape_, *attention_);
    ASSERT_TRUE(shape.has_value());
    EXPECT_TRUE(shape->isWide && shape->isPortable && !shape->isInGroups);
    EXPECT_GE(shape->stages(), 2u);
    EXPECT_LE(KeyRing::bytes(*shape), (99u - 8) << 10);
    EXPECT_GE(shape->stepKeys(), 32u);
  }
  for (auto [rows, blockRows, groups] : {std::tuple{"1", 8u, 1u}, {"9", 16u, 1u}, {"17", 64u, 1u}, {"128", 64u, 2u}}) {
    const FewQueriesShape shape = onHopper("1", rows, "8192", "576", "512");
    EXPECT_TRUE(shape.isWide && !shape.valuesAreKeys);
    EXPECT_EQ(shape.isInGroups, blockRows == 64) << rows;
    EXPECT_EQ(shape.blockRows(), blockRows) << rows;
    EXPECT_EQ(shape.groups(), groups) << rows;
    EXPECT_EQ(shape.wholeColumns() % (16 * shape.warps), 0u);
    EXPECT_GE(shape.stages(), shape.isInGroups ? 2u : 3u);
    EXPECT_LE(KeyRing::bytes(shape), (227u - 8) << 10);
    EXPECT_EQ(sharings().front().cluster, 1u);
    const std::vector<Plan> plans = AttentionStrategy().plans(*kernel_, *shape_);
    EXPECT_EQ(plans.front().choice("columns"), 512);
    EXPECT_EQ(plans.front().dynamicSharedBytes, shape.stages() * shape.stageBytes() + shape.queryBytes());
  }
  // Queries of 64 rows leave no place for steps: warps multiply.
  const FewQueriesShape deep = onHopper("1", "33", "8192", "640", "512");
  EXPECT_FALSE(deep.isInGroups);
  EXPECT_EQ(deep.blockRows(), 32u);
  // Each thread of the kernel that adds parts up has one column.
  EXPECT_GE(keyPartsSplit(onHopper("64", "128", "8192", "576", "512"), 64), 2u);
  EXPECT_EQ(onHopper("1", "16", "8192", "320", "264").wholeColumns(), 384u);
  read("1", "16", "8192", "648", "512");
  EXPECT_FALSE(FewQueriesShape::of(*shape_, *attention_).has_value());
}

TEST_F(FewQueriesShapeTest, BringsValuesOnceThatAreKeys) {
  const FewQueriesShape apart = onHopper("1", "16", "8192", "512"),
                        same = onHopper("1", "16", "8192", "512", "of keys");
  EXPECT_FALSE(apart.valuesAreKeys);
  EXPECT_TRUE(same.valuesAreKeys);
  EXPECT_EQ(same.stageBytes() / same.stepKeys(), apart.stageBytes() / apart.stepKeys() / 2);
  // A warp that has all columns of a row reads them as any others.
  EXPECT_FALSE(onHopper("1", "16", "8192", "128", "of keys").valuesAreKeys);
}

TEST_F(FewQueriesShapeTest, SharesColumnsOfFewRows) {
  read("1", "4", "65536");
  EXPECT_EQ(keyPartsSplit(*FewQueriesShape::of(*shape_, *attention_), 1), 4u); // 32 columns of each
  EXPECT_EQ(keyPartsSplit(*FewQueriesShape::of(*shape_, *attention_), 33), 2u);
  EXPECT_EQ(keyPartsSplit(*FewQueriesShape::of(*shape_, *attention_), 67), 1u);
  read("1", "4", "65536", "192");
  EXPECT_EQ(keyPartsSplit(*FewQueriesShape::of(*shape_, *attention_), 1), 2u);
}

} // namespace
} // namespace tenon::compiler::codegen
