// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/object/object_reader.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

class ObjectReaderTest : public ::testing::Test {
protected:
  const Object &read(std::string_view body) {
    input_ = {.path = "a.ptx", .bytes = ptxModule(body)};
    object_ = ObjectReader(requests_).read(input_, diagnostics_);
    EXPECT_EQ(diagnostics_.toString(), "");
    return *object_;
  }
  const KernelTrace *trace(std::string_view kernel, std::vector<bool> pointers) {
    return object_->traceOf(*object_->functions.find(kernel), slotPerParameter(pointers));
  }

  TraceRequests requests_;
  ObjectInput input_;
  Diagnostics diagnostics_;
  std::unique_ptr<Object> object_;
};

constexpr std::string_view kWrites = ".visible .entry k(.param .u64 p) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [p];\n"
                                     "st.global.u32 [%rd1], 1; ret; }\n";

TEST_F(ObjectReaderTest, KeepsNoBodiesAndReadsThemAgain) {
  requests_.add("k", slotPerParameter({true}));
  const Object &object = read(kWrites);
  EXPECT_TRUE(object.module.functions[0].instructions.empty());
  const ptx::Function &body = object.bodyOf(0);
  ASSERT_EQ(body.instructions.size(), 3u);
  EXPECT_EQ(object.placeOf(body.instructions[1]).toString(), "a.ptx:5:1");
  EXPECT_EQ(object.registerStems, (std::vector<std::string_view>{"%rd"}));
}

TEST_F(ObjectReaderTest, TracesTheKernelsThatAreAskedFor) {
  requests_.add("k", slotPerParameter({true}));
  requests_.add("k", slotPerParameter({false}));
  read(std::string(kWrites) + entry("other", "p"));
  ASSERT_NE(trace("k", {true}), nullptr);
  EXPECT_TRUE(trace("k", {true})->slots[0].written);
  EXPECT_FALSE(trace("k", {false})->slots[0].written) << "a constant";
  EXPECT_EQ(trace("other", {true}), nullptr);
}

TEST_F(ObjectReaderTest, TracesKernelsInAnyOrder) {
  for (const char *name : {"c", "k", "a", "b"})
    requests_.add(name, slotPerParameter({true}));
  read(entry("b", "p") + entry("none", "p") + std::string(kWrites) + entry("a", "p") + entry("c", "p"));
  for (const char *name : {"a", "b", "c", "k"})
    EXPECT_NE(trace(name, {true}), nullptr) << name;
  EXPECT_EQ(trace("none", {true}), nullptr);
}

TEST_F(ObjectReaderTest, ReadsOneObjectAfterTheOther) {
  requests_.add("k", slotPerParameter({true}));
  ObjectReader reader(requests_);
  const ObjectInput inputs[] = {{.path = "a.ptx", .bytes = ptxModule(std::string(kWrites) + entry("other", "p"))},
                                {.path = "b.ptx", .bytes = ptxModule(".visible .entry k() { add.s32 %r1 %r2; }\n")},
                                {.path = "c.ptx",
                                 .bytes = ptxModule(".visible .entry k(.param .u64 p) { .reg .b64 %rd<2>;\n"
                                                    "ld.param.u64 %rd1, [p]; ld.global.u32 _, [%rd1]; ret; }\n")}};
  const std::unique_ptr<Object> first = reader.read(inputs[0], diagnostics_);
  EXPECT_EQ(reader.read(inputs[1], diagnostics_), nullptr);
  const std::unique_ptr<Object> last = reader.read(inputs[2], diagnostics_);
  ASSERT_TRUE(first && last);
  // What was read first has not changed under what came behind it.
  ASSERT_EQ(first->module.functions.size(), 2u);
  EXPECT_EQ(first->module.functions[1].name, "other");
  EXPECT_EQ(first->bodyOf(0).instructions[1].modifiers.size(), 2u);
  EXPECT_TRUE(first->traceOf(first->module.functions[0], slotPerParameter({true}))->slots[0].written);
  ASSERT_EQ(last->module.functions.size(), 1u);
  EXPECT_FALSE(last->traceOf(last->module.functions[0], slotPerParameter({true}))->slots[0].written);
  EXPECT_TRUE(last->traceOf(last->module.functions[0], slotPerParameter({true}))->slots[0].addressed);
}

