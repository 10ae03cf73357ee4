// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs one form on the driver at hand.
#pragma once

#include "tests/golden/form.h"
#include "tests/golden/golden_file.h"

namespace tenon::golden {

/// Loads the form's kernel and runs it over its operands. `message`, when given, gets the loader's log.
Recorded runForm(const Form &form, std::string *message = nullptr);

/// Value `result` of tuple `tuple`.
uint64_t resultOf(const Form &form, const Recorded &recorded, size_t tuple, size_t result);
size_t tupleBytes(const Form &form);

} // namespace tenon::golden
