// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/stream_trace.h"

#include "tests/unit/runtime/call_fixture.h"
#include "tests/unit/runtime/command_buffer_fixture.h"

namespace tenon::runtime {

class StreamTraceTest : public CallTest {
protected:
  std::string callTraced(const std::map<std::string, int> &failures = {}) {
    load({addAndScale()});
    trace = std::make_shared<Trace>();
    device->setTrace(trace);
    const std::vector<Value> inputs = {vector({1, 2}), vector({3, 4}), scalar(10)};
    fake.elapsedMilliseconds = 0.25f;
    fake.failures = failures;
    auto results = program->call(0, inputs);
    EXPECT_TRUE(results.ok()) << results.status().message();
    fake.failures.clear();
    if (results.ok())
      EXPECT_EQ(read((*results)[0]), (std::vector<float>{40, 60}));
    return trace->toJson();
  }
  std::shared_ptr<Trace> trace;
};

TEST_F(StreamTraceTest, EveryDispatchHasItsTime) {
  const std::string text = callTraced();
  EXPECT_EQ(fake.count("cuGraphLaunch"), 0u);
  for (const char *part : {R"("name": "call f", "cat": "call", "pid": 1)", R"("name": "load add", "cat": "load")",
                           R"("name": "add", "cat": "dispatch", "pid": 2)", R"("name": "scale", "cat": "dispatch")",
                           R"("dur": 250.000)", R"("variant": "sm_80", "kernel": "add", "grid": "1 x 1 x 1")",
                           R"x("args": {"name": "'Fake GPU' (sm_80, driver 13.0)"})x"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST_F(StreamTraceTest, WithoutTimesTheCallStillRuns) {
  for (const char *function : {"cuEventCreate", "cuEventRecord", "cuEventSynchronize", "cuEventElapsedTime_v2"}) {
    const std::string text = callTraced({{function, CUDA_ERROR_UNKNOWN}});
    EXPECT_NE(text.find("call f"), std::string::npos);
    EXPECT_EQ(text.find("\"dispatch\""), std::string::npos) << function;
    TearDown();
    fake.launches.clear();
    device.reset();
  }
}

/// What a command buffer does, traced and not.
class CommandBufferTraceTest : public CommandBufferFixture {
protected:
  std::string issueTraced(bool asGraph) {
    isGraph = asGraph;
    begin();
    EXPECT_TRUE(commands->fill(ref(), 1, 4).ok());
    EXPECT_TRUE(commands->barrier().ok());
    EXPECT_TRUE(commands->dispatch(executable, 0, {2, 1, 1}, {{ref(), ref()}, {1}}).ok());
    EXPECT_TRUE(commands->dispatch(executable, 0, {0, 1, 1}, {{ref(), ref()}, {1}}).ok()); // launches nothing
    EXPECT_TRUE(commands->end().ok());
    auto trace = std::make_shared<Trace>();
    device->setTrace(trace);
    fake.elapsedMilliseconds = 0.25f;
    EXPECT_TRUE(commands->issue(nullptr, {}).ok());
    device->setTrace(nullptr);
    return trace->toJson();
  }
};

TEST_F(CommandBufferTraceTest, EveryCommandHasItsTimeAlsoWhereItWouldBeAGraph) {
  for (bool asGraph : {false, true}) {
    const std::string text = issueTraced(asGraph);
    EXPECT_EQ(fake.count("cuGraphLaunch"), 0u);
    for (const char *part :
         {R"("name": "submit 'add'", "cat": "submission", "pid": 1)", R"("name": "fill", "cat": "fill", "pid": 2)",
          R"("name": "add", "cat": "dispatch", "pid": 2)", R"("dur": 250.000)",
          R"x("command": "2 (dispatch of 'add', variant 'v')")x"})
      EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    EXPECT_EQ(text.find("\"command\": \"3"), std::string::npos) << text;
    EXPECT_EQ(text.find("barrier"), std::string::npos) << text;
  }
  EXPECT_TRUE(commands->issue(nullptr, {}).ok());
  EXPECT_EQ(fake.count("cuGraphLaunch"), 1u) << "a graph again";
}

} // namespace tenon::runtime
