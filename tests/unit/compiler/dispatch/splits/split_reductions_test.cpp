// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/splits/split_reductions.h"

#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/flow/prefix.h"
#include "tests/unit/compiler/dispatch/convolutions.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

class SplitReductions : public KernelTextTest {
protected:
  /// A sum of all elements of tensor<NxTYPE>.
  static std::string sumOf(const std::string &size, const std::string &type) {
    return "func.func @f(%a: tensor<" + size + "x" + type + ">) -> tensor<" + type +
           "> {\n%z = arith.constant 0.0 : " + type + "\n%e = tensor.empty() : tensor<" + type +
           ">\n%s = linalg.fill ins(%z : " + type + ") outs(%e : tensor<" + type + ">) -> tensor<" + type +
           ">\n%r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], "
           "iterator_types = [\"reduction\"]} ins(%a : tensor<" +
           size + "x" + type + ">) outs(%s : tensor<" + type + ">) {\n^bb0(%x: " + type + ", %y: " + type +
           "):\n%t = arith.addf %x, %y : " + type + "\nlinalg.yield %t : " + type + "\n} -> tensor<" + type +
           ">\nreturn %r : tensor<" + type + ">\n}";
  }
  /// A product of a[rows, depth] and b[columns, depth] of f8, as bytes, summed in f32.
  static std::string productOfF8(const std::string &rows, const std::string &columns, const std::string &depth) {
    const std::string left = "tensor<" + rows + "x" + depth + "xi8>",
                      right = "tensor<" + columns + "x" + depth + "xi8>",
                      result = "tensor<" + rows + "x" + columns + "xf32>";
    return "func.func @f(%a: " + left + ", %b: " + right + ", %s: " + result + ") -> " + result +
           " {\n%r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, "
           "k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} "
           "ins(%a, "
           "%b : " +
           left + ", " + right + ") outs(%s : " + result +
           ") {\n^bb0(%x: i8, %y: i8, %z: f32):\n%f = arith.bitcast %x : i8 to f8E4M3FN\n"
           "%g = arith.bitcast %y : i8 to f8E4M3FN\n%v = arith.extf %f : f8E4M3FN to f32\n"
           "%w = arith.extf %g : f8E4M3FN to f32\n%p = arith.mulf %v, %w : f32\n%t = arith.addf %z, %p : f32\n"
           "linalg.yield %t : f32\n} -> " +
           result + "\nreturn %r : " + result + "\n}";
  }
  /// A product of a[rows, depth] and b[columns, depth] in f32; the operation's start says its sizes, or does not.
  static std::string productOf(const std::string &rows, const std::string &columns, const std::string &depth,
                               bool statesSizes = true) {
    const std::string left = "tensor<" + rows + "x" + depth + "xf32>",
                      right = "tensor<" + columns + "x" + depth + "xf32>",
                      result = statesSizes ? "tensor<" + rows + "x" + columns + "xf32>" : "tensor<?x?xf32>";
    return "func.func @f(%a: " + left + ", %b: " + right + ", %s: " + result + ") -> " + result +
           " {\n%r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, "
           "k)>, "
           "affine_map<(i, j, k) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} ins(%a, %b "
           ": " +
           left + ", " + right + ") outs(%s : " + result +
           ") {\n^bb0(%x: f32, %y: f32, %z: f32):\n%p = arith.mulf %x, %y : f32\n%t = arith.addf %z, %p : f32\n"
           "linalg.yield %t : f32\n} -> " +
           result + "\nreturn %r : " + result + "\n}";
  }
  llvm::SmallVector<mlir::linalg::GenericOp> split(const std::string &text) {
    auto function = parseFunction(text);
    splitReductions(function);
    EXPECT_TRUE(mlir::succeeded(module_->verify())) << messages_;
    return llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
  }
};

