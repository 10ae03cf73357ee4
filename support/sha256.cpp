// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The message is padded to whole blocks of 64 bytes; each block is mixed into eight words in 64 rounds.
#include "support/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tenon {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
static constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

Sha256::Sha256()
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::block(const uint8_t *bytes) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i)
    w[i] = uint32_t(bytes[4 * i]) << 24 | uint32_t(bytes[4 * i + 1]) << 16 | uint32_t(bytes[4 * i + 2]) << 8 |
           uint32_t(bytes[4 * i + 3]);
  for (int i = 16; i < 64; ++i) {
    const uint32_t low = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
    const uint32_t high = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + low + w[i - 7] + high;
  }
  uint32_t s[8];
  std::copy(std::begin(state_), std::end(state_), s);
  for (int i = 0; i < 64; ++i) {
    const uint32_t e = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
    const uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
    const uint32_t first = s[7] + e + choice + kRound[i] + w[i];
    const uint32_t a = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
    const uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
    std::copy_backward(s, s + 7, s + 8);
    s[4] += first;
    s[0] = first + a + majority;
  }
  for (int i = 0; i < 8; ++i)
    state_[i] += s[i];
}

Sha256 &Sha256::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t used = size_t(size_ % 64);
    const size_t take = std::min<size_t>(64 - used, bytes.size());
    std::memcpy(pending_ + used, bytes.data(), take);
    bytes.remove_prefix(take);
    size_ += take;
    if (used + take == 64)
      block(pending_);
  }
  return *this;
}

Sha256 &Sha256::addField(std::string_view bytes) {
  uint64_t size = bytes.size();
  char length[8];
  for (char &byte : length) {
    byte = char(size & 0xff);
    size >>= 8;
  }
  return add({length, sizeof length}).add(bytes);
}

std::string Sha256::hex() {
  const uint64_t bits = size_ * 8;
  add({"\x80", 1});
  while (size_ % 64 != 56)
    add({"\0", 1});
  char length[8];
  for (int i = 0; i < 8; ++i)
    length[i] = char(bits >> (56 - 8 * i) & 0xff);
  add({length, sizeof length});
  std::string text;
  for (uint32_t word : state_)
    for (int shift = 28; shift >= 0; shift -= 4)
      text += "0123456789abcdef"[word >> shift & 15];
  return text;
}

std::string sha256(std::string_view bytes) {
  return Sha256().add(bytes).hex();
}

} // namespace tenon
