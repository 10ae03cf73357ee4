# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tenon-compile with LLVM and MLIR in it, as a package: `tenon.compile` finds it here, and `tenon-compile` is it."""
import os
import pathlib
import sys


def path() -> str:
    """Where tenon-compile is."""
    return str(pathlib.Path(__file__).parent / "tenon-compile")


def main() -> None:
    try:  # the package tenon knows NVIDIA's wheels, whose nvcc compiles the .cu objects of a program
        from tenon.toolchain import tool_environment
        environment = tool_environment()
    except ImportError:
        environment = dict(os.environ)
    os.execve(path(), ["tenon-compile", *sys.argv[1:]], environment)