/// Two sums of the columns of one matrix, of which one is of squares.
TEST_F(SplitReductions, SumsOfOneTensorShareItsParts) {
  std::string sums;
  for (const char *name : {"p", "q"})
    sums += std::string("%") + name +
            " = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], "
            "iterator_types = [\"reduction\", \"parallel\"]} ins(%a : tensor<4096x1024xf32>) outs(%s : "
            "tensor<1024xf32>) {\n"
            "^bb0(%x: f32, %y: f32):\n" +
            (*name == 'p' ? "%m = arith.addf %x, %z : f32\n" : "%m = arith.mulf %x, %x : f32\n") +
            "%t = arith.addf %y, %m : f32\nlinalg.yield %t : f32\n} -> tensor<1024xf32>\n";
  auto function = parseFunction("func.func @f(%a: tensor<4096x1024xf32>) -> (tensor<1024xf32>, tensor<1024xf32>) {\n"
                                "%z = arith.constant 0.0 : f32\n%e = tensor.empty() : tensor<1024xf32>\n"
                                "%s = linalg.fill ins(%z : f32) outs(%e : tensor<1024xf32>) -> tensor<1024xf32>\n" +
                                sums + "return %p, %q : tensor<1024xf32>, tensor<1024xf32>\n}");
  splitReductions(function);
  ASSERT_TRUE(mlir::succeeded(mlir::verify(*module_))) << messages_;
  EXPECT_EQ(llvm::range_size(function.getOps<flow::TensorReshapeOp>()), 1);
}

/// Gradients by the weight and the bias of a norm: a number for each row, which one of them reads, is no vector.
TEST_F(SplitReductions, NumbersOfRowsChangeNoParts) {
  const std::string type = "tensor<4096x1024xbf16>", result = "tensor<1024xf32>";
  auto sum = [&](const std::string &name, const std::string &maps, const std::string &inputs, const std::string &types,
                 const std::string &body) {
    return "%" + name + " = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, " + maps +
           "affine_map<(i, j) -> (j)>], iterator_types = [\"reduction\", \"parallel\"]} ins(" + inputs + " : " + types +
           ") outs(%s : " + result + ") {\n" + body + "%t = arith.addf %y, %m : f32\nlinalg.yield %t : f32\n} -> " +
           result + "\n";
  };
  auto function =
      parseFunction("func.func @f(%a: " + type + ", %b: tensor<4096xf32>) -> (" + result + ", " + result +
                    ") {\n%z = arith.constant 0.0 : f32\n%e = tensor.empty() : " + result +
                    "\n%s = linalg.fill ins(%z : f32) outs(%e : " + result + ") -> " + result + "\n" +
                    sum("p", "affine_map<(i, j) -> (i)>, ", "%a, %b", type + ", tensor<4096xf32>",
                        "^bb0(%x: bf16, %w: f32, %y: f32):\n%v = arith.extf %x : bf16 to f32\n"
                        "%m = arith.subf %v, %w : f32\n") +
                    sum("q", "", "%a", type, "^bb0(%x: bf16, %y: f32):\n%m = arith.extf %x : bf16 to f32\n") +
                    "return %p, %q : " + result + ", " + result + "\n}");
  splitReductions(function);
  ASSERT_TRUE(mlir::succeeded(mlir::verify(*module_))) << messages_;
  llvm::SmallDenseSet<mlir::Value> views; // of the matrix
  for (auto view : function.getOps<flow::TensorReshapeOp>())
    if (view.getSource() == function.getArgument(0))
      views.insert(view.getResult());
  EXPECT_EQ(views.size(), 1u);
}

TEST_F(SplitReductions, ASumOfAllElementsIsManyPartsAndTheirSum) {
  auto ops = split(sumOf("1048576", "f32"));
  ASSERT_EQ(ops.size(), 2u);
  auto partials = llvm::cast<mlir::RankedTensorType>(ops[0]->getResult(0).getType());
  ASSERT_EQ(partials.getRank(), 1);
  EXPECT_EQ(1048576 % partials.getDimSize(0), 0);
  EXPECT_GE(partials.getDimSize(0), 64);
  EXPECT_TRUE(ops[0].getDpsInputs()[0].getDefiningOp<flow::TensorReshapeOp>());
}

