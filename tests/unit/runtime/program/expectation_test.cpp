// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a function expects of its own values, on the fake driver.
#include "runtime/program/expectation.h"

#include "runtime/queue/submission_queue.h"
#include "runtime/queue/timeline_semaphore.h"
#include "tests/unit/runtime/call_fixture.h"

namespace tenon::runtime {

using abi::fb::ExpectationKind;

class ExpectationTest : public CallTest {
protected:
  /// f of call_fixture.h, which also expects what `expectations` say.
  Program &loadExpecting(std::vector<ExpectationSpec> expectations) {
    FunctionSpec function = addAndScale();
    function.expectations = std::move(expectations);
    return load({function});
  }
  /// What f finds for a + b scaled by 1.
  std::vector<ExpectationOutcome> outcomesOf(const std::vector<float> &a, const std::vector<float> &b) {
    std::vector<ExpectationOutcome> outcomes;
    CallOptions options;
    options.expectations = &outcomes;
    auto results = program->call(0, std::vector<Value>{vector(a), vector(b), scalar(1)}, options);
    EXPECT_TRUE(results.ok()) << results.status().message();
    if (results.ok())
      EXPECT_EQ(results->size(), 2u) << "what is compared is no result";
    return outcomes;
  }
  static ResultSpec buffer(uint32_t index) { return {.type = {ElementType::F32, {-1}}, .buffer = index, .shape = {0}}; }
};

TEST_F(ExpectationTest, HoldsOrListsWhatDiffers) {
  loadExpecting({{ExpectationKind::Equal, buffer(2), buffer(1), 0, 0, "f.mlir:9:3"},
                 {ExpectationKind::AlmostEqual, buffer(2), buffer(1), 0.5, 0.25, "f.mlir:10:3"},
                 {ExpectationKind::NonZero, buffer(0), {}, 0, 0, "f.mlir:11:3"}});
  std::vector<ExpectationOutcome> outcomes = outcomesOf({0, 0, 0}, {1, 2, 3});
  ASSERT_EQ(outcomes.size(), 3u);
  EXPECT_TRUE(outcomes[0].holds()) << outcomes[0].difference;
  EXPECT_TRUE(outcomes[1].holds()) << outcomes[1].difference;
  EXPECT_EQ(outcomes[2].toString(), "f.mlir:11:3: check.expect: 3 of 3 elements are zero\n    [0]: got 0\n"
                                    "    [1]: got 0\n    [2]: got 0");
  // 0.5 + 0.25 * |wanted|: the second is at its limit, the third past it.
  outcomes = outcomesOf({0, 1, 1.5}, {1, 2, 3});
  EXPECT_EQ(outcomes[0].difference, "2 of 3 elements differ\n    [1]: got 3, wanted 2\n    [2]: got 4.5, wanted 3");
  EXPECT_EQ(outcomes[1].difference, "1 of 3 elements differs by more than atol 0.5 + rtol 0.25 * |wanted|, at most by "
                                    "1.5\n    [2]: got 4.5, wanted 3");
  EXPECT_EQ(outcomes[2].difference, "1 of 3 elements is zero\n    [0]: got 0");
}

// The compared buffer is a result too: each call has to tell its graph where the new one lies.
TEST_F(ExpectationTest, EveryCallWritesItsOwnResults) {
  loadExpecting({{ExpectationKind::Equal, buffer(2), buffer(1)}});
  std::vector<ExpectationOutcome> outcomes;
  CallOptions options;
  options.expectations = &outcomes;
  std::vector<Value> kept;
  for (int i = 0; i < 2; ++i) {
    auto results = program->call(0, std::vector<Value>{vector({0}), vector({3}), scalar(2)}, options);
    ASSERT_TRUE(results.ok()) << results.status().message();
    EXPECT_EQ(outcomes[0].difference, "1 of 1 element differs\n    [0]: got 6, wanted 3") << i;
    kept.push_back((*results)[0]); // so that the next call has other memory
  }
}

TEST_F(ExpectationTest, ListsNoMoreThanEightElements) {
  loadExpecting({{ExpectationKind::Equal, buffer(2), buffer(1)}});
  const std::string difference = outcomesOf(std::vector<float>(11, 1), std::vector<float>(11, 1))[0].difference;
  EXPECT_NE(difference.find("    [7]: got 2, wanted 1\n    and 3 more"), std::string::npos) << difference;
  EXPECT_EQ(difference.find("[8]"), std::string::npos);
}

TEST_F(ExpectationTest, PrintsDigitsThatTellTheElementsApart) {
  loadExpecting({{ExpectationKind::Equal, buffer(2), buffer(1)}});
  EXPECT_EQ(outcomesOf({0x1p-23f}, {1})[0].difference, "1 of 1 element differs\n    [0]: got 1.00000012, wanted 1");
}

TEST_F(ExpectationTest, ComparesScalarsAndShapes) {
  const ResultSpec length = {.type = {ElementType::I64, {}, true}, .scalar = 0};
  ResultSpec longer = buffer(1);
  longer.shape = {7}; // register 7 is 1
  loadExpecting({{ExpectationKind::Zero, length, {}}, {ExpectationKind::Equal, buffer(2), longer}});
  const std::vector<ExpectationOutcome> outcomes = outcomesOf({0, 0, 0}, {1, 2, 3});
  EXPECT_EQ(outcomes[0].toString(), "check.expect: 1 of 1 element is not zero\n    got 3");
  EXPECT_EQ(outcomes[1].difference, "got tensor<3xf32>, wanted tensor<1xf32>");
}

TEST_F(ExpectationTest, FailsACallThatAsksForNoOutcomes) {
  loadExpecting(
      {{ExpectationKind::Equal, buffer(2), buffer(1), 0, 0, "f.mlir:9:3"}, {ExpectationKind::NonZero, buffer(1), {}}});
  const std::vector<Value> good = {vector({0}), vector({5}), scalar(1)}, bad = {vector({1}), vector({5}), scalar(1)};
  ASSERT_OK(program->call(0, good).status());
  EXPECT_STATUS(program->call(0, bad).status(), FailedPrecondition,
                "function 'f': 1 of 2 expectations failed\n  f.mlir:9:3: check.expect: 1 of 1 element differs\n"
                "    [0]: got 6, wanted 5");
  // The same memory again: the results stay two.
  std::vector<Value> results;
  ASSERT_OK(program->callInto(0, good, results));
  ASSERT_EQ(results.size(), 2u);
  EXPECT_STATUS(program->callInto(0, bad, results), FailedPrecondition, "got 6, wanted 5");
  ASSERT_EQ(results.size(), 2u);
  ASSERT_OK(program->callInto(0, good, results));
}

TEST_F(ExpectationTest, AreRefusedWhereTheCallDoesNotEnd) {
  loadExpecting({{ExpectationKind::Equal, buffer(2), buffer(1)}});
  const std::vector<Value> inputs = {vector({0}), vector({5}), scalar(1)};
  CallOptions options;
  options.stream = nullptr;
  EXPECT_STATUS(program->call(0, inputs, options).status(), FailedPrecondition, "has 1 expectations (check.*)");
  auto queue = SubmissionQueue::create(device);
  ASSERT_OK(queue.status());
  std::vector<Value> results;
  EXPECT_STATUS(program->submit(**queue, {}, 0, inputs, results, {}), FailedPrecondition, "call it without a stream");
}

} // namespace tenon::runtime
