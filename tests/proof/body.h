// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of a kernel or function while it grows: fresh registers, labels, variables, and choices by a seed.
#pragma once

#include "support/status.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tenon::proof {

/// Splitmix64: the same numbers from the same seed on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// 0 to n - 1.
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(next() % n); }
  bool chance(uint32_t percent) { return below(100) < percent; }
  const char *one(std::initializer_list<const char *> names) { return names.begin()[below(uint32_t(names.size()))]; }

private:
  uint64_t state_;
};

/// What is shared by the bodies of one module: functions and variables in front of the kernel, and the numbers of
/// names.
struct ModuleText {
  std::string text;
  uint32_t names = 0;
  std::string name(const char *stem) { return concat(stem, names++); }
};

class Body {
public:
  using Lines = std::vector<std::string>;
  Body(Random &random, ModuleText &module, uint32_t depth = 0) : random(random), module(module), depth(depth) {}

  Random &random;
  ModuleText &module;
  const uint32_t depth;  // of calls
  std::string parameter; // of the kernel, that is laundered now; empty: it is none of this body
  std::string before;    // the parameter in front of it, a pointer too; empty: there is none
  std::string other;     // b64: another buffer, which the kernel may use as it likes; empty: there is none

  std::string r64() { return concat("%rd", counts_[0]++); }
  std::string r32() { return concat("%r", counts_[1]++); }
  std::string r16() { return concat("%rs", counts_[2]++); }
  std::string pred() { return concat("%p", counts_[3]++); }
  std::string f32() { return concat("%f", counts_[4]++); }
  std::string f64() { return concat("%fd", counts_[5]++); }
  std::string r128() { return concat("%rq", counts_[6]++); }
  std::string label() { return concat("$L", labels_++); }

  template <typename... Parts> void line(const Parts &...parts) { lines_.push_back(concat(parts...)); }
  /// A variable of this body: `.shared .align 16 .b8 NAME[bytes];`. Returns its name.
  std::string variable(const char *space, uint32_t bytes, uint32_t alignment = 16) {
    std::string name = module.name("v");
    declarations_.push_back(concat(".", space, " .align ", alignment, " .b8 ", name, "[", bytes, "];"));
    return name;
  }

  Lines &lines() { return lines_; }
  /// Its lines between braces, declarations first; one line each, so that lines can be taken out one by one.
  std::string text() const;

private:
  std::array<uint32_t, 7> counts_ = {};
  uint32_t labels_ = 0;
  Lines declarations_, lines_;
};

} // namespace tenon::proof
