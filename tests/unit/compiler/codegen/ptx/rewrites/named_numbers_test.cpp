// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/named_numbers.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

namespace tenon::compiler::codegen {
namespace {

/// The module once its numbers are loaded and divided by.
std::string load(const std::string &text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, context);
  if (!module)
    return error.getMessage().str();
  loadNamedNumbers(*module);
  divideByNamedNumbers(*module);
  std::string result;
  llvm::raw_string_ostream(result) << *module;
  return result;
}

TEST(NamedNumbers, HaveNamesThatSayWhatTheyAre) {
  EXPECT_EQ(nameOfNumber(3, 7, 100), "__tenon_number_3_7_100__");
  EXPECT_EQ(nameOfNumber(0, -5, 2), "__tenon_number_0_m5_2__");
  EXPECT_EQ(nameOfFloat(2), "__tenon_number_2__");
}

TEST(NamedNumbers, AreMovedWithTheirRange) {
  const std::string text = load("declare i64 @__tenon_number_0_m5_2__()\ndeclare float @__tenon_number_1__()\n"
                                "define i64 @k() {\n%x = call i64 @__tenon_number_0_m5_2__()\n"
                                "%y = call float @__tenon_number_1__()\nret i64 %x\n}\n");
  EXPECT_NE(text.find("range(i64 -5, 3)"), std::string::npos) << text;
  EXPECT_NE(text.find("asm \"mov.b64 $0, __tenon_number_0_m5_2__;\", \"=l\""), std::string::npos) << text;
  EXPECT_NE(text.find("asm \"mov.b32 $0, __tenon_number_1__;\", \"=f\""), std::string::npos) << text;
  EXPECT_EQ(text.find("declare i64 @__tenon"), std::string::npos) << text;
}

TEST(NamedNumbers, AreDividedByWithTheirReciprocals) {
  const std::string text = load("declare i32 @__tenon_number_0_20_30__()\ndefine i32 @k(i32 %x) {\n"
                                "%d = call i32 @__tenon_number_0_20_30__()\n%q = udiv i32 %x, %d\nret i32 %q\n}\n");
  EXPECT_EQ(text.find("udiv"), std::string::npos) << text;
  EXPECT_NE(text.find("__tenon_number_r32_0__"), std::string::npos) << text;
}

TEST(NamedNumbers, DivisionsByWhatMayBeZeroStay) {
  const std::string text = load("declare i32 @__tenon_number_0_0_30__()\ndefine i32 @k(i32 %x) {\n"
                                "%d = call i32 @__tenon_number_0_0_30__()\n%q = udiv i32 %x, %d\nret i32 %q\n}\n");
  EXPECT_NE(text.find("udiv"), std::string::npos) << text;
}

TEST(NamedNumbers, AreWrittenIntoTheText) {
  EXPECT_EQ(withNumbers("a __tenon_number_1_5_9__; __tenon_number_0__, __tenon_number_r32_1__ b", {"1065353216", "7"}),
            "a 7; 1065353216, 613566756 b");
  EXPECT_EQ(withNumbers("__tenon_number_r64_0__", {"3"}), "6148914691236517205");
  EXPECT_EQ(withNumbers("nothing", {}), "nothing");
}

/// What divide() makes of a quotient, where it is hardest: next to multiples of the divisor.
TEST(NamedNumbers, QuotientsAreRightAtEveryMultiple) {
  for (uint64_t by : {1ull, 2ull, 3ull, 7ull, 641ull, 65537ull, 0x7fffffffull, 0xffffffffull})
    for (uint64_t q : {0ull, 1ull, 2ull, 1000ull, 0xffffffffull / by})
      for (int64_t near : {-1, 0, 1}) {
        const uint64_t x = q * by + uint64_t(near);
        if (x > UINT32_MAX)
          continue;
        const uint64_t quotient = x * (UINT32_MAX / by) >> 32, rest = uint32_t(x - quotient * by);
        EXPECT_EQ(rest < by ? quotient : quotient + 1, x / by) << x << " / " << by;
      }
}

} // namespace
} // namespace tenon::compiler::codegen
