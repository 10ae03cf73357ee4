#include "abi/status.h"

#include <gtest/gtest.h>

TEST(Status, OkHasNoMessage) { EXPECT_TRUE(tenon::okStatus().ok()); }
