// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/count_option.h"

#include "tests/unit/runtime/fixture.h"

namespace tenon::runtime {

TEST(CountOption, IsTheWholeText) {
  EXPECT_EQ(*parseCount("batch", "1", 1), 1u);
  EXPECT_EQ(*parseCount("batch", "18446744073709551615", 1), UINT64_MAX);
  for (const char *text : {"", "0", "-1", "1x", " 1", "18446744073709551616"})
    EXPECT_STATUS(parseCount("batch", text, 1).status(), InvalidArgument,
                  concat("--batch=", text, ": expected a number of at least 1"));
}

} // namespace tenon::runtime
