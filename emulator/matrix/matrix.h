// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ldmatrix, stmatrix, movmatrix and mma.sync: which lane holds which element of a fragment is a table (PTX ISA, "Matrix
// Fragments for mma"); what a product adds up is in tensor_core.h. ldmatrix and mma are in matrix_ops.cpp.
#pragma once

#include "emulator/machine/handlers.h"

namespace tenon::emulator {

/// stmatrix: as ldmatrix (matrix_ops.h), the run at `list` holding the sources.
Handler storeMatrixHandler();
/// movmatrix: `d` is the transpose of the 8x8 matrix of b16 in `a`.
Handler transposeMatrixHandler();

enum class MatrixElement : uint8_t { F16, BF16, TF32, F64, S8, U8, E4M3, E5M2 };
struct MatrixForm {
  uint32_t m, n, k;
  MatrixElement a, b;
  ptx::ScalarType accumulator; // of C and D: F32, F16, S32, F64
  bool satfinite = false;
};
/// Registers per lane of A, B and C; 0: the shape is not supported.
struct FragmentSizes {
  uint32_t a = 0, b = 0, c = 0;
};
FragmentSizes fragmentSizes(const MatrixForm &form);
int64_t packForm(const MatrixForm &form);

} // namespace tenon::emulator
