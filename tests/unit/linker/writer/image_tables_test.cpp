// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/writer/image_tables.h"

#include "abi/format/verify/verify.h"
#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

/// A kernel among enough text to be worth compressing, different for each `salt`.
std::string objectText(std::string_view name, uint32_t salt, std::string_view target) {
  std::string body;
  for (uint32_t i = 0; i < 300; ++i)
    body += concat("// ", (i * 2654435761u) ^ (salt * 40503u), "\n");
  return ptxModule(entry(name, "p", "", body), target);
}

TEST(ImageTables, TakeWhatIsThereAlreadyAsADictionary) {
  Job job = Job().add(makeExport("a", 1)).add(makeExport("b", 1));
  job.object("a80.ptx", objectText("a", 1, "sm_80")).object("b80.ptx", objectText("b", 2, "sm_80"));
  job.object("a90.ptx", objectText("a", 1, "sm_90"), "sm_90").object("b90.ptx", objectText("b", 2, "sm_90"), "sm_90");
  Linked linked = linkJob(job);
  EXPECT_LINKS(linked);
  const abi::ExecutableView executable = view(linked);
  const auto &images = *executable.raw().images();
  ASSERT_EQ(images.size(), 4u);
  EXPECT_EQ(images.Get(0)->base(), abi::kNoImage);
  EXPECT_EQ(images.Get(1)->base(), 0u);
  EXPECT_EQ(images.Get(2)->base(), 0u) << "the same source for another target";
  EXPECT_EQ(images.Get(3)->base(), 1u) << "and here";
  EXPECT_LT(images.Get(2)->data()->size(), 200u);
  EXPECT_LT(images.Get(3)->data()->size(), 200u);
  EXPECT_GT(images.Get(0)->data()->size(), 1000u);
  for (uint32_t i = 0; i < 4; ++i) {
    Result<std::vector<uint8_t>> bytes = executable.imageBytes(i);
    ASSERT_TRUE(bytes.ok()) << bytes.status().toString();
    EXPECT_EQ(std::string(bytes->begin(), bytes->end()), job.job.objects[i].bytes);
  }
}

TEST(ImageTables, ManyKernelsShareTheirTables) {
  Job few, many;
  std::string fewText, manyText;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = concat("kernel_", 1000 + i);
    many.add(makeExport(name, 1));
    manyText += entry(name, "p");
    if (i < 100) {
      few.add(makeExport(name, 1));
      fewText += entry(name, "p");
    }
  }
  const Linked small = linkJob(few.object("a.ptx", ptxModule(fewText)));
  const Linked large = linkJob(many.object("a.ptx", ptxModule(manyText)));
  EXPECT_LINKS(large);
  // A name, its string's head and two short tables for each; layouts, launches and facts are there once.
  EXPECT_LT((large.bytes.size() - small.bytes.size()) / 900, 80u);
  EXPECT_EQ(view(large).declaredAt(999).toString(), "job.json:7:3");
}

} // namespace
} // namespace tenon::linker