/// 307 is prime: each row is a part, where rows are long enough.
TEST_F(SplitReductions, RowsOfAPrimeNumberAreParts) {
  auto parts = [&](const std::string &rows, const std::string &columns) {
    const std::string matrix = "tensor<" + rows + "x" + columns + "xf32>";
    auto ops = split("func.func @f(%a: " + matrix +
                     ") -> tensor<f32> {\n%z = arith.constant 0.0 : f32\n%e = tensor.empty() : tensor<f32>\n"
                     "%s = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>\n%r = linalg.generic "
                     "{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = "
                     "[\"reduction\", \"reduction\"]} ins(%a : " +
                     matrix +
                     ") outs(%s : tensor<f32>) {\n^bb0(%x: f32, %y: f32):\n%t = arith.addf %y, %x : f32\n"
                     "linalg.yield %t : f32\n} -> tensor<f32>\nreturn %r : tensor<f32>\n}");
    return ops.size() < 2 ? 1 : llvm::cast<mlir::RankedTensorType>(ops[0]->getResult(0).getType()).getDimSize(0);
  };
  EXPECT_EQ(parts("307", "1220"), 307);
  EXPECT_EQ(parts("10007", "48"), 10007);
  EXPECT_EQ(parts("10007", "3"), 1);
}

TEST_F(SplitReductions, PartsOfNarrowSumsAreWide) {
  auto ops = split(sumOf("1048576", "f16"));
  ASSERT_EQ(ops.size(), 3u); // parts, their sum, back to f16
  EXPECT_TRUE(llvm::cast<mlir::RankedTensorType>(ops[0]->getResult(0).getType()).getElementType().isF32());
  EXPECT_TRUE(llvm::cast<mlir::RankedTensorType>(ops[2]->getResult(0).getType()).getElementType().isF16());
}

TEST_F(SplitReductions, AProductOfFewTilesIsPartsAndTheirSum) {
  auto ops = split(productOf("64", "128", "4096"));
  ASSERT_EQ(ops.size(), 2u);
  auto partials = llvm::cast<mlir::RankedTensorType>(ops[0]->getResult(0).getType());
  ASSERT_EQ(partials.getRank(), 3);
  EXPECT_GT(partials.getDimSize(0), 1);
  EXPECT_EQ(4096 / partials.getDimSize(0) % 8, 0); // vectors stay whole
  EXPECT_EQ(partials.getDimSize(1), 64);
  EXPECT_EQ(ops[1].getNumReductionLoops(), 1u);
}

TEST_F(SplitReductions, AProductOfManyTilesStaysWhole) {
  EXPECT_EQ(split(productOf("2048", "2048", "4096")).size(), 1u);
  EXPECT_EQ(split(productOf("1", "4096", "4096")).size(), 1u); // few rows of a wide matrix
  EXPECT_EQ(split(productOf("64", "128", "4099")).size(), 1u); // no parts of whole vectors
}

// Four parts of 1192 bytes would begin at multiples of 8 bytes: there are no boxes of those.
TEST_F(SplitReductions, PartsOfBytesBeginAtMultiplesOf16) {
  auto ops = split(productOfF8("200", "496", "4768"));
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(ops[0]->getResult(0).getType()).getDimSize(0), 2);
}

