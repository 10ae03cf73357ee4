// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/status.h"

#include "support/result.h"

#include <gtest/gtest.h>
#include <memory>
#include <set>

using namespace tenon;

TEST(Status, OkHasNoMessage) {
  Status status = okStatus();
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::Ok);
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(status.toString(), "ok");
  EXPECT_TRUE(Status(StatusCode::Ok, "a message that success drops").ok());
  static_assert(sizeof(Status) == sizeof(void *));
}

TEST(Status, PrintsCodeAndMessage) {
  Status status = makeError(StatusCode::NotFound, "cannot read '", std::string("x"), "': line ", 3u, ' ', true);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::NotFound);
  EXPECT_EQ(status.toString(), "not found: cannot read 'x': line 3 true");
}

TEST(Status, NamesEveryCodeDifferently) {
  std::set<std::string_view> names;
  for (int code = 0; code <= int(StatusCode::Internal); ++code)
    EXPECT_TRUE(names.insert(statusCodeName(StatusCode(code))).second);
  EXPECT_FALSE(names.contains("unknown"));
  EXPECT_EQ(statusCodeName(StatusCode(99)), "unknown");
}

TEST(Status, PutsContextInFront) {
  EXPECT_EQ(makeError(StatusCode::DataLoss, "bad").withContext("images[2]").withContext("'x'").toString(),
            "data loss: 'x': images[2]: bad");
  EXPECT_TRUE(okStatus().withContext("x").ok());
}

TEST(Status, ClonesAndMoves) {
  Status status = makeError(StatusCode::Aborted, "why");
  Status copy = status.clone();
  Status moved = std::move(status);
  EXPECT_EQ(copy.toString(), "aborted: why");
  EXPECT_EQ(moved.toString(), "aborted: why");
  EXPECT_TRUE(okStatus().clone().ok());
}

static Status failAbove(int value, int limit) {
  return value > limit ? makeError(StatusCode::OutOfRange, value, " > ", limit) : okStatus();
}

static Status firstFailure(int value) {
  TENON_RETURN_IF_ERROR(failAbove(value, 10));
  TENON_RETURN_IF_ERROR(failAbove(value, 5));
  return okStatus();
}

TEST(Status, ReturnsTheFirstFailure) {
  EXPECT_EQ(firstFailure(11).message(), "11 > 10");
  EXPECT_EQ(firstFailure(6).message(), "6 > 5");
  EXPECT_TRUE(firstFailure(5).ok());
}

static Result<std::unique_ptr<int>> half(int value) {
  if (value % 2)
    return makeError(StatusCode::InvalidArgument, value, " is odd");
  return std::make_unique<int>(value / 2);
}

static Result<int> quarter(int value) {
  TENON_ASSIGN_OR_RETURN(auto first, half(value));
  TENON_ASSIGN_OR_RETURN(auto second, half(*first));
  return *second;
}

TEST(Result, HoldsAValueOrAStatus) {
  EXPECT_EQ(*quarter(12), 3);
  auto failed = quarter(6);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(failed.takeStatus().message(), "3 is odd");
}

TEST(Result, MovesTheValueOut) {
  auto result = half(8);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result.status().ok());
  EXPECT_EQ(**result, 4);
  std::unique_ptr<int> value = result.take();
  EXPECT_EQ(*value, 4);
}

TEST(Result, SaysThatAnOkStatusIsNoValue) {
  Result<int> result = okStatus();
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.status().toString(), "internal: a Result was made from an ok Status");
}
