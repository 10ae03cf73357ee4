// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/writer/executable_writer.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

TEST(ExecutableWriter, StoresEqualImagesOnce) {
  Job job = Job().add(makeExport("k", 1));
  const std::string text = ptxModule(entry("k", "p"));
  job.object("a.ptx", text).object("b.ptx", text);
  job.job.objects[1].variantName = "again";
  Linked linked = linkJob(job);
  EXPECT_LINKS(linked);
  EXPECT_EQ(view(linked).raw().images()->size(), 1u);
  EXPECT_EQ(view(linked).raw().variants()->size(), 2u);
}

TEST(ExecutableWriter, CompressesWhereItPays) {
  std::string large = ptxModule(entry("k", "p"));
  large.append("// ").append(5000, 'x').append("\n");
  Linked linked = linkJob(Job().add(makeExport("k", 1)).object("a.ptx", large));
  const abi::ExecutableView executable = view(linked);
  const abi::fb::Image &image = *executable.raw().images()->Get(0);
  EXPECT_EQ(image.compression(), abi::fb::Compression::Zstd);
  EXPECT_EQ(image.size(), large.size());
  EXPECT_LT(image.data()->size(), large.size() / 10);
  Result<std::vector<uint8_t>> bytes = executable.imageBytes(0);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(std::string(bytes->begin(), bytes->end()), large);
}

TEST(ExecutableWriter, KeepsShortImagesAsTheyAre) {
  const std::string tiny = ".version 8.0 .target sm_80 .address_size 64 .visible .entry k(){}";
  Linked linked = linkJob(Job().add(makeExport("k", 0)).object("a.ptx", tiny));
  EXPECT_LINKS(linked);
  EXPECT_EQ(view(linked).raw().images()->Get(0)->compression(), abi::fb::Compression::None);
}

TEST(ExecutableWriter, CutsTheTextAtItsNul) {
  const std::string text = ptxModule(entry("k", "p"));
  Linked linked = linkJob(Job().add(makeExport("k", 1)).object("a.ptx", text + '\0'));
  EXPECT_LINKS(linked);
  EXPECT_EQ(view(linked).raw().images()->Get(0)->size(), text.size());
}

TEST(ExecutableWriter, LeavesOutObjectsThatProvideNothing) {
  Linked linked = linkJob(Job()
                              .add(makeExport("k", 1))
                              .object("a.ptx", ptxModule(entry("other", "p")))
                              .object("b.ptx", ptxModule(entry("k", "p"))));
  EXPECT_LINKS(linked);
  ASSERT_EQ(view(linked).raw().images()->size(), 1u);
  EXPECT_EQ(view(linked).raw().images()->Get(0)->source()->str(), "b.ptx");
}

TEST(ExecutableWriter, StoresWhatWasDeclared) {
  abi::Export declared = makeExport("k", 1, {abi::Constant::scalar(abi::ElementType::I64)});
  declared.layout.bindings[0] = {.readOnly = true, .alignment = 16, .name = "in"};
  declared.launch.dynamicSharedBytes = 64;
  declared.launch.cooperative = true;
  Job job = Job().add(declared).object(
      "/x/a.ptx", ptxModule(".visible .entry k(.param .u64 a, .param .u64 b) .reqntid 64 { ret; }\n"));
  job.job.objects[0].priority = 7;
  Linked linked = linkJob(job);
  EXPECT_LINKS(linked);
  const abi::ExecutableView executable = view(linked);
  EXPECT_EQ(executable.exportAt(0).layout, declared.layout);
  EXPECT_EQ(executable.exportAt(0).launch, declared.launch);
  EXPECT_EQ(executable.declaredAt(0), declared.declaredAt);
  EXPECT_EQ(executable.candidates(0)[0].priority, 7);
  EXPECT_EQ(executable.raw().images()->Get(0)->source()->str(), "a.ptx");
  ASSERT_NE(executable.findKernel(0, 0)->facts()->required_threads(), nullptr);
  EXPECT_EQ(executable.findKernel(0, 0)->facts()->required_threads()->Get(0), 64u);
}

} // namespace
} // namespace tenon::linker
