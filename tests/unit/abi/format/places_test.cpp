// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/format/places.h"

#include <gtest/gtest.h>

namespace tenon::abi {
namespace {

Export declaredAt(std::string file, uint32_t line, uint32_t column) {
  Export value;
  value.declaredAt = {std::move(file), line, column};
  return value;
}

TEST(Places, ComeBackByOrdinal) {
  const std::vector<Export> exports = {declaredAt("a.mlir", 3, 5), declaredAt("", 0, 0), declaredAt("C:x.json", 7, 0)};
  const std::vector<uint8_t> frame = placesToFrame(exports);
  for (uint32_t i = 0; i < exports.size(); ++i)
    EXPECT_EQ(placeFromFrame(frame, i, exports.size()).toString(), exports[i].declaredAt.toString());
  EXPECT_FALSE(placeFromFrame(frame, 3, exports.size()).known());
}

TEST(Places, TakeNoRoomWhenNoneIsKnown) {
  EXPECT_TRUE(placesToFrame({declaredAt("", 0, 0)}).empty());
}

TEST(Places, LeaveOutWhatDoesNotFitOnALine) {
  const std::vector<Export> exports = {declaredAt("two\nlines", 1, 1), declaredAt(std::string(9000, 'x'), 1, 1),
                                       declaredAt("a", 1, 1)};
  const std::vector<uint8_t> frame = placesToFrame(exports);
  EXPECT_FALSE(placeFromFrame(frame, 0, 3).known());
  EXPECT_FALSE(placeFromFrame(frame, 1, 3).known());
  EXPECT_EQ(placeFromFrame(frame, 2, 3).toString(), "a:1:1");
}

TEST(Places, OfADamagedFrameAreUnknown) {
  std::vector<uint8_t> frame = placesToFrame({declaredAt("a", 1, 1)});
  EXPECT_FALSE(placeFromFrame({frame.data(), 3}, 0, 1).known());
  frame[frame.size() / 2] ^= 0xff;
  (void)placeFromFrame(frame, 0, 1); // any answer, no crash
}

} // namespace
} // namespace tenon::abi
