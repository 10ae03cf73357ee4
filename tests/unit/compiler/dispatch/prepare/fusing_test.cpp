// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/fusing.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class Fusing : public KernelTextTest {
protected:
  /// A vector that is read through `read`, changed by `operation`, and added to each row of a matrix.
  mlir::func::FuncOp rows(const std::string &read, const std::string &operation) {
    return parseFunction("#read = affine_map<" + read +
                         ">\n"
                         R"mlir(
    #vector = affine_map<(i) -> (i)>
    #row = affine_map<(i, j) -> (j)>
    #id = affine_map<(i, j) -> (i, j)>
    func.func @f(%a: tensor<16xf32>, %b: tensor<8x16xf32>) -> tensor<8x16xf32> {
      %e = tensor.empty() : tensor<16xf32>
      %0 = linalg.generic {indexing_maps = [#read, #vector], iterator_types = ["parallel"]}
          ins(%a : tensor<16xf32>) outs(%e : tensor<16xf32>) {
        ^bb0(%x: f32, %o: f32):
          )mlir" + operation +
                         R"mlir(
      } -> tensor<16xf32>
      %m = tensor.empty() : tensor<8x16xf32>
      %1 = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%0, %b : tensor<16xf32>, tensor<8x16xf32>) outs(%m : tensor<8x16xf32>) {
        ^bb0(%x: f32, %y: f32, %o: f32):
          %t = arith.addf %x, %y : f32
          linalg.yield %t : f32
      } -> tensor<8x16xf32>
      return %1 : tensor<8x16xf32>
    })mlir");
  }
  mlir::linalg::GenericOp first(mlir::func::FuncOp function) {
    return *function.getOps<mlir::linalg::GenericOp>().begin();
  }
  bool isFused(mlir::linalg::GenericOp producer) { return shouldFuse(&*producer->use_begin()); }
};

constexpr const char kSame[] = "(i) -> (i)", kFirst[] = "(i) -> (0)";
constexpr const char kCopy[] = "linalg.yield %x : f32", kNegate[] = "%n = arith.negf %x : f32 linalg.yield %n : f32",
                     kExp[] = "%n = math.exp %x : f32 linalg.yield %n : f32";

TEST_F(Fusing, WhatOnlyReadsIsAView) {
  EXPECT_TRUE(isView(first(rows(kFirst, kCopy))));
  EXPECT_FALSE(isView(first(rows(kFirst, kNegate))));
}

TEST_F(Fusing, EveryRowComputesOnlyWhatIsCheap) {
  EXPECT_TRUE(isFused(first(rows(kFirst, kCopy))));
  EXPECT_TRUE(isFused(first(rows(kSame, kNegate))));
  EXPECT_FALSE(isFused(first(rows(kSame, kExp))));
}

TEST_F(Fusing, WhatTwoReadIsComputedOnce) {
  mlir::linalg::GenericOp producer = first(rows(kSame, kNegate));
  mlir::Operation *reader = *producer->user_begin();
  mlir::OpBuilder(reader).clone(*reader);
  EXPECT_FALSE(isFused(producer));
}

TEST_F(Fusing, StartsAndArgumentsStay) {
  auto reader = mlir::cast<mlir::linalg::GenericOp>(*first(rows(kSame, kNegate))->user_begin());
  EXPECT_FALSE(shouldFuse(reader.getDpsInputOperand(1)));
  EXPECT_FALSE(shouldFuse(reader.getDpsInitOperand(0)));
}

