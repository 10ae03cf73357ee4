// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/format/unpack_zstd.h"

#include <gtest/gtest.h>
#include <string>
#include <zstd.h>

namespace tenon::abi {
namespace {

std::vector<uint8_t> packed(const std::string &text) {
  std::vector<uint8_t> out(ZSTD_compressBound(text.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

TEST(UnpackZstd, UnpacksEverySize) {
  for (size_t size : {0u, 1u, 1000u, 262144u, 262145u, 3000000u}) {
    std::string text;
    for (size_t i = 0; i < size; ++i)
      text += char('a' + i * i % 26);
    std::vector<uint8_t> out;
    ASSERT_TRUE(unpackZstd(packed(text), size, out).ok()) << size;
    EXPECT_EQ(std::string(out.begin(), out.end()), text);
  }
}

TEST(UnpackZstd, RefusesAnotherSize) {
  const std::vector<uint8_t> bytes = packed(std::string(1000, 'x'));
  std::vector<uint8_t> out;
  EXPECT_EQ(unpackZstd(bytes, 999, out).code(), StatusCode::DataLoss);
  EXPECT_EQ(unpackZstd(bytes, 0, out).code(), StatusCode::DataLoss);
  EXPECT_EQ(unpackZstd(bytes, 1001, out).message(), "it unpacks to 1000 bytes, not 1001");
}

TEST(UnpackZstd, RefusesDamage) {
  const std::vector<uint8_t> bytes = packed("some text that is long enough to be packed, text, text, text");
  std::vector<uint8_t> out;
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(unpackZstd({bytes.data(), size}, 60, out).ok()) << size;
  std::vector<uint8_t> longer = bytes;
  longer.push_back(0);
  EXPECT_FALSE(unpackZstd(longer, 60, out).ok());
}

TEST(UnpackZstd, PromisesCostNothing) {
  const std::vector<uint8_t> bytes = packed(std::string(1000, 'x'));
  std::vector<uint8_t> out;
  EXPECT_EQ(unpackZstd(bytes, 512ull << 20, out).code(), StatusCode::ResourceExhausted);
  EXPECT_EQ(unpackZstd(bytes, kFreeUnpackBytes, out).code(), StatusCode::DataLoss);
  EXPECT_LT(out.capacity(), 1u << 20);
}

} // namespace
} // namespace tenon::abi
