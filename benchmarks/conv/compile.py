#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the convolutions of shapes.py into a folder that is carried to the GPU machine.

usage: benchmarks/conv/compile.py [--build=build] [--output=build/conv] [--set=first] [--target=sm_90a]
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "race"))

import compiling  # noqa: E402
from programs import program  # noqa: E402
from shapes import SETS  # noqa: E402

if __name__ == "__main__":
    sys.exit(compiling.main(__doc__.splitlines()[0], "conv", SETS, program))