/// A product of images whose channels were brought last.
TEST_F(Fusing, WhatWasTurnedForTensorCoresIsStored) {
  auto isStored = [&](const std::string &images, const std::string &places, const std::string &type) {
    const std::string before = "tensor<" + images + "x64x" + places + "x" + type + ">",
                      turned = "tensor<" + images + "x" + places + "x64x" + type + ">",
                      filters = "tensor<96x64x" + type + ">", result = "tensor<" + images + "x" + places + "x96xf32>";
    const bool isWide = type == "f32";
    return !isFused(first(parseFunction(
        "func.func @f(%a: " + before + ", %b: " + filters + ", %t: " + turned + ", %o: " + result + ") -> " + result +
        " {\n%0 = linalg.generic {indexing_maps = [affine_map<(n, p, c) -> (n, c, p)>, affine_map<(n, p, c) -> (n, p, "
        "c)>], "
        "iterator_types = [\"parallel\", \"parallel\", \"parallel\"]} ins(%a : " +
        before + ") outs(%t : " + turned + ") {\n^bb0(%x: " + type + ", %s: " + type + "):\nlinalg.yield %x : " + type +
        "\n} -> " + turned +
        "\n%1 = linalg.generic {indexing_maps = [affine_map<(n, p, f, c) -> (n, p, c)>, affine_map<(n, p, f, c) -> (f, "
        "c)>, "
        "affine_map<(n, p, f, c) -> (n, p, f)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", "
        "\"reduction\"]} "
        "ins(%0, %b : " +
        turned + ", " + filters + ") outs(%o : " + result + ") {\n^bb0(%x: " + type + ", %y: " + type +
        ", %s: f32):\n" +
        (isWide ? "%m = arith.mulf %x, %y : f32\n"
                : "%g = arith.extf %x : " + type + " to f32\n%h = arith.extf %y : " + type +
                      " to f32\n%m = arith.mulf %g, %h : f32\n") +
        "%r = arith.addf %s, %m : f32\nlinalg.yield %r : f32\n} -> " + result + "\nreturn %1 : " + result + "\n}")));
  };
  EXPECT_TRUE(isStored("32", "196", "bf16"));
  EXPECT_TRUE(isStored("?", "196", "bf16"));
  EXPECT_FALSE(isStored("?", "4", "bf16")) << "there may be few rows";
  EXPECT_FALSE(isStored("?", "196", "f32"));
}

/// x[m, k] * w[n, k], of which a copy is turned to [k, n], as importers write linear layers.
TEST_F(Fusing, WhatTensorCoresReadEitherWayIsReadAsItLies) {
  auto isRead = [&](const std::string &type, const std::string &depth) {
    const std::string x = "tensor<1024x" + depth + "x" + type + ">", w = "tensor<512x" + depth + "x" + type + ">",
                      turned = "tensor<" + depth + "x512x" + type + ">";
    return isFused(first(parseFunction(
        "func.func @f(%x: " + x + ", %w: " + w + ", %t: " + turned +
        ", %o: tensor<1024x512xf32>) -> tensor<1024x512xf32> {\n"
        "%0 = linalg.generic {indexing_maps = [affine_map<(k, n) -> (n, k)>, affine_map<(k, n) -> (k, n)>], "
        "iterator_types = [\"parallel\", \"parallel\"]} ins(%w : " +
        w + ") outs(%t : " + turned + ") {\n^bb0(%a: " + type + ", %s: " + type + "):\nlinalg.yield %a : " + type +
        "\n} -> " + turned +
        "\n%1 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, "
        "affine_map<(m, n, k) -> (m, n)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} ins(%x, %0 "
        ": " +
        x + ", " + turned + ") outs(%o : tensor<1024x512xf32>) {\n^bb0(%a: " + type + ", %b: " + type +
        ", %s: f32):\n" + "%g = arith.extf %a : " + type + " to f32\n%h = arith.extf %b : " + type +
        " to f32\n%m = arith.mulf %g, %h : f32\n%r = arith.addf %s, %m : f32\nlinalg.yield %r : f32\n} -> "
        "tensor<1024x512xf32>\nreturn %1 : tensor<1024x512xf32>\n}")));
  };
  EXPECT_TRUE(isRead("bf16", "512"));
  EXPECT_TRUE(isRead("f16", "520"));
  EXPECT_FALSE(isRead("bf16", "516")) << "rows are no whole vectors";
}

// Each fusion copies both bodies.
TEST_F(Fusing, BodiesOfHundredsOfOperationsStayApart) {
  auto chain = [](int length) {
    std::string body;
    for (int i = 0; i < length; ++i)
      body += "%" + std::to_string(i) + " = math.exp %" + (i ? std::to_string(i - 1) : "x") + " : f32\n";
    return body + "linalg.yield %" + std::to_string(length - 1) + " : f32";
  };
  auto isFusedAt = [&](int length) {
    return isFused(first(parseFunction("#id = affine_map<(i) -> (i)>\n"
                                       "func.func @f(%a: tensor<16xf32>) -> tensor<16xf32> {\n"
                                       "%e = linalg.generic {indexing_maps = [#id, #id], iterator_types = "
                                       "[\"parallel\"]} ins(%a : tensor<16xf32>) outs(%a : tensor<16xf32>) {\n"
                                       "^bb0(%x: f32, %o: f32):\n" +
                                       chain(length) +
                                       "\n} -> tensor<16xf32>\n"
                                       "%r = linalg.generic {indexing_maps = [#id, #id], iterator_types = "
                                       "[\"parallel\"]} ins(%e : tensor<16xf32>) outs(%a : tensor<16xf32>) {\n"
                                       "^bb0(%x: f32, %o: f32):\n%n = math.exp %x : f32\nlinalg.yield %n : f32\n"
                                       "} -> tensor<16xf32>\nreturn %r : tensor<16xf32>\n}")));
  };
  EXPECT_TRUE(isFusedAt(509)); // and three more: the other, and what both yield
  EXPECT_FALSE(isFusedAt(510));
}

