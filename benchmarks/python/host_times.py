#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""host_times.py PROGRAM.tenon: the host's time for a call from Python, beside CuPy, PyTorch and Triton, in one process.

PROGRAM.tenon is add.mlir of this folder, compiled for the device. The row of tenon.gpu needs tenon-compile, too. Each row is called 200 times back to back, the device is
waited for between rounds, and the median of 41 rounds is printed as CSV. Needs a GPU, PyTorch, CuPy and Triton.
"""
import statistics
import sys
import time

import cupy
import numpy
import torch
import triton
import triton.language as tl

import tenon
from tenon import gpu

SOURCE = """
extern "C" __global__ void __launch_bounds__(128) saxpy(const float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
"""


@triton.jit
def triton_saxpy(x, y, a, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(y + i, tl.load(y + i, mask=inside) + a * tl.load(x + i, mask=inside), mask=inside)


@gpu.kernel(block=128)
def gpu_saxpy(x: gpu.In[gpu.f32, "n"], y: gpu.InOut[gpu.f32, "n"], a: gpu.f32, n: gpu.i32):
    i = gpu.global_id.x
    if i < n:
        y[i] += a * x[i]


def host_time(call, calls=200, rounds=41):
    """Microseconds of a call."""
    for _ in range(50):
        call()
    times = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        begin = time.perf_counter_ns()
        for _ in range(calls):
            call()
        times.append((time.perf_counter_ns() - begin) / calls / 1000)
    torch.cuda.synchronize()
    return statistics.median(times)


def main():
    n = 1000
    program = tenon.load(sys.argv[1])
    kernel = tenon.cuda_kernel(SOURCE, "saxpy")
    bound = kernel[8]
    x, y, out = (torch.ones(n, device="cuda") for _ in range(3))
    cx, cy = cupy.ones(n, "f4"), cupy.ones(n, "f4")
    raw = cupy.RawKernel(SOURCE, "saxpy")
    zero, count = numpy.float32(0), numpy.int32(n)
    rows = {
        "tenon kernel, PyTorch tensors: k[8](x, y, a, n)": lambda: bound(x, y, 0.0, n),
        "tenon kernel, PyTorch tensors: k(x, y, a, n, grid=8)": lambda: kernel(x, y, 0.0, n, grid=8),
        "tenon kernel, CuPy arrays: k[8](x, y, a, n)": lambda: bound(cx, cy, 0.0, n),
        "tenon.gpu kernel, PyTorch tensors: k(x, y, a, n, grid=8)": lambda: gpu_saxpy(x, y, 0.0, n, grid=8),
        "tenon program of one dispatch, PyTorch: add(x, y)": lambda: program.add(x, y),
        "tenon program of one dispatch, PyTorch: add(x, y, out=o)": lambda: program.add(x, y, out=out),
        "tenon program of one dispatch, CuPy: add(x, y)": lambda: program.add(cx, cy),
        "CuPy RawKernel: raw((8,), (128,), (x, y, a, n))": lambda: raw((8,), (128,), (cx, cy, zero, count)),
        "torch.mul(x, y, out=o)": lambda: torch.mul(x, y, out=out),
        "torch.mul(x, y)": lambda: torch.mul(x, y),
        "cupy.multiply(x, y)": lambda: cupy.multiply(cx, cy),
        "Triton: saxpy[(8,)](x, y, a, n)": lambda: triton_saxpy[(8,)](x, y, 0.0, n, BLOCK=128),
    }
    print("call,host us")
    for name, call in rows.items():
        print(f'"{name}",{host_time(call):.2f}', flush=True)


if __name__ == "__main__":
    main()
