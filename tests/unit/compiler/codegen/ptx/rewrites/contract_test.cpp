// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/contract.h"

#include "tests/unit/compiler/codegen/ptx/rewrites/rewritten.h"

namespace tenon::compiler::codegen {
namespace {

/// The body of a function of x, y and z, contracted; the text behind its first line.
std::string contract(const std::string &type, const std::string &body, uint16_t arch = 90) {
  const std::string text = "define " + type + " @f(" + type + " %x, " + type + " %y, " + type + " %z) {\n" + body +
                           "\nret " + type + " %r\n}\n";
  return rewritten(text, Printed::FunctionF, [&](llvm::Module &module) { contractProducts(module, {arch}); });
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(ContractTest, EveryWayToWriteIt) {
  const std::string product = "%p = fmul float %x, %y\n";
  EXPECT_TRUE(has(contract("float", product + "%r = fadd float %p, %z"), "fma.f32(float %x, float %y, float %z)"));
  EXPECT_TRUE(has(contract("float", product + "%r = fadd float %z, %p"), "fma.f32(float %x, float %y, float %z)"));
  // x * y - z = fma(x, y, -z)
  std::string text = contract("float", product + "%r = fsub float %p, %z");
  EXPECT_TRUE(has(text, "%1 = fneg float %z") && has(text, "fma.f32(float %x, float %y, float %1)")) << text;
  // z - x * y = fma(-x, y, z)
  text = contract("float", product + "%r = fsub float %z, %p");
  EXPECT_TRUE(has(text, "%1 = fneg float %x") && has(text, "fma.f32(float %1, float %y, float %z)")) << text;
  const std::string negated = product + "%n = fneg float %p\n";
  text = contract("float", negated + "%r = fadd float %n, %z");
  EXPECT_TRUE(has(text, "fma.f32(float %1, float %y, float %z)")) << text;
  text = contract("float", negated + "%r = fsub float %z, %n");
  EXPECT_TRUE(has(text, "fma.f32(float %x, float %y, float %z)")) << text;
  text = contract("float", negated + "%r = fsub float %n, %z");
  EXPECT_TRUE(has(text, "fneg float %x") && has(text, "fneg float %z")) << text;
}

TEST(ContractTest, NotWhereItCostsAccuracy) {
  for (const char *body : {
           "%p = fmul float %x, %y\n%q = fmul float %z, %z\n%r = fadd float %p, %q",
           "%p = fmul float %x, %y\n%q = fmul float %z, %z\n%n = fneg float %q\n%r = fsub float %p, %n",
           "%p = fmul float %x, %y\n%s = fadd float %p, %z\n%r = fdiv float %s, %p",
           "%p = fmul float %x, %y\n%r = fadd float %p, %p",
           "%p = fmul float %x, %y\n%n = fneg float %p\n%s = fadd float %n, %z\n%r = fdiv float %s, %n",
           "%p = fdiv float %x, %y\n%r = fadd float %p, %z",
       })
    EXPECT_FALSE(has(contract("float", body), "@llvm.fma")) << body;
}

TEST(ContractTest, OfTwoSquaresNothingCancels) {
  const std::string squares = "%p = fmul float %x, %x\n%q = fmul float %z, %z\n";
  EXPECT_TRUE(has(contract("float", squares + "%r = fadd float %p, %q"), "fma.f32(float %x, float %x, float %q)"));
  for (const char *sum : {"%r = fsub float %p, %q", "%n = fneg float %q\n%r = fadd float %p, %n",
                          "%s = fadd float %p, %q\n%r = fdiv float %s, %p"})
    EXPECT_FALSE(has(contract("float", squares + sum), "@llvm.fma")) << sum;
}

TEST(ContractTest, TypesThatTheTargetCanFuse) {
  for (auto [type, since] : {std::pair("float", 52), std::pair("double", 52), std::pair("half", 53),
                             std::pair("bfloat", 80), std::pair("<2 x half>", 53), std::pair("<4 x float>", 52)}) {
    const std::string body = std::string("%p = fmul ") + type + " %x, %y\n%r = fadd " + type + " %p, %z"; // a line each
    EXPECT_TRUE(has(contract(type, body, uint16_t(since)), "@llvm.fma")) << type;
    if (since > 52)
      EXPECT_FALSE(has(contract(type, body, uint16_t(since - 1)), "@llvm.fma")) << type;
  }
}

} // namespace
} // namespace tenon::compiler::codegen
