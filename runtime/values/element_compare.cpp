// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/values/element_compare.h"

#include "runtime/values/element_text.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace tenon::runtime {

using abi::ElementType;

double elementDistance(const uint8_t *found, const uint8_t *wanted, ElementType element) {
  constexpr double kApart = std::numeric_limits<double>::infinity();
  if (std::memcmp(found, wanted, abi::byteSize(element)) == 0)
    return 0;
  if (element == ElementType::I1)
    return (*found != 0) == (*wanted != 0) ? 0 : kApart;
  if (!abi::isFloat(element))
    return kApart;
  const double got = elementAsDouble(found, element), want = elementAsDouble(wanted, element);
  if (std::isnan(got) || std::isnan(want))
    return std::isnan(got) && std::isnan(want) ? 0 : kApart;
  return got == want ? 0 : std::fabs(got - want);
}

bool isNear(double distance, double tolerance) {
  return distance == 0 || (std::isfinite(distance) && distance <= tolerance);
}

} // namespace tenon::runtime
