// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/reads/device_scalars.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

/// A row is written where a number on the device says, brought inside of the tensor. `made`: how the number comes to be
/// %p; `more`: who else looks at %place.
std::string writtenAt(const std::string &made, const std::string &more = "") {
  return R"mlir(
func.func @f(%x: tensor<9x4xf32>, %row: tensor<4xf32>, %given: tensor<i32>, %shift: tensor<i32>, %host: index) -> tensor<9x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
)mlir" + made +
         R"mlir(
  %n = tensor.extract %p[] : tensor<i32>
  %i = arith.index_cast %n : i32 to index
  %j = arith.addi %i, %host : index
  %low = arith.maxsi %j, %c0 : index
  %place = arith.minsi %low, %c8 : index
)mlir" + more +
         R"mlir(
  %e = tensor.empty() : tensor<9x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %row : tensor<9x4xf32>, tensor<4xf32>) outs(%e : tensor<9x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %k = linalg.index 0 : index
      %here = arith.cmpi eq, %k, %place : index
      %s = arith.select %here, %b, %a : f32
      linalg.yield %s : f32
  } -> tensor<9x4xf32>
  return %r : tensor<9x4xf32>
}
)mlir";
}

const char kGiven[] = "%p = tensor.cast %given : tensor<i32> to tensor<i32>";
const char kComputed[] = R"mlir(
  %ep = tensor.empty() : tensor<i32>
  %p = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%given, %shift : tensor<i32>, tensor<i32>) outs(%ep : tensor<i32>) {
    ^bb0(%a: i32, %b: i32, %o: i32):
      %s = arith.addi %a, %b : i32
      linalg.yield %s : i32
  } -> tensor<i32>)mlir";

class DeviceScalarsTest : public KernelTextTest {
protected:
  /// How many numbers the host reads, and how many the last body does.
  std::pair<size_t, size_t> reads(const std::string &text) {
    auto function = parseFunction(text);
    keepScalarsOnDevice(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
    mlir::linalg::GenericOp last;
    for (auto op : function.getOps<mlir::linalg::GenericOp>())
      last = op;
    auto count = [](auto range) { return size_t(std::distance(range.begin(), range.end())); };
    return {count(function.getOps<mlir::tensor::ExtractOp>()),
            count(last.getBody()->getOps<mlir::tensor::ExtractOp>())};
  }
};

TEST_F(DeviceScalarsTest, AKernelReadsTheNumberItself) {
  EXPECT_EQ(reads(writtenAt(kGiven)), std::make_pair(size_t(0), size_t(1)));
}

TEST_F(DeviceScalarsTest, AndThoseThatTheNumberIsComputedOf) {
  EXPECT_EQ(reads(writtenAt(kComputed)), std::make_pair(size_t(0), size_t(2)));
}

TEST_F(DeviceScalarsTest, WhatTheHostAsksForIsLeftToIt) {
  const std::string size = "%other = tensor.empty(%place) : tensor<?xf32>\n";
  EXPECT_EQ(reads(writtenAt(kGiven, size)), std::make_pair(size_t(1), size_t(0)));
  EXPECT_EQ(reads(writtenAt(kComputed, size)), std::make_pair(size_t(1), size_t(0)));
}

TEST_F(DeviceScalarsTest, ANumberThatIsUsedTwiceIsReadOnce) {
  std::string twice = kComputed;
  twice.replace(twice.find("%given, %shift"), 14, "%given, %given");
  EXPECT_EQ(reads(writtenAt(twice)), std::make_pair(size_t(0), size_t(1)));
}

TEST_F(DeviceScalarsTest, WhatMayNotBeThereIsLeftToTheHost) {
  auto ofMany = [&](const std::string &type) {
    std::string text = writtenAt("%c2 = arith.constant 2 : index\n");
    auto put = [&](const std::string &from, const std::string &to) { text.replace(text.find(from), from.size(), to); };
    put("%given: tensor<i32>", "%given: tensor<" + type + "xi32>");
    put("%p[] : tensor<i32>", "%given[%c2] : tensor<" + type + "xi32>");
    return text;
  };
  EXPECT_EQ(reads(ofMany("3")), std::make_pair(size_t(0), size_t(1)));
  EXPECT_EQ(reads(ofMany("2")), std::make_pair(size_t(1), size_t(0)));
  EXPECT_EQ(reads(ofMany("?")), std::make_pair(size_t(1), size_t(0)));
}

} // namespace
} // namespace tenon::compiler::dispatch
