// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/trace.h"

#include <gtest/gtest.h>
#include <thread>

namespace tenon::runtime {

TEST(Trace, WritesSpansInTheOrderOfTheirBeginnings) {
  Trace trace;
  trace.add({.name = "late", .category = "call", .beginUs = 20, .endUs = 25, .details = {{"grid", "1 x 2 x 3"}}});
  trace.add({.name = "early", .category = "dispatch", .track = "GPU", .beginUs = 1.5, .endUs = 2});
  EXPECT_EQ(trace.toJson(), R"([
{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "host"}},
{"ph": "M", "name": "process_name", "pid": 2, "tid": 0, "args": {"name": "GPU"}},
{"ph": "X", "name": "early", "cat": "dispatch", "pid": 2, "tid": 1, "ts": 1.500, "dur": 0.500, "args": {}},
{"ph": "X", "name": "late", "cat": "call", "pid": 1, "tid": 1, "ts": 20.000, "dur": 5.000, "args": {"grid": "1 x 2 x 3"}}
]
)");
}

TEST(Trace, EscapesNames) {
  Trace trace;
  trace.add({.name = "a\"b\\c\n", .category = "x"});
  EXPECT_NE(trace.toJson().find(R"("name": "a\"b\\c\u000a")"), std::string::npos) << trace.toJson();
}

TEST(Trace, EachThreadHasATrack) {
  Trace trace;
  {
    HostSpan span(&trace, "call", "call", "one");
  }
  std::thread([&] { HostSpan span(&trace, "call", "call", "two"); }).join();
  const std::string text = trace.toJson();
  EXPECT_NE(text.find("\"call one\", \"cat\": \"call\", \"pid\": 1, \"tid\": 1"), std::string::npos) << text;
  EXPECT_NE(text.find("\"call two\", \"cat\": \"call\", \"pid\": 1, \"tid\": 2"), std::string::npos) << text;
}

TEST(HostSpan, WithoutATraceDoesNothing) {
  HostSpan span(nullptr, "call", "call", "f");
  span.detail("a", "b");
}

TEST(Trace, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_FALSE(Trace().write("/no/such/folder/trace.json").ok());
}

} // namespace tenon::runtime