// 102 tiles of 128 x 64 are one for most multiprocessors, which is slow; five times as many are four for each.
TEST_F(SplitReductions, PartsOfExactF32KeepMultiprocessorsBusy) {
  auto partsOf = [&](const char *rows, const char *columns, const char *depth) {
    auto ops = split(productOf(rows, columns, depth));
    return ops.size() == 2 ? llvm::cast<mlir::RankedTensorType>(ops[0]->getResult(0).getType()).getDimSize(0) : 1;
  };
  EXPECT_EQ(partsOf("298", "2176", "8960"), 5);
  EXPECT_EQ(partsOf("256", "4096", "4096"), 2);
  EXPECT_EQ(partsOf("764", "3022", "3801"), 7) << "144 tiles are two for twelve multiprocessors, and one for others";
  EXPECT_EQ(partsOf("676", "3669", "11769"), 3);
  EXPECT_EQ(partsOf("3522", "481", "4548"), 1) << "parts of 758 or 1137 have shorter vectors";
  EXPECT_EQ(partsOf("2048", "1024", "1024"), 1) << "less is gained than the sum of the parts takes";
  EXPECT_EQ(partsOf("40", "64", "10201"), 101) << "few tiles of unaligned rows";
  EXPECT_EQ(partsOf("298", "2176", "8959"), 1);
}

// 97 blocks of 16 columns are fewer than there are multiprocessors, 132 are not.
TEST_F(SplitReductions, FewRowsOfF32KeepMultiprocessorsBusy) {
  auto ops = split(productOf("8", "1544", "10872"));
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(ops[0]->getResult(0).getType()).getDimSize(0), 3);
  EXPECT_EQ(split(productOf("8", "2112", "10872")).size(), 1u);
}

TEST_F(SplitReductions, AProductWhoseResultStatesNoSizeStaysWhole) {
  EXPECT_EQ(split(productOf("64", "128", "4096", /*statesSizes=*/false)).size(), 1u);
}

TEST_F(SplitReductions, WhatIsShortStaysWhole) {
  EXPECT_EQ(split(sumOf("4096", "f32")).size(), 1u);
  EXPECT_EQ(split(sumOf("0", "f32")).size(), 1u);
}

/// The operand knows that there is one column, the result does not say so: its parts have a size all the same.
TEST_F(SplitReductions, PartsOfAResultThatStatesNoSizeHaveOne) {
  split(R"mlir(
    func.func @f(%a: tensor<150800x1xf32>, %start: tensor<?xf32>) -> tensor<?xf32> {
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
          iterator_types = ["reduction", "parallel"]} ins(%a : tensor<150800x1xf32>) outs(%start : tensor<?xf32>) {
        ^bb0(%x: f32, %y: f32):
          %t = arith.addf %x, %y : f32
          linalg.yield %t : f32
      } -> tensor<?xf32>
      return %r : tensor<?xf32>
    })mlir");
  module_->walk([&](mlir::tensor::EmptyOp empty) {
    EXPECT_EQ(empty.getDynamicSizes().size(), size_t(empty.getType().getNumDynamicDims()));
  });
}

/// Parts are the first rows; the second reduction takes in those behind them.
TEST_F(SplitReductions, APrimeNumberOfElementsHasPartsAndARest) {
  auto ops = split(sumOf("1048583", "f32"));
  ASSERT_EQ(ops.size(), 2u);
  auto parts = ops[0].getDpsInputs()[0].getDefiningOp<flow::TensorReshapeOp>();
  ASSERT_TRUE(parts && parts->hasAttr(flow::kPrefixAttr));
  auto shape = llvm::cast<mlir::RankedTensorType>(parts.getType()).getShape();
  EXPECT_LE(shape[0] * shape[1], 1048583);
  EXPECT_LT(1048583 - shape[0] * shape[1], shape[0]);
  unsigned extracts = 0;
  ops[1]->walk([&](mlir::tensor::ExtractOp) { ++extracts; });
  EXPECT_EQ(extracts, 1u);
}

TEST_F(SplitReductions, PartsOfUnknownNumberOfElementsAreCountedByTheHost) {
  auto ops = split(sumOf("?", "f32"));
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_TRUE(llvm::cast<mlir::RankedTensorType>(ops[0]->getResult(0).getType()).isDynamicDim(0));
}

