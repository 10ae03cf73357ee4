// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX of several kernels, cut and put together.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tenon::corpus {

/// PTX of one entry point: other entry points are left out of `text`. Empty: there is no such entry point.
std::string keepKernel(const std::string &text, const std::string &name);
/// `text` with the parameters of its only entry point in another order; those behind `order.size()` stay.
std::string reorderParameters(const std::string &text, const std::vector<size_t> &order);

} // namespace tenon::corpus
