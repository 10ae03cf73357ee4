// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Control that the text hides: some instructions of a body are left out when it runs, though no reader of it can tell,
// and some of it runs several times. What they should have put into a register is then not there, or is that of an
// earlier round. A proof that takes a register for set because its instruction stands above the reader is refuted here.
#pragma once

#include "tests/proof/body.h"

namespace tenon::proof {

/// Leaves out a few lines behind the first `head`, which read the parameters, or repeats some with others left out.
/// Returns its name.
const char *disturb(Body &body, size_t head);

} // namespace tenon::proof
