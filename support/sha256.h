// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SHA-256 (FIPS 180-4): names for contents that nobody can make collide by accident or on purpose. For the caches
// of compiled code; nothing in an output file depends on it but ids of internal names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon {

class Sha256 {
public:
  Sha256();
  /// Appends bytes.
  Sha256 &add(std::string_view bytes);
  /// Appends one field: its length, then its bytes, so that ("ab", "c") and ("a", "bc") differ.
  Sha256 &addField(std::string_view bytes);
  /// 64 lower-case hexadecimal digits; call once, at the end.
  std::string hex();

private:
  void block(const uint8_t *bytes);

  uint32_t state_[8];
  uint8_t pending_[64];
  uint64_t size_ = 0; // bytes added
};

std::string sha256(std::string_view bytes);

} // namespace tenon
