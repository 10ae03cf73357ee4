// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check: expectations of end-to-end tests written as MLIR text. Run by tenon-check.
#ifndef TENON_COMPILER_DIALECT_CHECK_OPS
#define TENON_COMPILER_DIALECT_CHECK_OPS

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/OpBase.td"

def Check_Dialect : Dialect {
  let name = "check";
  let summary = "expectations on tensors";
  let cppNamespace = "::tenon::compiler::check";
}

// No declared effects: an expectation is never removed.
class Check_Op<string word, list<Trait> traits = []> : Op<Check_Dialect, word, traits> { let hasVerifier = 1; }

def Check_ExpectTrueOp : Check_Op<"expect_true"> {
  let summary = "a scalar that is not zero";
  let arguments = (ins AnyType:$operand);
  let assemblyFormat = "`(` $operand `)` attr-dict `:` type($operand)";
}

def Check_ExpectFalseOp : Check_Op<"expect_false"> {
  let summary = "a scalar that is zero";
  let arguments = (ins AnyType:$operand);
  let assemblyFormat = "`(` $operand `)` attr-dict `:` type($operand)";
}

def Check_ExpectAllTrueOp : Check_Op<"expect_all_true"> {
  let summary = "every element is non-zero";
  let arguments = (ins AnyType:$operand);
  let assemblyFormat = "`(` $operand `)` attr-dict `:` type($operand)";
}

def Check_ExpectEqOp : Check_Op<"expect_eq", [AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "element-wise equal";
  let arguments = (ins AnyTensor:$lhs, AnyTensor:$rhs);
  let assemblyFormat = "`(` $lhs `,` $rhs `)` attr-dict `:` type($lhs)";
}

def Check_ExpectEqConstOp : Check_Op<"expect_eq_const"> {
  let summary = "element-wise equal to a constant";
  let arguments = (ins AnyTensor:$lhs, ElementsAttr:$value);
  let assemblyFormat = "`(` $lhs `,` $value `)` attr-dict `:` type($lhs)";
}

def Check_ExpectAlmostEqOp : Check_Op<"expect_almost_eq", [AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "element-wise |lhs - rhs| <= atol + rtol * |rhs|";
  let arguments = (ins AnyTensor:$lhs, AnyTensor:$rhs, DefaultValuedAttr<F32Attr, "1e-4f">:$atol,
                       DefaultValuedAttr<F32Attr, "0.0f">:$rtol);
  let assemblyFormat = [{
    `(` $lhs `,` $rhs `` custom<Tolerances>($atol, $rtol) `)` attr-dict `:` type($lhs)
  }];
}

def Check_ExpectAlmostEqConstOp : Check_Op<"expect_almost_eq_const"> {
  let summary = "element-wise |lhs - value| <= atol + rtol * |value|";
  let arguments = (ins AnyTensor:$lhs, ElementsAttr:$value, DefaultValuedAttr<F32Attr, "1e-4f">:$atol,
                       DefaultValuedAttr<F32Attr, "0.0f">:$rtol);
  let assemblyFormat = [{
    `(` $lhs `,` $value `` custom<Tolerances>($atol, $rtol) `)` attr-dict `:` type($lhs)
  }];
}

#endif
