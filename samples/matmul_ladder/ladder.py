#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ladder.py check [M N K]                        runs each rung on the emulator, with all of its checks, and holds it against NumPy
   ladder.py compile M N K TARGET FILE.tenon      every rung, as functions of one program
   ladder.py time FILE.tenon M N K                each rung and cuBLAS on a GPU, as CSV (needs PyTorch)
   ladder.py candidates M N K TARGET FILE.tenon   the tiles that `tune` tries, as functions of one program
   ladder.py tune FILE.tenon M N K                times them on a GPU and keeps the best for the rung `autotuned` (needs PyTorch)
   ladder.py cupy M N K TARGET                    each rung's PTX, as CuPy's RawModule loads it, against CuPy (needs CuPy)
   ladder.py plot FILE.csv FILE.png               draws the times (needs matplotlib)"""
import csv
import functools
import json
import os
import random
import statistics
import sys

import rungs


def sizes_of(m, n, k):
    if min(m, n, k) <= 0 or m % 128 or n % 128 or k % 128:
        raise SystemExit(f"ladder: sizes are {m} x {n} x {k}; wanted: multiples of 128")
    return m, n, k


def name_of(candidate):
    return "tiles_" + "_".join(map(str, candidate))


def element_of(kernel):
    """What a rung's arrays hold: "f32", or "bf16"."""
    return kernel.parameters[0].dtype.name


def compile(kernels, m, n, k, target, output):
    """A program of functions that are called as `kernels` says."""
    import tenon

    text, objects = [], {}
    for name, kernel in kernels.items():
        objects[f"{name}.mlir"], e = kernel, element_of(kernel)
        text.append(kernel.declaration(target, symbol=f"of_{name}", file=f"{name}.mlir") + f"""
func.func @{name}(%a: tensor<{m}x{k}x{e}>, %b: tensor<{k}x{n}x{e}>) -> tensor<{m}x{n}x{e}> {{
  %0 = flow.dispatch @of_{name}::@{kernel.name}(%a, %b) : (tensor<{m}x{k}x{e}>, tensor<{k}x{n}x{e}>) -> tensor<{m}x{n}x{e}>
  return %0 : tensor<{m}x{n}x{e}>
}}""")
    tenon.compile("\n".join(text), output=output, objects=objects, options=["--images=ptx"])


def check(m, n, k):
    # Read when the emulator starts.
    os.environ["TENON_EMULATOR_CHECK"] = "races,uninitialised,barriers"
    os.environ["TENON_CUDA_DRIVER"] = "emulator"
    import numpy
    from tenon.gpu import f16

    random = numpy.random.default_rng(1)
    a, b = (random.integers(-4, 5, shape).astype("f4") for shape in ((m, k), (k, n)))  # sums without rounding
    for name, rung in rungs.RUNGS.items():
        kernel, kind = (rung[m, n, k], "f4") if rung is not rungs.hopper else (rung[m, n, k, f16], "f2")  # NumPy has no bf16
        c = numpy.zeros((m, n), kind)
        kernel(a.astype(kind), b.astype(kind), c)
        numpy.testing.assert_array_equal(c, (a @ b).astype(kind))
        print(f"{name}: right", flush=True)


def measure(calls, rounds=15):
    """Milliseconds of each of `calls`, {name: call}: medians. All of them in turns, in random order, the cache written over before each; what takes long
    has fewer rounds."""
    import torch

    flush, times = torch.empty(2**28, dtype=torch.int8, device="cuda"), {name: [] for name in calls}  # larger than the cache
    for round in range(rounds):
        order = [name for name in calls if round < 3 or statistics.median(times[name]) < 5]
        for name in random.sample(order, len(order)):
            calls[name]()  # the host has it in its caches
            flush.zero_()
            torch.cuda._sleep(600_000)  # some 0.3 ms, in which the host gets ahead: else it is what is measured of short kernels
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            calls[name]()
            end.record()
            torch.cuda.synchronize()
            times[name].append(begin.elapsed_time(end))
    return {name: statistics.median(found) for name, found in times.items()}


def operands(m, n, k):
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = torch.rand(m, k, device="cuda"), torch.rand(k, n, device="cuda")
    return a, b, torch.empty(m, n, device="cuda"), a @ b


def tune(path, m, n, k):
    import tenon
    import torch

    loaded = tenon.load(path, "cuda")
    a, b, out, wanted = operands(m, n, k)
    calls = {}
    for candidate in rungs.CANDIDATES:
        calls[candidate] = functools.partial(loaded[name_of(candidate)], a, b, out=out)
        calls[candidate]()
        torch.testing.assert_close(out, wanted, rtol=1e-4, atol=1e-3)
    times = measure(calls)
    for candidate, took in times.items():
        print(f"{name_of(candidate)},{took:.3f}", flush=True)
    found = json.loads(rungs.TUNED.read_text()) if rungs.TUNED.exists() else {}
    found[f"{m}x{n}x{k}"] = min(times, key=times.get)
    rungs.TUNED.write_text(json.dumps(found, indent=2) + "\n")


