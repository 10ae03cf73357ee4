#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the attentions of shapes.py into a folder that is carried to the GPU machine.

usage: benchmarks/attention/compile.py [--build=build] [--output=build/attention] [--set=first] [--target=sm_90a]
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "race"))

import compiling  # noqa: E402
import documents  # noqa: E402
import gradients  # noqa: E402
import random_shapes  # noqa: E402
from shapes import SETS, program  # noqa: E402


def text(case):
    if isinstance(case, documents.Documents):
        return documents.program(case)
    return (gradients.program if isinstance(case, gradients.AttentionGradient) else program)(case)


if __name__ == "__main__":
    sys.exit(compiling.main(__doc__.splitlines()[0], "attention", SETS | gradients.SETS | documents.SETS | random_shapes.SETS, text))
