# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels whose registers spill: how many bytes of a thread at most (ptxas 13.0), and why that is left so.

Each of them has a way for operands that are not aligned, which brings elements one by one and keeps as many loads on their way as
the fast way has bytes. It is there that registers run out, or where both ways meet.
"""

EXCEPTIONS = {
    "unknown_sm_90a": (72, "few rows of unknown length, read one by one: 72 loads of two bytes are on their way; of wgmma, where a tile lies and how many "
                            "steps it has, stored at its start: lines that are shifted have their producers' 104 registers"),
    "unknown_sm_80": (80, "few rows, as on sm_90a; of large tiles, where rows of unknown length that are read one by one lie"),
    "i4g_unknown_256x14336x4096_sm_90a": (40, "the kernels of up to 8 and 16 rows: as unknown_sm_90a, of two bytes a weight, its scale and its zero"),
    "f64_tt_2048x2048x1024_sm_90a": (288, "255 registers, of which sums take 128; addresses of elements that are copied one by one"),
    "f64_tt_2048x2048x1024_sm_80": (128, "as on sm_90a"),
    "bf16_4x16_4096_d128_sm_90a": (8, "two numbers of the result's place, stored before the keys and read behind them"),
    "bf16_4x16x4096_d128_step_sm_90a": (88, "as the attention alone; of gradients, producers with 24 registers, whose blocks stay: what is the same for all "
                                            "tiles, stored before the first and read in front of each; none in the loop over keys"),
    "bf16_4x16x4096_d64_step_sm_90a": (104, "gradients' producers, as of d 128"),
    "bf16_32x12x256_d64_backward_sm_90a": (80, "gradients' producers, as of d 128"),
    "bf16_8x16x1111_d64_causal_backward_sm_90a": (20, "gradients' producers, as of d 128"),
    "bf16_8x16x1000_d128_causal_backward_sm_90a": (240, "gradients' producers, where they bring elements one by one, and where a block is of the batch; none in "
                                                        "the consumers' loops over keys"),
}
