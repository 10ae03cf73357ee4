# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What users write, for mypy --strict (test_stubs.py): nothing here runs."""
from __future__ import annotations

import pathlib
from typing import Any

import numpy
import tenon
from tenon import gpu
from tenon.gpu import f32, i32

x = numpy.zeros(8, numpy.float32)


def programs(path: pathlib.Path) -> None:
    program: tenon.Program = tenon.load(path)
    y: Any = program.mixed_invocation(x, x, out=x, stream=None)
    for name in program:
        function: tenon.Function = program[name]
        print(function.__name__, function.signature, y)
    for info in program.info:
        shapes: list[tuple[int, ...] | None] = [one.shape for one in info.inputs]
        print(info.name, shapes, info.runs_on_host)
    explained: tenon.Text = program.explain()
    print(explained.splitlines(), program.dump(), program.device.compute_capability[0] + 1)
    print(tenon.Program(path, "emulator", images="ptx"), tenon.sample(), tenon.__version__.split("."))


def executables(path: str) -> None:
    kernels = tenon.Executable(path, device=tenon.device("emulator"))
    kernels.saxpy(x, x, 2.0, 8, grid=(1, 1))
    kernel: tenon.Kernel = kernels["saxpy"]
    kernel[1](x, x, 2.0, 8)
    kernel[lambda *_: 1](x, x, 2.0, 8, stream=3)
    kernel.grid = lambda x, y, a, n: (n + 127) // 128
    info: tenon.KernelInfo = tenon.KernelInfo.of(kernel)
    print([one.read_only for one in info.parameters], info.workgroup_size[0] + 1)


def made_in_place() -> tenon.Kernel:
    kernel = tenon.cuda_kernel("source", "saxpy", block=128, layout=["in f32 x"], targets="sm_80", flags=["-O3"], grid=3)
    try:
        path = tenon.link(["a.ptx", kernel.meta.path], output="a.tnx", manifest={"exports": []})
        print(tenon.dump(path), tenon.compile("text", targets=["sm_90a"], objects=[kernel], output=path).name)
    except tenon.ToolError as error:
        finding: tenon.Finding = error.findings[0]
        print(finding.line + 1, error.status, error.code, error.command)
    operation = tenon.torch_op("lib::saxpy", kernel, grid=1)
    other = tenon.jax_op("lib::saxpy", kernel, grid=lambda x, y, a, n: 1)
    print(operation(x, x, 2.0, 8), other(x, x, 2.0, 8))
    return kernel


def arrays() -> None:
    array: tenon.Array = tenon.array([1, 2], device="emulator", dtype=numpy.float32)
    array.write_from(numpy.zeros(2, numpy.float32))
    print(array.numpy(), array.shape[0] + 1, array.dtype.upper(), tenon.empty((2, 3), "bfloat16").nbytes + 1)
    with tenon.trace() as trace:
        pass
    events: list[str] = [event.name for event in trace]
    trace.save("trace.json")
    print(events, len(trace), tenon.default_device().statistics()["launches"] + 1)


@gpu.kernel(block=128)
def saxpy(x: gpu.In[f32, "n"], y: gpu.InOut[f32, "n"], a: f32, n: i32) -> None:
    i = gpu.global_id.x
    if i < n:
        y[i] += a * x[i]


@gpu.kernel(block=64, grid=lambda M: M // 64)
def twice(x: gpu.InOut[f32, "M"], *, M: int) -> None:
    tile = gpu.shared((64,), f32, swizzle=0)
    for k in gpu.static_range(2):
        tile[gpu.thread_id.x] = gpu.exp(x[gpu.global_id.x]) + k
    gpu.barrier()
    x[gpu.global_id.x] = max(tile[0], 0.0)


def kernels_in_python() -> None:
    saxpy(x, x, 2.0, 8, grid=1)
    saxpy[1](x, x, 2.0, 8)
    print(saxpy.mlir.splitlines(), saxpy.load().info, twice(M=64), twice[64].signature)


@tenon.check(made_in_place(), sizes={"n": [1, 32]}, values={"a": 2.5}, shapes={"x": "n"}, tolerance=1e-6)
def test_saxpy(x: Any, y: Any, a: float) -> Any:
    return y + a * x
