# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention: what a suite of it consists of."""
from cases.attention import cache, documents, exported, f8, forward, gradients, indices, logs, packed, shared, starts, wide

MODULES = (forward, cache, documents, exported, f8, gradients, indices, logs, packed, shared, starts, wide)
