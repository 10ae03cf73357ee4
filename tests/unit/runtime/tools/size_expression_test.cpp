// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/check_kernel/size_expression.h"

#include "tests/unit/runtime/fixture.h"

namespace tenon::runtime {

using namespace tenon::test;

static int64_t value(std::string_view text, const Sizes &sizes = {{"n", 100}, {"rows", 3}}) {
  Result<int64_t> result = evaluateSize(text, sizes);
  EXPECT_TRUE((result.status()).ok());
  return result.ok() ? *result : -1;
}

TEST(SizeExpression, Computes) {
  EXPECT_EQ(value("7"), 7);
  EXPECT_EQ(value(" 2 * n + 1 "), 201);
  EXPECT_EQ(value("n - 2 - 3"), 95);
  EXPECT_EQ(value("(n + 1) * rows"), 303);
  EXPECT_EQ(value("n / 32 * 32"), 96);
  EXPECT_EQ(value("ceildiv(n, 32)"), 4);
  EXPECT_EQ(value("max(min(n, 5), rows)"), 5);
  EXPECT_EQ(value("-4"), -4);
}

TEST(SizeExpression, RefusesWhatMeansNothing) {
  auto error = [](std::string_view text) { return std::string(evaluateSize(text, {{"n", 1}}).status().message()); };
  EXPECT_EQ(error("m"), "'m': 'm' has no value: add --size=m=1,31,32");
  EXPECT_EQ(error("n +"), "'n +': a number or a name is missing at its end");
  EXPECT_EQ(error("n n"), "'n n': unexpected 'n'");
  EXPECT_EQ(error("(n"), "'(n': '(' without ')'");
  EXPECT_EQ(error("n / 0"), "'n / 0': division of 1 by 0");
  EXPECT_EQ(error("ceildiv(n)"), "'ceildiv(n)': ceildiv takes two values");
  EXPECT_EQ(error("log(n, 2)"), "'log(n, 2)': there is no function 'log'; there are ceildiv, min and max");
  EXPECT_EQ(error("9223372036854775807 + n"), "'9223372036854775807 + n' does not fit 63 bits");
  EXPECT_EQ(error(std::string(1000, '(')), concat("'", std::string(1000, '('), "': nested too deep"));
}

TEST(SizeExpression, ListsItsNames) {
  std::set<std::string> names;
  ASSERT_OK(collectNames("ceildiv(n * rows, 32) / (m - 1)", names));
  EXPECT_EQ(names, (std::set<std::string>{"m", "n", "rows"}));
}

} // namespace tenon::runtime
