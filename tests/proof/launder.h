// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ways around a value: each takes a register and returns another one that holds the same value when the kernel runs,
// however the proof sees it. A pointer that went this way is the same pointer, so a write behind it refutes "proved".
//
//   whole values   64 bits in, 64 bits out: splits, masks, memory, calls (launder_values, launder_memory,
//   launder_calls) fields         up to 12 bits of a value, taken out, carried through a channel that keeps little
//   information at a
//                  time (predicates, ballots, tables, loop counts, ...), and put together again (launder_fields)
//   channels       the ways of a field, in 32 bits (field_channels, lane_channels)
#pragma once

#include "tests/proof/body.h"

#include <span>
#include <string_view>

namespace tenon::proof {

/// What a way uses, and the row of the report that it is counted in.
enum class Class : uint8_t {
  Arithmetic,
  Memory,
  Parameters,
  Calls,
  Predicates,
  Control,
  Lanes,
  Atomics,
  Copies,
  Maps,
  Benign
};
inline constexpr uint32_t kClasses = 11;
std::string_view classText(Class value);
/// All classes but Benign, or the one named; 0: there is none of that name.
uint32_t classMask(std::string_view name);
constexpr uint32_t maskOf(Class value) {
  return 1u << static_cast<uint32_t>(value);
}

struct ValueWay {
  const char *name;
  Class kind;
  std::string (*go)(Body &body, const std::string &value); // b64 to b64
};

struct Channel {
  const char *name;
  Class kind;
  uint32_t mostBits;
  std::string (*go)(Body &body, const std::string &field, uint32_t bits); // b32 to b32; the field is below 2^bits
};

std::span<const ValueWay> arithmeticWays();
std::span<const ValueWay> halfWays();
std::span<const ValueWay> memoryWays();
std::span<const ValueWay> callWays();
std::span<const Channel> plainChannels();
std::span<const Channel> controlChannels();
std::span<const Channel> laneChannels();
std::span<const Channel> memoryChannels();
std::span<const Channel> callChannels();

/// Everything that classes of the mask may use.
class Ways {
public:
  explicit Ways(uint32_t classes);
  explicit Ways(const ValueWay &way) : values_{&way} {}
  explicit Ways(const Channel &channel) : channels_{&channel} {}
  const ValueWay &value(Random &random) const { return *values_[random.below(uint32_t(values_.size()))]; }
  bool hasValues() const { return !values_.empty(); }
  const Channel &channel(Random &random) const { return *channels_[random.below(uint32_t(channels_.size()))]; }
  bool isOne() const { return values_.size() + channels_.size() == 1; }
  bool hasChannels() const { return !channels_.empty(); }

private:
  std::vector<const ValueWay *> values_;
  std::vector<const Channel *> channels_;
};

/// The same value once more, by one way or by several after each other. `used` gets the classes and `names` what was
/// taken, in order.
std::string launder(Body &body, const Ways &ways, std::string value, uint32_t &used, std::string &names);

/// Fields of the value through channels. What is below `firstBit` is lost: the result is rounded down to 2^firstBit.
std::string launderFields(Body &body, const Ways &ways, const std::string &value, uint32_t firstBit, uint32_t &used,
                          std::string &names);

/// One 32-bit half the way of one 64-bit value, for the recursion inside ways.
std::string launderHalf(Body &body, const std::string &half);

} // namespace tenon::proof
