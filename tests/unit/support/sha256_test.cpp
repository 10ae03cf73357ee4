// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/sha256.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

// The examples of FIPS 180-4.
TEST(Sha256, GivesTheStandardsDigests) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, TakesAnyPieces) {
  const std::string text(200, 'x');
  for (size_t piece : {1u, 7u, 63u, 64u, 65u, 199u}) {
    Sha256 hash;
    for (size_t at = 0; at < text.size(); at += piece)
      hash.add(std::string_view(text).substr(at, piece));
    EXPECT_EQ(hash.hex(), sha256(text)) << piece;
  }
}

TEST(Sha256, TellsFieldsApart) {
  EXPECT_NE(Sha256().addField("ab").addField("c").hex(), Sha256().addField("a").addField("bc").hex());
}

} // namespace
} // namespace tenon
