// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/writer/ptx_parts.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

/// An entry point of about 20,000 bytes, with `body` in it.
std::string large(const std::string &name, const std::string &body = "") {
  std::string text = ".visible .entry " + name + "(.param .u64 p)\n{\n" + body;
  for (int i = 0; i < 200; ++i)
    text.append("// ").append(97, 'x').append("\n");
  return text + "ret;\n}\n";
}

/// The images of the file, as text, and what kernels each variant has.
struct Stored {
  std::vector<std::string> images;
  std::vector<std::vector<uint32_t>> kernels;
};
Stored store(const std::vector<std::string> &names, const std::string &module,
             abi::Origin origin = abi::Origin::Generated) {
  Job job;
  for (const std::string &name : names)
    job.add(makeExport(name, 1));
  job.object("a.ptx", module);
  job.job.objects[0].origin = origin;
  Linked linked = linkJob(job);
  EXPECT_LINKS(linked);
  Stored stored;
  const abi::ExecutableView executable = view(linked);
  for (const abi::fb::Variant *variant : *executable.raw().variants()) {
    EXPECT_EQ(variant->images()->size(), 1u);
    Result<std::vector<uint8_t>> bytes = executable.imageBytes(variant->images()->Get(0));
    EXPECT_TRUE(bytes.ok());
    stored.images.emplace_back(bytes->begin(), bytes->end());
    stored.kernels.emplace_back();
    for (const abi::fb::Kernel *kernel : *variant->kernels())
      stored.kernels.back().push_back(kernel->export_ordinal());
  }
  return stored;
}

bool contains(const std::string &text, const std::string &what) {
  return text.find(what) != std::string::npos;
}

TEST(PtxParts, ALargeKernelIsAnImageOfItsOwn) {
  const Stored stored = store({"a", "b", "c"}, ptxModule(large("a") + large("b") + large("c")));
  ASSERT_EQ(stored.images.size(), 3u);
  EXPECT_EQ(stored.kernels, (std::vector<std::vector<uint32_t>>{{0}, {1}, {2}}));
  for (size_t i = 0; i < 3; ++i)
    for (const std::string name : {"a", "b", "c"}) {
      EXPECT_EQ(contains(stored.images[i], ".entry " + name + "("), name[0] == char('a' + i)) << i << name;
    }
  for (size_t i = 0; i < 3; ++i) // and stands alone
    EXPECT_EQ(store({std::string(1, char('a' + i))}, stored.images[i]).images[0], stored.images[i]);
}

TEST(PtxParts, SmallKernelsAreLoadedTogether) {
  std::string kernels;
  for (const std::string name : {"a", "b", "c"})
    kernels += entry(name, "p");
  const std::string whole = ptxModule(kernels);
  const Stored stored = store({"a", "b", "c"}, whole);
  EXPECT_EQ(stored.images, std::vector<std::string>{whole});
  const Stored mixed = store({"a", "b", "c", "d"}, ptxModule(kernels + large("d")));
  EXPECT_EQ(mixed.kernels, (std::vector<std::vector<uint32_t>>{{0, 1, 2, 3}}));
  const Stored behind = store({"d", "a", "b", "c"}, ptxModule(kernels + large("d")));
  EXPECT_EQ(behind.kernels, (std::vector<std::vector<uint32_t>>{{0}, {1, 2, 3}}));
}

TEST(PtxParts, WhatWasWrittenByHandStaysAsItIs) {
  const std::string whole = ptxModule(large("a") + large("b"));
  EXPECT_EQ(store({"a", "b"}, whole, abi::Origin::HandWritten).images, std::vector<std::string>{whole});
}

TEST(PtxParts, KernelsThatShareMemoryStayTogether) {
  const std::string read = ".reg .b32 %r1; ld.const.u32 %r1, [shared_by_two];\n";
  const std::string own = ".reg .b32 %r1; ld.const.u32 %r1, [of_one];\n";
  const Stored stored = store({"a", "b", "c"}, ptxModule(".const .b32 of_one = 1;\n.const .b32 shared_by_two = 2;\n" +
                                                         large("a", read) + large("b", own) + large("c", read)));
  ASSERT_EQ(stored.kernels, (std::vector<std::vector<uint32_t>>{{0, 2}, {1}}));
  EXPECT_FALSE(contains(stored.images[0], "of_one"));
  EXPECT_FALSE(contains(stored.images[1], "shared_by_two"));
  EXPECT_TRUE(contains(stored.images[1], "of_one"));
}

TEST(PtxParts, AFunctionGoesWithEachThatCallsIt) {
  const std::string call = "call helper;\n";
  const Stored stored = store({"a", "b", "c"}, ptxModule(".func helper\n{\nret;\n}\n.func other\n{\nret;\n}\n" +
                                                         large("a", call) + large("b") + large("c", call)));
  ASSERT_EQ(stored.images.size(), 3u);
  EXPECT_TRUE(contains(stored.images[0], ".func helper"));
  EXPECT_FALSE(contains(stored.images[1], ".func helper"));
  EXPECT_TRUE(contains(stored.images[2], ".func helper"));
  EXPECT_FALSE(contains(stored.images[0], ".func other"));
}

} // namespace
} // namespace tenon::linker