/// Tiles of tensor cores would compute a side of a product once for each column of tiles.
TEST_F(Fusing, SidesOfManyRowsAreStored) {
  auto isStored = [&](const std::string &images, const std::string &places, const std::string &columns) {
    const std::string side = "tensor<" + images + "x" + places + "x64xbf16>",
                      filters = "tensor<" + columns + "x64xbf16>",
                      result = "tensor<" + images + "x" + places + "x" + columns + "xf32>";
    return !isFused(first(parseFunction(
        "func.func @f(%a: " + side + ", %b: " + filters + ", %t: " + side + ", %o: " + result + ") -> " + result +
        " {\n%0 = linalg.generic {indexing_maps = [affine_map<(n, p, c) -> (n, p, c)>, affine_map<(n, p, c) -> (n, p, "
        "c)>], "
        "iterator_types = [\"parallel\", \"parallel\", \"parallel\"]} ins(%a : " +
        side + ") outs(%t : " + side +
        ") {\n^bb0(%x: bf16, %s: bf16):\n%m = arith.addf %x, %x : bf16\nlinalg.yield %m : bf16\n} -> " + side +
        "\n%1 = linalg.generic {indexing_maps = [affine_map<(n, p, f, c) -> (n, p, c)>, affine_map<(n, p, f, c) -> (f, "
        "c)>, "
        "affine_map<(n, p, f, c) -> (n, p, f)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", "
        "\"reduction\"]} ins(%0, %b : " +
        side + ", " + filters + ") outs(%o : " + result +
        ") {\n^bb0(%x: bf16, %y: bf16, %s: f32):\n%g = arith.extf %x : bf16 to f32\n%h = arith.extf %y : bf16 to f32\n"
        "%m = arith.mulf %g, %h : f32\n%r = arith.addf %s, %m : f32\nlinalg.yield %r : f32\n} -> " +
        result + "\nreturn %1 : " + result + "\n}")));
  };
  EXPECT_TRUE(isStored("32", "197", "96"));
  EXPECT_TRUE(isStored("?", "197", "96"));
  EXPECT_FALSE(isStored("?", "4", "96")) << "there may be few rows";
  EXPECT_FALSE(isStored("?", "197", "4"));
}

/// product -> rounded -> times 2, `keys` of them -> scores, whose softmax is returned.
std::string factor(int64_t keys) {
  const std::string n = std::to_string(keys), a = "tensor<" + n + "x64xbf16>", w = "tensor<64x64xbf16>",
                    sums = "tensor<" + n + "x64xf32>", scores = "tensor<" + n + "x" + n + "xf32>",
                    product =
                        "linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> "
                        "(j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\", "
                        "\"reduction\"]} ins(",
                    body =
                        ") {\n^bb0(%x: bf16, %y: bf16, %s: f32):\n%g = arith.extf %x : bf16 to f32\n"
                        "%h = arith.extf %y : bf16 to f32\n%m = arith.mulf %g, %h : f32\n%t = arith.addf %s, %m : f32\n"
                        "linalg.yield %t : f32\n} -> ",
                    each =
                        "linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], "
                        "iterator_types = [\"parallel\", \"parallel\"]} ins(";
  return "func.func @f(%a: " + a + ", %w: " + w + ", %q: " + a + ", %z: " + sums + ", %c: " + scores + ") -> " +
         scores + " {\n%0 = " + product + "%a, %w : " + a + ", " + w + ") outs(%z : " + sums + body + sums +
         "\n%e = tensor.empty() : " + a + "\n%1 = " + each + "%0 : " + sums + ") outs(%e : " + a +
         ") {\n^bb0(%x: f32, %o: bf16):\n%t = arith.truncf %x : f32 to bf16\nlinalg.yield %t : bf16\n} -> " + a +
         "\n%2 = " + each + "%1 : " + a + ") outs(%e : " + a +
         ") {\n^bb0(%x: bf16, %o: bf16):\n%t = arith.addf %x, %x : bf16\nlinalg.yield %t : bf16\n} -> " + a +
         "\n%3 = " + product + "%q, %2 : " + a + ", " + a + ") outs(%c : " + scores + body + scores +
         "\n%r = tensor.empty() : " + scores + "\n%4 = linalg.softmax dimension(1) ins(%3 : " + scores +
         ") outs(%r : " + scores + ") -> " + scores + "\nreturn %4 : " + scores + "\n}";
}

