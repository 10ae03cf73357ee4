// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/tools/coverage.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

class Coverage : public ::testing::Test {
protected:
  std::string check(const std::vector<std::string> &lists, bool canJit = true, std::string_view driver = "13.0") {
    Job job;
    job.add(makeExport("k", 1)).object("k.ptx", ptxModule(entry("k", "p")));
    Linked linked = linkJob(job);
    Result<abi::ExecutableView> view = abi::ExecutableView::create(linked.bytes, "k.tnx");
    Result<std::vector<abi::DeviceTraits>> devices = coverageDevices(lists, driver, canJit);
    if (!devices.ok())
      return std::string(devices.status().message());
    Diagnostics diagnostics;
    requireCoverage(*view, *devices, diagnostics);
    return diagnostics.toString();
  }
};

TEST_F(Coverage, IsSilentWhereEverythingRuns) {
  EXPECT_EQ(check({"sm_80,sm_86", "9.0"}), "");
}

TEST_F(Coverage, SaysWhatDoesNotRunAndWhy) {
  const std::string text = check({"sm_75,sm_80,sm_70"});
  EXPECT_NE(text.find("job.json:7:3: error: export 'k' of executable 'test' does not run on sm_75 with driver 13.0\n"
                      "note: variant 'sm_80', PTX for sm_80: "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("does not run on sm_70"), std::string::npos);
  EXPECT_EQ(text.find("does not run on sm_80"), std::string::npos);
  EXPECT_NE(text.find("fix: build PTX for sm_75"), std::string::npos) << text;
}

TEST_F(Coverage, KnowsDriversWithoutACompilerAndOldOnes) {
  EXPECT_NE(check({"sm_80"}, false).find("without its PTX compiler"), std::string::npos);
  EXPECT_NE(check({"sm_80"}, false).find("fix: build a cubin for sm_80"), std::string::npos);
  EXPECT_NE(check({"sm_80"}, true, "11.0").find("does not run on sm_80 with driver 11.0"), std::string::npos);
}

TEST_F(Coverage, RefusesListsThatNameNoDevice) {
  EXPECT_NE(check({""}).find("names no architecture"), std::string::npos);
  EXPECT_NE(check({","}).find("device '' is neither an architecture"), std::string::npos);
  EXPECT_NE(check({"sm_90a"}).find("has a suffix"), std::string::npos);
  EXPECT_NE(check({"sm_83"}).find("is not known"), std::string::npos);
}

} // namespace
} // namespace tenon::linker
