// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A search for a pointer: guess after guess is compared with it, and what that says chooses where to write, without a
// branch: behind the guess where it is right, else to a harmless place. No guess knows anything of the pointer but its
// low 8 bits.
#pragma once

#include "tests/proof/launder.h"

#include <functional>

namespace tenon::proof {

/// Near buffers lie at multiples of kNearSteps within these 4 GiB, the pointer kBefore and less than 4096 bytes above.
inline constexpr uint64_t kNear = 0x1234'0000'0000, kNearBytes = uint64_t(1) << 32, kNearSteps = 1 << 20;
inline constexpr uint64_t kBefore = 16 << 10;

/// How a guess is compared.
struct Guess {
  const char *name;
  Class kind;
  std::string (*go)(Body &body, const std::string &pointer,
                    const std::string &guess); // b64: all ones where it is right
};
std::span<const Guess> guesses();

/// @param harmless b64, an address
/// @param write is called once, inside of the loop, with the address
void search(Body &body, const Guess &guess, const std::string &pointer, const std::string &harmless,
            const std::function<void(const std::string &)> &write);

} // namespace tenon::proof