TEST_F(SplitReductions, RowsOfUnknownLengthStayWhole) {
  EXPECT_EQ(split(kRowSum).size(), 1u);
}

class SplitConvolutions : public ConvolutionTest {
protected:
  llvm::SmallVector<mlir::linalg::GenericOp> split(const Shape &shape) {
    EXPECT_TRUE(convolution(shape)); // which makes it generic
    auto function = *module_->getOps<mlir::func::FuncOp>().begin();
    splitReductions(function);
    EXPECT_TRUE(mlir::succeeded(module_->verify())) << messages_;
    return llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
  }
};

TEST_F(SplitConvolutions, RowsOfTheWindowArePartsWhereTilesAreFew) {
  auto ops = split({.batch = 8, .size = 7, .channels = 512, .results = 512});
  ASSERT_EQ(ops.size(), 2u);
  auto partials = llvm::cast<mlir::RankedTensorType>(ops[0]->getResult(0).getType());
  EXPECT_EQ(partials.getShape(), (llvm::ArrayRef<int64_t>{3, 8, 7, 7, 512}));
  EXPECT_EQ(ops[0].getNumReductionLoops(), 2u);
}

// Of one image, whose tiles are fewer yet, so are its columns; one sum adds up all.
TEST_F(SplitConvolutions, RowsAndColumnsOfTheWindowArePartsOfOneImage) {
  auto ops = split({.batch = 1, .size = 7, .channels = 512, .results = 512});
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(ops[0]->getResult(0).getType()).getShape(),
            (llvm::ArrayRef<int64_t>{3, 3, 1, 7, 7, 512}));
  EXPECT_EQ(ops[0].getNumReductionLoops(), 1u);
  EXPECT_EQ(ops[1].getDpsInputs()[0], ops[0]->getResult(0));
  EXPECT_EQ(ops[1].getNumReductionLoops(), 2u);
  // Windows of more rows than three, of fewer channels.
  ops = split({.batch = 1, .size = 6, .channels = 256, .results = 200, .window = 5});
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(ops[0]->getResult(0).getType()).getShape(),
            (llvm::ArrayRef<int64_t>{5, 5, 1, 6, 6, 200}));
  // What is done soon stays whole.
  EXPECT_EQ(split({.batch = 1, .size = 14, .channels = 64, .results = 64}).size(), 1u);
}

TEST_F(SplitConvolutions, ManyTilesAndShortSumsStayWhole) {
  EXPECT_EQ(split({.batch = 32, .size = 28, .channels = 512, .results = 512}).size(), 1u);
  EXPECT_EQ(split({.batch = 32, .size = 7, .channels = 128, .results = 512}).size(), 1u);
  EXPECT_EQ(split({.batch = 32, .size = 7, .channels = 512, .results = 512}).size(), 1u)
      << "small tiles are one round, and nothing is added up";
}

// Of exact f32 so many that multiprocessors have several tiles at a time, and as many as others.
TEST_F(SplitConvolutions, PartsOfExactOnesKeepMultiprocessorsBusy) {
  auto partials = [&](const Shape &shape) {
    auto ops = split(shape);
    return llvm::to_vector(llvm::cast<mlir::RankedTensorType>(ops[0]->getResult(0).getType()).getShape());
  };
  using Sizes = llvm::SmallVector<int64_t>;
  EXPECT_EQ(partials({.batch = 32, .size = 7, .channels = 512, .results = 512, .type = "f32"}),
            (Sizes{3, 32, 7, 7, 512}))
      << "rows of the window";
  EXPECT_EQ(partials({.batch = 32, .size = 14, .channels = 256, .results = 256, .type = "f32"}),
            (Sizes{2, 32, 14, 14, 256}))
      << "halves of the channels";
  EXPECT_EQ(split({.batch = 32, .size = 28, .channels = 128, .results = 128, .type = "f32"}).size(), 1u);
  EXPECT_EQ(partials({.batch = 1, .size = 7, .channels = 512, .results = 512, .type = "f32"}),
            (Sizes{16, 1, 7, 7, 512}))
      << "so few tiles that channels are many parts";
  EXPECT_EQ(partials({.batch = 1, .size = 7, .channels = 500, .results = 512, .type = "f32"}),
            (Sizes{3, 3, 1, 7, 7, 512}))
      << "channels whose parts would begin at no lines";
}

