// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/link_map.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

TEST(LinkMap, ListsWhatIsUsedAndWhatIsNot) {
  Job job;
  job.add(makeExport("k", 1));
  job.object("dir/k.ptx", ptxModule(entry("k", "p") + entry("spare", "p") + ".entry hidden() { ret; }\n"));
  job.object("other.ptx", ptxModule(entry("other", "p")));
  Diagnostics diagnostics;
  Result<LinkOutput> output = link(job.job, diagnostics);
  ASSERT_TRUE(output.ok()) << diagnostics.toString();
  ASSERT_EQ(output->map.variants.size(), 1u);
  EXPECT_EQ(output->map.variants[0][0].entry.toString(), "dir/k.ptx:4:17");
  std::string unused;
  for (const LinkMap::Unused &entry : output->map.unused)
    unused += entry.object + " " + entry.name + ": " + entry.why + "\n";
  EXPECT_EQ(unused, "dir/k.ptx spare: no export names it\n"
                    "dir/k.ptx hidden: no export names it\n"
                    "other.ptx : none of its kernels is an export; it is left out\n"
                    "other.ptx other: no export names it\n");
  Result<abi::ExecutableView> view = abi::ExecutableView::create(output->executable, "x");
  const std::string text = printLinkMap(output->map, *view, output->executable.size());
  EXPECT_NE(text.find("export 0 'k', declared at job.json:7:3\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  sm_80   sm_80    0 ptx "), std::string::npos) << text;
  EXPECT_NE(text.find("other.ptx: object: none of its kernels is an export"), std::string::npos) << text;
}

} // namespace
} // namespace tenon::linker