// What is computed from a product's sums has a place in its kernel, and is stored as the narrow type that it becomes.
TEST_F(Fusing, AttentionsOfManyQueriesReadWhatAProductComputes) {
  for (auto [keys, isStored] : {std::pair(int64_t(512), true), std::pair(int64_t(64), false)}) {
    auto function = parseFunction(factor(keys));
    auto ops = llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
    ASSERT_EQ(ops.size(), 4u);
    EXPECT_FALSE(isFused(ops[1]));
    EXPECT_EQ(isFused(ops[2]), !isStored);
    storeFactors(function);
    EXPECT_EQ(ops[2]->hasAttr("tenon.stored"), isStored);
  }
}

// A product's kernel computes what its elements come to with what it has in registers, also where two steps of that
// read one before: of few rows or many, known or not.
TEST_F(Fusing, WhatIsComputedOfASumIsNoFactor) {
  auto product = [](const std::string &result, const std::string &left, const std::string &right) {
    return "%" + result +
           R"mlir( = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%)mlir" +
           left + ", %" + right + R"mlir( : tensor<?x64xbf16>, tensor<64x64xbf16>) outs(%s : tensor<?x64xf32>) {
        ^bb0(%a: bf16, %b: bf16, %o: f32):
          %c = arith.extf %a : bf16 to f32
          %d = arith.extf %b : bf16 to f32
          %m = arith.mulf %c, %d : f32
          %t = arith.addf %o, %m : f32
          linalg.yield %t : f32
      } -> tensor<?x64xf32>
)mlir";
  };
  auto function = parseFunction(R"mlir(
    #x = affine_map<(i, j, k) -> (i, k)>
    #w = affine_map<(i, j, k) -> (k, j)>
    #y = affine_map<(i, j, k) -> (i, j)>
    #i = affine_map<(i, j) -> (i, j)>
    func.func @f(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>, %v: tensor<64x64xbf16>, %s: tensor<?x64xf32>, %n: index) -> tensor<?x64xf32> {
)mlir" + product("p", "x", "w") +
                                R"mlir(
      %e = tensor.empty(%n) : tensor<?x64xbf16>
      %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]}
          ins(%p : tensor<?x64xf32>) outs(%e : tensor<?x64xbf16>) {
        ^bb0(%a: f32, %o: bf16):
          %t = arith.truncf %a : f32 to bf16
          linalg.yield %t : bf16
      } -> tensor<?x64xbf16>
      %h = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]}
          ins(%r : tensor<?x64xbf16>) outs(%e : tensor<?x64xbf16>) {
        ^bb0(%a: bf16, %o: bf16):
          %t = math.tanh %a : bf16
          linalg.yield %t : bf16
      } -> tensor<?x64xbf16>
      %g = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel", "parallel"]}
          ins(%r, %h : tensor<?x64xbf16>, tensor<?x64xbf16>) outs(%e : tensor<?x64xbf16>) {
        ^bb0(%a: bf16, %b: bf16, %o: bf16):
          %t = arith.mulf %a, %b : bf16
          linalg.yield %t : bf16
      } -> tensor<?x64xbf16>
)mlir" + product("q", "g", "v") +
                                R"mlir(
      return %q : tensor<?x64xf32>
    })mlir");
  auto ops = llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
  EXPECT_FALSE(isFused(ops[3])) << "each tile of the next product would compute it";
  EXPECT_TRUE(isFused(ops[2])) << "what has one reader is part of it";
}

} // namespace
} // namespace tenon::compiler::dispatch
