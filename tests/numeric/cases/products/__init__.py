# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of matrices, in every form of their operands."""
from cases.products import contraction, dequantized, experts, f8, gates, unknown, weights

MODULES = (contraction, unknown, f8, gates, weights, dequantized, experts)
