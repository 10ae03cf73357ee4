# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of the suite of operations: a file for each kind of them, whose `cases(sizes)` yields what is to be compared."""