TEST_F(SplitReductions, AGradientByFiltersIsTakenApartAlongItsPlaces) {
  const std::string loops = "affine_map<(f, r, c, y, n) -> ";
  auto ops = split(
      "func.func @f(%x: tensor<65538x32x64xbf16>, %d: tensor<65536x32x64xbf16>) -> tensor<64x3x64xf32> {\n"
      "%z = arith.constant 0.0 : f32\n%e = tensor.empty() : tensor<64x3x64xf32>\n"
      "%s = linalg.fill ins(%z : f32) outs(%e : tensor<64x3x64xf32>) -> tensor<64x3x64xf32>\n"
      "%r = linalg.generic {indexing_maps = [" +
      loops + "(y + r, n, c)>, " + loops + "(y, n, f)>, " + loops +
      "(f, r, c)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"reduction\", \"reduction\"]} "
      "ins(%x, %d : tensor<65538x32x64xbf16>, tensor<65536x32x64xbf16>) outs(%s : tensor<64x3x64xf32>) {\n"
      "^bb0(%a: bf16, %b: bf16, %t: f32):\n%g = arith.extf %a : bf16 to f32\n%h = arith.extf %b : bf16 to f32\n"
      "%p = arith.mulf %g, %h : f32\n%u = arith.addf %t, %p : f32\nlinalg.yield %u : f32\n} -> tensor<64x3x64xf32>\n"
      "return %r : tensor<64x3x64xf32>\n}");
  ASSERT_EQ(ops.size(), 2u);
  const int64_t parts = llvm::cast<mlir::RankedTensorType>(ops[0]->getResult(0).getType()).getDimSize(0);
  EXPECT_GE(parts, 32);
  EXPECT_EQ(
      ops[0].getDpsInputs()[1].getType(),
      mlir::RankedTensorType::get({parts, 65536 / parts, 32, 64}, mlir::BFloat16Type::get(module_->getContext())));
  // Windows of a part's last places lie in the next part: the image stays whole.
  EXPECT_FALSE(ops[0].getDpsInputs()[0].getDefiningOp());
}

// The first layer of a network, exact f32: 64 x 147 results are few tiles, small ones, and a multiprocessor wants
// several.
TEST_F(SplitReductions, PartsOfAFewRowsByFiltersKeepMultiprocessorsBusy) {
  const std::string loops = "affine_map<(f, r, s, c, n, y, x) -> ", image = "tensor<32x230x230x3xf32>",
                    given = "tensor<32x112x112x64xf32>", result = "tensor<64x7x7x3xf32>";
  auto ops = split("func.func @f(%x: " + image + ", %d: " + given + ") -> " + result +
                   " {\n%z = arith.constant 0.0 : f32\n%e = tensor.empty() : " + result +
                   "\n%s = linalg.fill ins(%z : f32) outs(%e : " + result + ") -> " + result +
                   "\n%r = linalg.generic {indexing_maps = [" + loops + "(n, y * 2 + r, x * 2 + s, c)>, " + loops +
                   "(n, y, x, f)>, " + loops +
                   "(f, r, s, c)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", "
                   "\"reduction\", \"reduction\", \"reduction\"]} ins(%x, %d : " +
                   image + ", " + given + ") outs(%s : " + result +
                   ") {\n^bb0(%a: f32, %b: f32, %t: f32):\n%p = arith.mulf %a, %b : f32\n"
                   "%u = arith.addf %t, %p : f32\nlinalg.yield %u : f32\n} -> " +
                   result + "\nreturn %r : " + result + "\n}");
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(ops[0]->getResult(0).getType()).getShape(),
            (llvm::ArrayRef<int64_t>{112, 64, 7, 7, 3}));
}

