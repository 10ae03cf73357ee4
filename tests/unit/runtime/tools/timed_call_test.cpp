// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/timed_call.h"

#include "tests/unit/runtime/call_fixture.h"

namespace tenon::runtime {

class TimedCallTest : public CallTest {
protected:
  Result<std::unique_ptr<TimedCall>> create() {
    load({addAndScale()});
    return TimedCall::create(*program, 0, {vector({1, 2}), vector({3, 4}), scalar(2)});
  }
  size_t calls() const {
    size_t count = 0;
    for (const FakeLaunch &launch : fake.launches)
      count += launch.kernel == "add";
    return count;
  }
};

TEST_F(TimedCallTest, CallsAsOftenAsAskedAndAllocatesOnce) {
  auto timed = create();
  ASSERT_OK(timed.status());
  EXPECT_EQ((*timed)->name(), "f");
  EXPECT_EQ((*timed)->bytes(), 24u); // two inputs and a result of 8; scalars are none
  EXPECT_EQ(calls(), 1u);
  ASSERT_OK((*timed)->callMany(1)); // readies the call for the stream
  const uint64_t allocations = device->statistics().allocations;
  ASSERT_OK((*timed)->call());
  ASSERT_OK((*timed)->callMany(5));
  EXPECT_EQ(calls(), 8u);
  fake.elapsedMilliseconds = 250;
  auto seconds = (*timed)->deviceSeconds(3);
  ASSERT_OK(seconds.status());
  EXPECT_EQ(*seconds, 0.25);
  EXPECT_EQ(calls(), 11u);
  EXPECT_EQ(device->statistics().allocations, allocations);
}

TEST_F(TimedCallTest, WaitsOnceForManyCalls) {
  auto timed = create();
  ASSERT_OK(timed.status());
  const size_t waits = fake.count("cuStreamSynchronize");
  ASSERT_OK((*timed)->callMany(7));
  EXPECT_EQ(fake.count("cuStreamSynchronize"), waits + 1);
}

TEST_F(TimedCallTest, SaysWhatFailed) {
  auto timed = create();
  ASSERT_OK(timed.status());
  for (const char *function : {"cuStreamSynchronize", "cuEventRecord", "cuEventElapsedTime_v2"}) {
    fake.failures = {{function, CUDA_ERROR_ILLEGAL_ADDRESS}};
    EXPECT_STATUS((*timed)->deviceSeconds(1).status(), Aborted, function);
  }
  fake.failures = {{"cuStreamSynchronize", CUDA_ERROR_ILLEGAL_ADDRESS}};
  EXPECT_STATUS((*timed)->callMany(1), Aborted, "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  fake.failures.clear();
}

TEST_F(TimedCallTest, IsNotMadeWithoutStreamOrEvents) {
  load({addAndScale()});
  for (const char *function : {"cuStreamCreate", "cuEventCreate"}) {
    fake.failures = {{function, CUDA_ERROR_OUT_OF_MEMORY}};
    auto timed = TimedCall::create(*program, 0, {vector({1, 2}), vector({3, 4}), scalar(2)});
    EXPECT_STATUS(timed.status(), ResourceExhausted, function);
    fake.failures.clear();
  }
}

} // namespace tenon::runtime
