// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/tools/diff.h"

#include "tests/unit/linker/blocks_testing.h"
#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

std::string diff(const Job &before, const Job &after) {
  const Linked a = linkJob(before), b = linkJob(after);
  return diffExecutables(*abi::ExecutableView::create(a.bytes, "a"), *abi::ExecutableView::create(b.bytes, "b"));
}

Job oneKernel(std::string body = "") {
  Job job;
  job.add(makeExport("k", 1)).object("k.ptx", ptxModule(entry("k", "p", "", body)));
  return job;
}

TEST(Diff, IsEmptyForTheSame) {
  EXPECT_EQ(diff(oneKernel(), oneKernel()), "");
}

TEST(Diff, TellsCodeFromItsDeclaration) {
  const std::string text = diff(oneKernel(), oneKernel("  .reg .b32 %r<2>;\n"));
  EXPECT_NE(text.find("! export 'k' variant 'sm_80' for sm_80: PTX bytes: "), std::string::npos) << text;
  EXPECT_NE(text.find("! export 'k' variant 'sm_80' for sm_80: PTX contents: "), std::string::npos) << text;
  EXPECT_EQ(text.find("export 'k':"), std::string::npos) << text;
}

TEST(Diff, TellsWhatIsGoneAndNew) {
  Job more = oneKernel();
  more.add(makeExport("j", 0));
  more.job.objects[0].bytes = concat(more.job.objects[0].bytes.view(), entry("j", ""));
  more.job.exports[0].layout.bindings[0].readOnly = true;
  const std::string text = diff(oneKernel(), more);
  EXPECT_NE(text.find("+ export 'j'\n"), std::string::npos) << text;
  EXPECT_NE(text.find("+ export 'j' variant 'sm_80' for sm_80\n"), std::string::npos) << text;
  EXPECT_NE(text.find("! export 'k': slots: _ -> _ read\n"), std::string::npos) << text;
  EXPECT_NE(diff(more, oneKernel()).find("- export 'j'\n"), std::string::npos);
}

TEST(Diff, TellsWhatProgramsKeepBetweenCalls) {
  const std::vector<uint8_t> executable = linkJob(oneKernel()).bytes, one = makeBlockProgram(executable),
                             two = makeBlockProgram(executable, 2);
  const abi::ProgramView before = abi::ProgramView::create(one, "a").take(),
                         after = abi::ProgramView::create(two, "b").take();
  EXPECT_EQ(diffPrograms(before, before), "");
  const std::string text = diffPrograms(before, after);
  EXPECT_TRUE(text.starts_with("! initializer: body: ")) << text;
  EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
}

} // namespace
} // namespace tenon::linker
