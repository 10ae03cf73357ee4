// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/symbol/reachability.h"

#include "ptx/parse/parser.h"
#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

/// A parsed object and its index of names, as loadInputs makes it.
struct Loaded {
  ObjectInput input;
  Object object;

  explicit Loaded(std::string_view body) {
    input.path = "a.ptx";
    input.bytes = ptxModule(body);
    Diagnostics diagnostics;
    object.input = &input;
    object.module = ptx::parse(std::make_shared<const SourceFile>(input.path, input.bytes), diagnostics);
    EXPECT_FALSE(diagnostics.hasErrors()) << diagnostics.toString();
    indexNames(object);
    indexBodies(object);
  }
  Reachability from(std::string_view entry) { return computeReachability(object, *object.functions.find(entry)); }
};

TEST(Reachability, FollowsCallsAndLeavesTheRestOut) {
  Loaded loaded(".shared .align 4 .b8 used[100];\n.shared .align 4 .b8 unused[9000];\n"
                ".func leaf() { .reg .b64 %r; mov.u64 %r, used; ret; }\n"
                ".func middle() { call leaf; ret; }\n"
                ".func stranger() { .shared .align 4 .b8 big[5000]; ret; }\n"
                ".visible .entry k() { call middle; ret; }\n");
  Reachability found = loaded.from("k");
  ASSERT_EQ(found.functions.size(), 3u);
  EXPECT_EQ(found.functions[2]->name, "leaf");
  EXPECT_EQ(found.staticSharedBytes(), 100u);
  EXPECT_TRUE(found.unresolved.empty());
}

TEST(Reachability, AddsSharedVariablesAtTheirAlignment) {
  Loaded loaded(
      ".shared .align 1 .b8 odd[3];\n"
      ".visible .entry k() { .shared .align 16 .b8 local[32]; .reg .b32 %r; ld.shared.b8 %r, [odd]; ret; }\n");
  EXPECT_EQ(loaded.from("k").staticSharedBytes(), 48u);
}

TEST(Reachability, EndsStaticSharedMemoryWhereDynamicMayBegin) {
  const std::string kernels =
      ".visible .entry k() { .shared .align 4 .b8 local[21]; ret; }\n.visible .entry none() { ret; }\n";
  Loaded byFour(".extern .shared .align 4 .b8 smem[];\n" + kernels);
  EXPECT_EQ(byFour.from("k").staticSharedBytes(), 32u);
  Loaded byMore(".extern .shared .align 64 .b8 few[];\n.extern .shared .align 1024 .b8 more[];\n" + kernels);
  EXPECT_EQ(byMore.from("k").staticSharedBytes(), 1024u);
  EXPECT_EQ(byMore.from("none").staticSharedBytes(), 0u);
}

TEST(Reachability, SeesDynamicSharedMemoryThroughACall) {
  Loaded loaded(".extern .shared .align 16 .b8 smem[];\n"
                ".func f() { .reg .b32 %r; ld.shared.b32 %r, [smem+4]; ret; }\n"
                ".visible .entry with() { call f; ret; }\n.visible .entry without() { ret; }\n");
  EXPECT_NE(loaded.from("with").dynamicShared, nullptr);
  EXPECT_EQ(loaded.from("without").dynamicShared, nullptr);
}

TEST(Reachability, TakesAddressesAndInitialisersForUses) {
  Loaded loaded(".func target() { ret; }\n"
                ".global .align 8 .u64 table[1] = {target};\n"
                ".visible .entry k() { .reg .b64 %r; ld.global.u64 %r, [table]; ret; }\n");
  Reachability found = loaded.from("k");
  ASSERT_EQ(found.functions.size(), 2u);
  EXPECT_EQ(found.functions[1]->name, "target");
}

TEST(Reachability, OwnNamesHideTheModules) {
  Loaded loaded(".extern .global .b32 x;\n"
                ".visible .entry k() { .reg .b32 x; .reg .b32 y<4>; mov.b32 x, y3; ret; }\n");
  EXPECT_TRUE(loaded.from("k").unresolved.empty());
}

TEST(Reachability, NamesWhatIsNotDefined) {
  Loaded loaded(
      ".extern .func ext();\n.extern .global .b32 var;\n"
      ".visible .entry k() { .reg .b32 %r; call ext; call ext; ld.global.b32 %r, [var]; call nowhere; ret; }\n");
  Reachability found = loaded.from("k");
  ASSERT_EQ(found.unresolved.size(), 3u);
  EXPECT_EQ(found.unresolved[0].name, "ext");
  EXPECT_TRUE(found.unresolved[0].isFunction);
  EXPECT_TRUE(found.unresolved[0].declaredAt.known());
  EXPECT_EQ(found.unresolved[1].name, "var");
  EXPECT_FALSE(found.unresolved[1].isFunction);
  EXPECT_EQ(found.unresolved[2].name, "nowhere");
  EXPECT_FALSE(found.unresolved[2].declaredAt.known());
}

} // namespace
} // namespace tenon::linker
