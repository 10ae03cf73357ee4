// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The programs that are called and loaded.
#pragma once

#include "program_builder.h"
#include "support/result.h"

namespace tenon::benchmarks {

/// c = a + b, `count` times one after another; "step" of kernels.cu is export 0 of executable 0.
test::FunctionSpec addFunction(const std::string &name, int count);

/// A file with a program that has one constant of so many bytes, which lies behind the FlatBuffer and is a hole in the
/// file. @return its path; the caller removes it. FailedPrecondition: it cannot be written.
Result<std::string> makeProgramFile(const std::vector<uint8_t> &executable, uint64_t constantBytes);

} // namespace tenon::benchmarks
