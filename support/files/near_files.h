// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// "did you mean" for files: those beside one that is not there.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace tenon {

/// Files in the folders of `candidates` whose names are near those of the candidates: "a/kernel.cu" for "a/kernels.cu".
/// `root` stands in front of every path that is looked at, not of those returned.
std::vector<std::string> nearFiles(std::span<const std::string> candidates, const std::string &root = {});

} // namespace tenon
