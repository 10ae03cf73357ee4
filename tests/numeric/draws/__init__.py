# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that are drawn from a seed."""
