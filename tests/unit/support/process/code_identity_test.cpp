// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/process/code_identity.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(CodeIdentityTest, IsTheSameUntilALibraryComes) {
  const std::string before = codeIdentity();
  EXPECT_EQ(before.size(), 64u);
  EXPECT_EQ(codeIdentity(), before);
  for (const char *name : {"libBrokenLocale.so.1", "libnss_hesiod.so.2", "libutil.so.1", "libanl.so.1"})
    if (dlopen(name, RTLD_NOW | RTLD_NOLOAD) == nullptr && dlopen(name, RTLD_NOW) != nullptr) {
      EXPECT_NE(codeIdentity(), before) << name;
      return;
    }
  GTEST_SKIP() << "none of glibc's small libraries can be loaded";
}

} // namespace
} // namespace tenon