def time(path, m, n, k):
    import tenon
    import torch

    def multiply(a, b, out, tf32=False):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        torch.matmul(a, b, out=out)

    loaded = tenon.load(path, "cuda")
    a, b, out, wanted = operands(m, n, k)
    half = [one.bfloat16() for one in (a, b, out)]
    calls = {name: functools.partial(loaded[name], *half[:2], out=half[2]) if name == "hopper" else functools.partial(loaded[name], a, b, out=out)
             for name in rungs.RUNGS}
    calls["cuBLAS"] = functools.partial(multiply, a, b, out)
    calls["cuBLAS tf32"] = functools.partial(multiply, a, b, out, tf32=True)
    calls["cuBLAS bf16"] = functools.partial(multiply, *half)
    # tf32 has 11 bits of each factor, bf16 8, and of the result.
    rough = {"tensor_core": 2e-3, "cuBLAS tf32": 2e-3, "hopper": 1e-2, "cuBLAS bf16": 1e-2}
    for name, call in calls.items():
        found = half[2] if name in ("hopper", "cuBLAS bf16") else out
        found.zero_()
        call()
        torch.testing.assert_close(found.float(), wanted, rtol=rough.get(name, 1e-4), atol=1e-3)
    print("rung,ms,TFLOP/s,of cuBLAS")
    times = measure(calls)
    for name, took in times.items():
        print(f"{name},{took:.4f},{2 * m * n * k / took / 1e9:.1f},{times['cuBLAS'] / took:.3f}", flush=True)


def cupy(m, n, k, target):
    import cupy

    a, b = cupy.random.rand(m, k, dtype=cupy.float32), cupy.random.rand(k, n, dtype=cupy.float32)
    for name, rung in rungs.RUNGS.items():
        if rung is rungs.hopper:  # CuPy encodes no tensor maps
            continue
        kernel, c = rung[m, n, k], cupy.zeros((m, n), cupy.float32)
        path = f"{name}.ptx"
        with open(path, "w") as file:
            file.write(kernel.ptx(target))
        function = cupy.RawModule(path=path).get_function(kernel.name)
        function((*kernel.grid, 1, 1)[:3], kernel.block, (a, b, c), shared_mem=kernel.dynamic_shared_bytes)
        cupy.testing.assert_allclose(c, a @ b, rtol=2e-3 if name == "tensor_core" else 1e-4)
        print(f"{name}: right under CuPy", flush=True)


def plot(source, target):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = list(csv.DictReader(open(source)))
    figure, axes = pyplot.subplots(figsize=(7, 3.5))
    bars = axes.barh([row["rung"] for row in rows], [float(row["TFLOP/s"]) for row in rows],
                     color=["#999999" if row["rung"].startswith("cuBLAS") else "#4a7ebb" for row in rows])
    axes.bar_label(bars, [f"{row['TFLOP/s']}  ({100 * float(row['of cuBLAS']):.0f} %)" for row in rows], padding=3, fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")  # from f32 without tensor cores to bf16 with them
    axes.set_xlim(0.3, 6 * max(float(row["TFLOP/s"]) for row in rows))
    axes.set_xlabel("TFLOP/s (share of cuBLAS's f32)")
    figure.tight_layout()
    figure.savefig(target, dpi=120, metadata={"Software": None})


def main():
    command, *rest = sys.argv[1:] or ["help"]
    if command == "check" and len(rest) in (0, 3):
        check(*sizes_of(*(map(int, rest) if rest else (128, 128, 128))))
    elif command in ("compile", "candidates") and len(rest) == 5:
        sizes = sizes_of(*map(int, rest[:3]))
        kernels = ({name: rung[sizes] for name, rung in rungs.RUNGS.items()} if command == "compile" else
                   {name_of(one): rungs.tiles[(*sizes, *one)] for one in rungs.CANDIDATES})
        compile(kernels, *sizes, *rest[3:])
    elif command in ("time", "tune") and len(rest) == 4:
        (time if command == "time" else tune)(rest[0], *sizes_of(*map(int, rest[1:])))
    elif command == "cupy" and len(rest) == 4:
        cupy(*sizes_of(*map(int, rest[:3])), rest[3])
    elif command == "plot" and len(rest) == 2:
        plot(*rest)
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
