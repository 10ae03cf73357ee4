# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Hopper (sm_90, sm_90a) added: tiles that lie swizzled in shared memory, tensor maps that copy them beside the threads,
barriers that count such copies, products of whole warpgroups, clusters of blocks. tenon.gpu has all of their names."""
