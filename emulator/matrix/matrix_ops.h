// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions of a whole warp on matrices: mma.sync, ldmatrix (matrix.h), wmma (wmma.h).
#pragma once

#include "emulator/machine/handlers.h"
#include "emulator/machine/lanes.h"

namespace tenon::emulator::TENON_LEVEL {

/// ldmatrix of 8x8 matrices of b16: addresses in `a`, destinations the run at `list`. flag: how many (1, 2, 4), bit 7:
/// .trans.
Handler loadMatrixHandler();
/// Operands at `list`: D, A, B, C in order. `imm` holds the form (packForm).
Handler multiplyMatrixHandler(const MatrixForm &form);
/// `a`: address, `imm` its offset, `b`: stride in elements, `flag`: MemorySpace, `list`: fragment, registers.
Handler loadFragmentHandler();
Handler storeFragmentHandler();
/// `list`: fragments of D, A, B, C, then their registers. `flag`: .satfinite.
Handler multiplyFragmentsHandler();

} // namespace tenon::emulator::TENON_LEVEL
