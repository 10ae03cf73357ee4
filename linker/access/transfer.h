// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an instruction that computes does to the roles of its operands (origins.h): how they are combined, and what is
// left of that. The same rule holds for values that are known before anything runs (ids of an OriginTable) and for
// those of a run (Origins).
#pragma once

#include <cstdint>

namespace tenon::linker {

enum class Combine : uint8_t {
  Join,        // one of the sources
  Sum,         // of all
  Difference,  // source 0 - source 1
  MultiplyAdd, // source 0 * source 1 + source 2
  Scale,       // source 0 times a small number that is written there, + source 1
  Adjust,      // source 0, with some of its low 8 bits changed
  Mix,         // the low 8 bits of the result depend on those of the sources only
  Blend,       // anything
  Shift,       // as Mix of source 0, by source 1
  Pack,        // source 0 below source 1 below ...
  Select,      // one of all but the last, which chooses
  Shuffle,     // source 0 of some thread, which the others choose
  Extreme,     // one of all, by their order
  Equal,       // whether two are the same, and a predicate
  Within,      // source 0 as an address of what source 1 is the address of
};

enum class Finish : uint8_t {
  Keep,
  Truncate, // its low bytes
  LowByte,  // of its low 8 bits
  LowIndex, // the same, as an unsigned number
  Narrow,   // one of at most 4096 values
  Index,    // the same, below 2^15
  Gather,   // of several threads together
};

struct Transfer {
  Combine combine = Combine::Join;
  Finish finish = Finish::Keep;
  bool operator==(const Transfer &) const = default;
};

/// The result of `count` sources, source(0) and so on, at least one. `algebra`: join, sum, negated, scaled, adjusted,
/// mix, blend, pack, select, within, and what a Finish is called in it.
template <typename Algebra, typename Source>
auto evaluate(Transfer transfer, uint32_t count, Source source, Algebra &algebra) {
  auto fold = [&](auto operation, uint32_t begin, uint32_t end) {
    auto value = source(begin);
    for (uint32_t i = begin + 1; i < end; ++i)
      value = operation(value, source(i));
    return value;
  };
  auto join = [&](auto a, auto b) { return algebra.join(a, b); };
  auto blend = [&](auto a, auto b) { return algebra.blend(a, b); };
  auto blended = [&](uint32_t begin) { return algebra.blend(algebra.number(), fold(blend, begin, count)); };
  auto difference = [&](uint32_t a, uint32_t b) { return algebra.sum(source(a), algebra.negated(source(b))); };
  auto combined = [&] {
    switch (transfer.combine) {
    case Combine::Join:
      return fold(join, 0, count);
    case Combine::Sum:
      return count == 1 ? algebra.sum(algebra.number(), source(0))
                        : fold([&](auto a, auto b) { return algebra.sum(a, b); }, 0, count);
    case Combine::Difference:
      return count == 2 ? difference(0, 1) : count == 1 ? algebra.negated(source(0)) : blended(0);
    case Combine::MultiplyAdd:
      return count == 3 ? algebra.sum(algebra.mix(source(0), source(1)), source(2)) : blended(0);
    case Combine::Scale:
      return count == 2 ? algebra.sum(algebra.scaled(source(0)), source(1)) : algebra.scaled(source(0));
    case Combine::Adjust:
      return algebra.adjusted(source(0));
    case Combine::Mix:
      return algebra.mix(algebra.number(), fold([&](auto a, auto b) { return algebra.mix(a, b); }, 0, count));
    case Combine::Blend:
      return blended(0);
    case Combine::Shift:
      return count == 2 ? algebra.select(algebra.mix(algebra.number(), source(0)), source(1)) : blended(0);
    case Combine::Pack:
      return fold([&](auto a, auto b) { return algebra.pack(a, b); }, 0, count);
    case Combine::Select:
      return count > 1 ? algebra.select(fold(join, 0, count - 1), algebra.narrowed(source(count - 1))) : source(0);
    case Combine::Shuffle:
      return count > 1 ? algebra.select(source(0), algebra.narrowed(blended(1))) : source(0);
    case Combine::Extreme:
      return count == 2 ? algebra.select(fold(join, 0, 2), algebra.narrowed(blended(0))) : blended(0);
    case Combine::Equal:
      return count == 2   ? difference(0, 1)
             : count == 3 ? algebra.blend(algebra.narrowed(difference(0, 1)), source(2))
                          : blended(0);
    case Combine::Within:
      return count == 2 ? algebra.within(source(0), source(1)) : blended(0);
    }
    __builtin_unreachable();
  };
  const auto value = combined();
  switch (transfer.finish) {
  case Finish::Keep:
    return value;
  case Finish::Truncate:
    return algebra.truncated(value);
  case Finish::LowByte:
    return algebra.lowByte(value);
  case Finish::LowIndex:
    return algebra.lowIndex(value);
  case Finish::Narrow:
    return algebra.narrowed(value);
  case Finish::Index:
    return algebra.indexed(value);
  case Finish::Gather:
    return algebra.gathered(value);
  }
  __builtin_unreachable();
}

} // namespace tenon::linker
