# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tenon: hand-written CUDA kernels and compiler-generated ones, proved, in one file, called from Python.

    import tenon
    program = tenon.load("example.tenon")
    y = program.mixed_invocation(a, b)              # NumPy, PyTorch, CuPy or JAX arrays in, the same out

    k = tenon.cuda_kernel(source, "saxpy", block=128)
    k(x, y, 2.0, n, grid=8)                         # or k[8](x, y, 2.0, n)

Kernels are written in Python, too: `from tenon import gpu` (tenon.gpu).

Works on a GPU where there is one, else on the emulator (`tenon.device("emulator")` says so explicitly).
"""
from ._core.native import Array, Device, Error, Function, Kernel, version as __version__
from .checks import check
from .cuda import CudaSource, cuda_kernel
from .devices import array, default_device, device, empty
from .jax_op import jax_op
from .program import Executable, Program, load, sample
from .reflection import FunctionInfo, KernelInfo, ParameterInfo, TypeInfo
from .toolchain import ToolError, compile, dump, link
from .torch_op import torch_op
from .triton import triton_kernel
from .views import Event, Finding, Findings, Text, Trace, trace

__all__ = [
    "__version__", "Array", "CudaSource", "Device", "Error", "Event", "Executable", "Finding", "Findings", "Function",
    "FunctionInfo", "Kernel", "KernelInfo", "ParameterInfo", "Program", "Text", "ToolError", "Trace", "TypeInfo",
    "array", "check", "compile", "cuda_kernel", "default_device", "device", "dump", "empty", "jax_op", "link", "load",
    "sample", "torch_op", "trace", "triton_kernel",
]