TEST_F(ObjectReaderTest, FollowsCallsToFunctionsFurtherDown) {
  requests_.add("k", slotPerParameter({true}));
  read(".func f(.param .b64 x);\n"
       ".visible .entry k(.param .u64 p) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [p];\n"
       "{ .param .b64 a; st.param.b64 [a], %rd1; call f, (a); } ret; }\n"
       ".func f(.param .b64 x) { .reg .b64 %rd<2>; ld.param.b64 %rd1, [x]; st.global.u32 [%rd1], 1; ret; }\n");
  ASSERT_NE(trace("k", {true}), nullptr);
  const SlotAccess &access = trace("k", {true})->slots[0];
  ASSERT_TRUE(access.written);
  EXPECT_EQ(object_->module.functions[access.written->function].name, "f");
  EXPECT_FALSE(object_->module.functions[access.written->function].isDeclaration);
}

TEST_F(ObjectReaderTest, ANameThatIsDeclaredTooLateIsStillSeen) {
  requests_.add("k", slotPerParameter({true}));
  const Object &object = read(".visible .entry k(.param .u64 p) { .reg .b64 %rd<2>; mov.u64 %rd1, late;\n"
                              "st.global.u32 [%rd1], 1; ret; }\n.global .u32 late;\n");
  ASSERT_EQ(object.factsOf(object.module.functions[0]).uses.size(), 1u);
  EXPECT_EQ(object.factsOf(object.module.functions[0]).uses[0].name, "late");
  ASSERT_NE(trace("k", {true}), nullptr);
  EXPECT_TRUE(trace("k", {true})->writesModule);
}

TEST_F(ObjectReaderTest, NotesWhatABodyUses) {
  requests_.add("k");
  const Object &object = read(".global .u32 x;\n.visible .entry k() { .shared .b32 s[8]; .reg .b64 %rd<2>; .reg .b32 "
                              "%r<5>;\nmov.u64 %rd1, x; mov.u64 %rd1, x; call nowhere; tex.1d.v4.u32.s32 {%r1, %r2, "
                              "%r3, %r4}, [%rd1, {%r1}];\nret; }\n");
  const BodyFacts &facts = object.factsOf(object.module.functions[0]);
  ASSERT_EQ(facts.uses.size(), 2u);
  EXPECT_EQ(facts.uses[0].name, "x");
  EXPECT_EQ(facts.uses[0].line, 6u);
  EXPECT_TRUE(facts.uses[1].isUndeclared);
  ASSERT_EQ(facts.shared.size(), 1u);
  EXPECT_EQ(facts.handleUse, 3u);
}

TEST_F(ObjectReaderTest, AnErrorIsReportedAndNothingReturned) {
  input_ = {.path = "a.ptx", .bytes = ptxModule(".visible .entry k() { add.s32 %r1 %r2; }\n")};
  EXPECT_EQ(ObjectReader(requests_).read(input_, diagnostics_), nullptr);
  EXPECT_TRUE(diagnostics_.hasErrors());
}

TEST(LoadInputs, TheNumberOfThreadsDoesNotShow) {
  Job job;
  for (int i = 0; i < 40; ++i) {
    const std::string name = concat("k", i);
    job.add(makeExport(name, 1));
    std::string padding; // a megabyte in all, or one thread would do it
    for (int line = 0; line < 4000; ++line)
      padding += concat("// line ", line, " of ", name, '\n');
    job.object(name + ".ptx", ptxModule(entry(name, i % 7 == 3 ? "w" : "p") + padding));
  }
  job.job.jobs = 1;
  const Linked one = linkJob(job);
  job.job.jobs = 7;
  const Linked many = linkJob(job);
  EXPECT_TRUE(one.has("K-4"));
  EXPECT_EQ(one.text(), many.text());
}

} // namespace
} // namespace tenon::linker
