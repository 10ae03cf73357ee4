// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dialect/hal/host_region.h"

#include "tests/unit/compiler/dialect/parse.h"

namespace tenon::compiler {
namespace {

class HostRegion : public ParseTest {};

TEST_F(HostRegion, EvaluatesIntegerArithmeticOnly) {
  auto module = parse(R"(
    func.func @yes(%a: index, %b: i32, %c: i1) {
      %0 = arith.constant 1 : i64
      %1 = arith.addi %a, %a : index
      %2 = arith.ceildivui %a, %a : index
      %3 = arith.select %c, %a, %a : index
      %4 = arith.cmpi slt, %b, %b : i32
      %7 = arith.shrui %a, %a : index
      %5 = arith.index_cast %b : i32 to index
      %6 = affine.min affine_map<(d0) -> (d0, 4)>(%a)
      func.return
    }
    func.func @no(%a: index, %f: f32, %v: vector<4xi32>) {
      %0 = arith.constant 1.0 : f32
      %1 = arith.addf %f, %f : f32
      %2 = arith.addi %v, %v : vector<4xi32>
      %3 = arith.constant 1 : i128
      %4 = math.absi %a : index
      %5 = arith.fptosi %f : f32 to i32
      func.return
    })");
  for (const char *name : {"yes", "no"}) {
    auto *function = mlir::SymbolTable::lookupSymbolIn(*module, name);
    for (mlir::Operation &op : function->getRegion(0).front().without_terminator())
      EXPECT_EQ(isHostEvaluable(&op), llvm::StringRef(name) == "yes") << op.getName().getStringRef().str();
  }
}

} // namespace
} // namespace tenon::compiler
