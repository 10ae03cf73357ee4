// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/read_places.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class ReadPlaces : public KernelTextTest {
protected:
  /// An operation over 6 x ? places, whose second last operation computes %p.
  mlir::linalg::GenericOp reading(const std::string &place) {
    return firstGeneric(R"mlir(
    func.func @f(%q: tensor<6x?xi64>, %e: tensor<6x?xindex>) -> tensor<6x?xindex> {
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]} ins(%q : tensor<6x?xi64>) outs(%e : tensor<6x?xindex>) {
        ^bb0(%x: i64, %o: index):
          %i = linalg.index 0 : index
          %j = linalg.index 1 : index
          )mlir" + place +
                        R"mlir(
          linalg.yield %p : index
      } -> tensor<6x?xindex>
      return %0 : tensor<6x?xindex>
    })mlir");
  }
  ReadPlace placeIn(const std::string &place, int64_t size) {
    mlir::linalg::GenericOp op = reading(place);
    return placeOf(op.getBody()->getTerminator()->getOperand(0), size, op);
  }
};

TEST_F(ReadPlaces, ALoopOfKnownLengthSaysWhetherItStaysInside) {
  const char *next = "%p = arith.addi %i, %c1 : index";
  EXPECT_EQ(placeIn(next, 7), ReadPlace::Inside);
  EXPECT_EQ(placeIn(next, 6), ReadPlace::OfLoops) << "1 to 6 of six";
  EXPECT_EQ(placeIn("%p = arith.subi %i, %c1 : index", 7), ReadPlace::OfLoops) << "-1";
}

TEST_F(ReadPlaces, ALoopOfUnknownLengthMayGoAnywhereItLikes) {
  EXPECT_EQ(placeIn("%p = arith.addi %j, %c1 : index", 7), ReadPlace::OfLoops);
  EXPECT_EQ(placeIn("%p = arith.muli %i, %c2 : index", 7), ReadPlace::OfLoops) << "nobody multiplies ranges";
}

TEST_F(ReadPlaces, WhatIsReadFromMemoryMayBeAnything) {
  EXPECT_EQ(placeIn("%p = arith.index_cast %x : i64 to index", 7), ReadPlace::Anywhere);
}

TEST_F(ReadPlaces, AnApplyIsComputedOfWhatItsMapLooksAt) {
  mlir::linalg::GenericOp op = reading("%p = affine.apply affine_map<(i, j) -> (j - 1)>(%i, %j)");
  const ReadSources sources(op.getBody()->getTerminator()->getOperand(0), op);
  EXPECT_FALSE(sources.loops.contains(0));
  EXPECT_TRUE(sources.loops.contains(1));
  EXPECT_FALSE(sources.hasElements);
}

} // namespace
} // namespace tenon::compiler::dispatch