// One image whose sides are primes: each of its rows is a part.
TEST_F(SplitReductions, RowsOfOneImageAreParts) {
  const std::string loops = "affine_map<(f, c, r, s, y, x) -> ";
  auto parts = [&](const std::string &type, const std::string &widened) {
    const std::string image = "tensor<64x103x103x" + type + ">", given = "tensor<40x101x101x" + type + ">",
                      result = "tensor<40x64x3x3xf32>";
    auto ops = split("func.func @f(%x: " + image + ", %d: " + given + ") -> " + result +
                     " {\n%z = arith.constant 0.0 : f32\n%e = tensor.empty() : " + result +
                     "\n%s = linalg.fill ins(%z : f32) outs(%e : " + result + ") -> " + result +
                     "\n%r = linalg.generic {indexing_maps = [" + loops + "(c, y + r, x + s)>, " + loops +
                     "(f, y, x)>, " + loops +
                     "(f, c, r, s)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", "
                     "\"reduction\", \"reduction\"]} ins(%x, %d : " +
                     image + ", " + given + ") outs(%s : " + result + ") {\n^bb0(%a: " + type + ", %b: " + type +
                     ", %t: f32):\n" + widened + "%u = arith.addf %t, %p : f32\nlinalg.yield %u : f32\n} -> " + result +
                     "\nreturn %r : " + result + "\n}");
    EXPECT_EQ(ops.size(), 2u);
    return llvm::cast<mlir::RankedTensorType>(ops[0]->getResult(0).getType()).getDimSize(0);
  };
  EXPECT_EQ(parts("f32", "%p = arith.mulf %a, %b : f32\n"), 101);
  EXPECT_EQ(parts("bf16", "%g = arith.extf %a : bf16 to f32\n%h = arith.extf %b : bf16 to f32\n"
                          "%p = arith.mulf %g, %h : f32\n"),
            101);
}

// Of each channel for itself images are parts, and rows of them: one sum adds up both.
TEST_F(SplitReductions, PartsOfPartsAreOneSum) {
  const std::string loops = "affine_map<(r, s, c, n, y, x) -> ";
  auto ops = split(
      "func.func @f(%x: tensor<4x58x58x64xf32>, %d: tensor<4x56x56x64xf32>) -> tensor<3x3x64xf32> {\n"
      "%z = arith.constant 0.0 : f32\n%e = tensor.empty() : tensor<3x3x64xf32>\n"
      "%s = linalg.fill ins(%z : f32) outs(%e : tensor<3x3x64xf32>) -> tensor<3x3x64xf32>\n"
      "%r = linalg.generic {indexing_maps = [" +
      loops + "(n, y + r, x + s, c)>, " + loops + "(n, y, x, c)>, " + loops +
      "(r, s, c)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"reduction\", \"reduction\", "
      "\"reduction\"]} ins(%x, %d : tensor<4x58x58x64xf32>, tensor<4x56x56x64xf32>) outs(%s : tensor<3x3x64xf32>) {\n"
      "^bb0(%a: f32, %b: f32, %t: f32):\n%p = arith.mulf %a, %b : f32\n%u = arith.addf %t, %p : f32\n"
      "linalg.yield %u : f32\n} -> tensor<3x3x64xf32>\nreturn %r : tensor<3x3x64xf32>\n}");
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(ops[0]->getResult(0).getType()).getShape(),
            (llvm::ArrayRef<int64_t>{56, 4, 3, 3, 64}));
  EXPECT_EQ(ops[1].getDpsInputs()[0], ops[0]->getResult(0));
  EXPECT_EQ(ops[1].getNumReductionLoops(), 2u);
}

} // namespace
} // namespace tenon::compiler::dispatch
