# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions and their gradients."""
from cases.convolutions import forward, gradients, groups, phases, tiles, twice

MODULES = (forward, gradients, groups, phases, tiles, twice)
