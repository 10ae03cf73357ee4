# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations of programs, each as MLIR and as a reference in NumPy, and programs of them."""
