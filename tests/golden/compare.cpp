// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/golden/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tenon::golden {
namespace {

struct Number {
  double value;
  double unit; // of the last place
};

Number decode(const std::string &element, uint64_t bits) {
  int digits = 24, smallest = -149;
  double value = 0;
  if (element == "f64") {
    value = std::bit_cast<double>(bits);
    digits = 53, smallest = -1074;
  } else if (element == "f16") {
    value = static_cast<double>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits)));
    digits = 11, smallest = -24;
  } else if (element == "bf16") {
    value = static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits) << 16));
    digits = 8, smallest = -133;
  } else {
    value = static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  int exponent = value == 0 || !std::isfinite(value) ? smallest : std::ilogb(value) - digits + 1;
  return {value, std::ldexp(1.0, std::max(exponent, smallest))};
}

Distance between(const Number &got, const Number &recorded) {
  const double far = std::numeric_limits<double>::infinity();
  if (std::isnan(got.value) && std::isnan(recorded.value))
    return {};
  if (got.value == recorded.value)
    return {};
  if (!std::isfinite(got.value) || !std::isfinite(recorded.value))
    return {far, far, far};
  double apart = std::fabs(got.value - recorded.value);
  return {apart / recorded.unit, apart, recorded.value == 0 ? far : apart / std::fabs(recorded.value)};
}

} // namespace

Distance distanceOf(const std::string &type, uint64_t got, uint64_t recorded) {
  size_t x = type.find('x');
  std::string element = type.substr(0, x);
  unsigned bits = 8 * resultBytes(element), count = 8 * resultBytes(type) / bits;
  uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
  Distance worst;
  for (unsigned part = 0; part < count; ++part) {
    Distance one =
        between(decode(element, got >> (bits * part) & mask), decode(element, recorded >> (bits * part) & mask));
    worst = {std::max(worst.ulp, one.ulp), std::max(worst.absolute, one.absolute),
             std::max(worst.relative, one.relative)};
  }
  return worst;
}

bool agrees(const Form &form, const std::string &type, uint64_t got, uint64_t recorded) {
  const Tolerance &tolerance = form.tolerance;
  if (got == recorded)
    return true;
  if (!tolerance.anyNan && !tolerance.isApproximate())
    return false;
  Distance distance = distanceOf(type, got, recorded);
  if (!tolerance.isApproximate()) // the distance of -0 from +0 is nothing too: both must be NaN
    return distance.ulp == 0 && std::isnan(decode(type, got).value);
  return distance.ulp <= tolerance.ulp || distance.absolute <= tolerance.absolute ||
         distance.relative <= tolerance.relative;
}

} // namespace tenon::golden
