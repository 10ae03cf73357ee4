// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a result is close enough to the recorded one, and how far it is.
#pragma once

#include "tests/golden/form.h"

namespace tenon::golden {

/// Distance of two values of a PTX type: units in the last place of the recorded one for `ulp`, plain and relative
/// otherwise (larger of the elements of a packed type). Infinite when one is NaN or infinite and the other is not the
/// same; 0 for two NaN.
struct Distance {
  double ulp = 0, absolute = 0, relative = 0;
};
Distance distanceOf(const std::string &type, uint64_t got, uint64_t recorded);

/// By the form's tolerance.
bool agrees(const Form &form, const std::string &type, uint64_t got, uint64_t recorded);

} // namespace tenon::golden
