// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/tools/explain.h"

#include "abi/arch_table.h"
#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

TEST(Explain, ReadsDevicesInEveryForm) {
  for (const char *text : {"sm_86", "86", "8.6"}) {
    Result<abi::DeviceTraits> device = describeDevice(text, "12.8");
    ASSERT_TRUE(device.ok()) << text << ": " << device.status().toString();
    EXPECT_EQ(device->computeCapability, 86);
    EXPECT_EQ(device->driverVersion, 12080);
    EXPECT_EQ(device->maxSharedOptinBytes, 99u << 10);
  }
}

TEST(Explain, KnowsTheSharedMemoryOfEveryArchitecture) {
  EXPECT_EQ(describeDevice("sm_101", "12.8")->maxSharedOptinBytes, 227u << 10);
  for (const abi::Architecture &row : abi::architectures())
    EXPECT_EQ(describeDevice(std::to_string(row.number), "13.0")->maxSharedOptinBytes, row.limits.blockSharedBytes)
        << row.number;
}

TEST(Explain, RefusesWhatIsNoDevice) {
  auto message = [](std::string_view device, std::string_view driver) {
    return std::string(describeDevice(device, driver).status().message());
  };
  EXPECT_EQ(message("h100", "13.0"), "device 'h100' is neither an architecture (sm_86) nor a compute capability (8.6)");
  EXPECT_EQ(message("sm_90a", "13.0"),
            "device 'sm_90a' has a suffix, which targets have and devices do not; give 'sm_90'");
  EXPECT_NE(message("sm_81", "13.0").find("device 'sm_81' is not known; known: sm_"), std::string::npos);
  EXPECT_EQ(message("sm_86", "thirteen"), "driver 'thirteen' is not a CUDA version, as in 13.0");
}

TEST(Explain, MarksTheChoiceOfEachExport) {
  Job job = Job().add(makeExport("k", 1));
  for (const char *target : {"sm_75", "sm_80", "sm_90"})
    job.object("k.ptx", ptxModule(entry("k", "p"), target), target);
  Linked linked = linkJob(job);
  std::string text = explainExecutable(view(linked), *describeDevice("sm_86", "13.0"));
  EXPECT_NE(text.find("executable 'test' on sm_86 with driver 13.0\nexport 'k':\n"), std::string::npos) << text;
  EXPECT_NE(text.find("* sm_80"), std::string::npos) << text;
  text = explainExecutable(view(linked), *describeDevice("sm_70", "13.0"));
  EXPECT_EQ(text.find("* "), std::string::npos) << text;
  EXPECT_NE(text.find("build "), std::string::npos) << text;
}

} // namespace
} // namespace tenon::linker
