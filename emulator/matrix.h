// ldmatrix, stmatrix, movmatrix and mma.sync: which lane holds which element of a fragment is a table (PTX ISA, "Matrix
// Fragments for mma"); the product itself is one triple loop over small matrices.
#pragma once

#include "emulator/handlers.h"

namespace tenon::emulator {

/// ldmatrix of 8x8 matrices of b16: addresses in `a`, destinations the run at `list`. flag: how many (1, 2, 4), bit 7:
/// .trans. stmatrix the same, the run at `list` holding the sources.
Handler loadMatrixHandler();
Handler storeMatrixHandler();
/// movmatrix: `d` is the transpose of the 8x8 matrix of b16 in `a`.
Handler transposeMatrixHandler();

enum class MatrixElement : uint8_t { F16, BF16, TF32, F64, S8, U8 };
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
/// Operands at `list`: D, A, B, C in order. `imm` holds the form (packForm).
Handler multiplyHandler();
int64_t packForm(const MatrixForm &form);

/// One element of a fragment, from and to its bytes. Every type that a tensor core reads or accumulates is exact in a
/// double; storing rounds once to the nearest. satfinite clamps S32 instead of wrapping it.
double matrixValue(const uint8_t *bytes, ptx::ScalarType type);
void storeMatrixValue(uint8_t *bytes, double value, ptx::ScalarType type, bool satfinite);

} // namespace tenon::emulator
