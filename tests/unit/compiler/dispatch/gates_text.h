// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tests of gates have in common: the body of a product of bf16.
#pragma once

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {

class GatesTextTest : public KernelTextTest {
protected:
  static constexpr const char *kProductBody = R"({
    ^bb0(%a: bf16, %b: bf16, %o: f32):
      %c = arith.extf %a : bf16 to f32
      %d = arith.extf %b : bf16 to f32
      %m = arith.mulf %c, %d : f32
      %n = arith.addf %o, %m : f32
      linalg.yield %n : f32
  })";
};

} // namespace tenon::compiler::dispatch
