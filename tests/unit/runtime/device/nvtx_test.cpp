// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranges that a tool sees. A process looks for a tool once, so this is a binary of its own, with a tool from the start.
#include "runtime/device/nvtx.h"

#include "tests/unit/runtime/call_fixture.h"
#include "tests/unit/runtime/command_buffer_fixture.h"
#include "tests/unit/runtime/fake_nvtx.h"

#include <cstdlib>

namespace tenon::runtime {

using Events = std::vector<std::string>;

/// The tool's record since the last time; attaches the tool first.
Events takeEvents() {
  static const auto take = [] {
    const std::string path = besideTest("libtenon_fake_nvtx.so");
    setenv("NVTX_INJECTION64_PATH", path.c_str(), 1);
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << dlerror();
    return reinterpret_cast<decltype(&tenonFakeNvtxTake)>(dlsym(library, "tenonFakeNvtxTake"));
  }();
  EXPECT_TRUE(isNvtxAttached());
  Events events;
  take(&events);
  return events;
}

class NvtxTest : public CallTest {
protected:
  NvtxTest() { takeEvents(); }
  /// One call of f, with its kernels loaded before.
  Events eventsOfCall(const CallOptions &options) {
    load({addAndScale()});
    const std::vector<Value> inputs = {vector({1, 2}), vector({3, 4}), scalar(10)};
    EXPECT_TRUE(program->call(0, inputs, options).ok());
    takeEvents();
    EXPECT_TRUE(program->call(0, inputs, options).ok());
    return takeEvents();
  }
};

TEST_F(NvtxTest, RangesNest) {
  {
    NvtxRange outer("call", "f");
    NvtxRange inner({}, "add");
  }
  EXPECT_EQ(takeEvents(), (Events{"push call f", "push add", "pop", "pop"}));
}

TEST_F(NvtxTest, ACallThatIsAGraphIsOneRange) {
  EXPECT_EQ(eventsOfCall({}), (Events{"push call f", "pop"}));
}

TEST_F(NvtxTest, DispatchesOnAStreamHaveTheirOwn) {
  CallOptions options;
  options.graph = false;
  EXPECT_EQ(eventsOfCall(options), (Events{"push call f", "push add", "pop", "push scale", "pop", "pop"}));
}

TEST_F(NvtxTest, LoadingIsARange) {
  load({addAndScale()});
  takeEvents();
  EXPECT_TRUE(program->call(0, std::vector<Value>{vector({1}), vector({3}), scalar(1)}).ok());
  EXPECT_EQ(takeEvents(), (Events{"push call f", "push load add", "pop", "push load scale", "pop", "pop"}));
}

class NvtxCommandsTest : public CommandBufferFixture {
protected:
  Events eventsOfIssue(bool asGraph) {
    isGraph = asGraph;
    begin();
    for (uint32_t i = 0; i < 2; ++i)
      EXPECT_TRUE(commands->dispatch(executable, 0, {1, 1, 1}, {{ref(), ref()}, {i}}).ok());
    EXPECT_TRUE(commands->end().ok());
    takeEvents();
    EXPECT_TRUE(commands->issue(nullptr, {}).ok());
    return takeEvents();
  }
};

TEST_F(NvtxCommandsTest, SubmissionsNameWhatTheyDispatch) {
  EXPECT_EQ(eventsOfIssue(true), (Events{"push submit 'add'", "pop"}));
  EXPECT_EQ(eventsOfIssue(false), (Events{"push submit 'add'", "push add", "pop", "push add", "pop", "pop"}));
}

} // namespace tenon::runtime
