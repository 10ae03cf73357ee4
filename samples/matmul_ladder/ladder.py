#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ladder.py compile M N K TARGET FILE.tenon   every rung, as functions of one program
   ladder.py check [M N K]                     compiles for the emulator, runs each rung there and holds it against NumPy
   ladder.py time FILE.tenon M N K             each rung and cuBLAS on a GPU, as CSV (needs PyTorch)
   ladder.py plot FILE.csv FILE.png            draws that (needs matplotlib)"""
import csv
import os
import pathlib
import statistics
import sys
import tempfile

import rungs


def program(m, n, k, target):
    """(kernels.mlir, program.mlir)"""
    if min(m, n, k) <= 0 or m % 128 or n % 128 or k % 128:
        raise SystemExit(f"ladder: sizes are {m} x {n} x {k}; wanted: multiples of 128")
    made = {rung.__name__: rung(m, n, k) for rung in rungs.RUNGS}
    kernels = "gpu.module @ladder {\n" + "\n".join(text for text, _, _ in made.values()) + "\n}\n"
    binding = "#hal.pipeline.binding<storage_buffer"
    exports, functions = [], []
    for number, (name, (_, threads, grid)) in enumerate(made.items()):
        exports.append(f"""  hal.executable.export public @{name} ordinal({number}) layout(#hal.pipeline.layout<bindings = [
      {binding}, ReadOnly, alignment = 16>, {binding}, ReadOnly, alignment = 16>, {binding}, alignment = 16>]>) count(%d: !hal.device) -> (index, index, index) {{
    %x = arith.constant {grid[0]} : index
    %y = arith.constant {grid[1]} : index
    %z = arith.constant 1 : index
    hal.return %x, %y, %z : index, index, index
  }} attributes {{workgroup_size = [{threads} : index, 1 : index, 1 : index]}}""")
        functions.append(f"""func.func @{name}(%a: tensor<{m}x{k}xf32>, %b: tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %0 = flow.dispatch @kernels::@{name}(%a, %b) : (tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32>
  return %0 : tensor<{m}x{n}xf32>
}}""")
    text = (f'#target = #hal.executable.target<"cuda", "cuda-nvptx-fb", {{target_arch = "{target}"}}>\n'
            'hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{\n'
            '    #target = [#hal.executable.object<{path = "kernels.mlir"}>]}>} {\n' + "\n".join(exports) + "\n}\n" + "\n".join(functions) + "\n")
    return kernels, text


def compile(m, n, k, target, output):
    import tenon

    kernels, text = program(m, n, k, target)
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "kernels.mlir").write_text(kernels)
        pathlib.Path(folder, "ladder.mlir").write_text(text)
        tenon.compile(f"{folder}/ladder.mlir", output=output, objects=[folder], options=["--images=ptx"])


def check(m, n, k):
    # Read when the emulator starts.
    os.environ["TENON_EMULATOR_CHECK"] = "races,uninitialised,barriers"
    import numpy
    import tenon

    random = numpy.random.default_rng(1)
    a, b = (random.integers(-4, 5, shape).astype("f4") for shape in ((m, k), (k, n)))  # sums without rounding
    with tempfile.TemporaryDirectory() as folder:
        compile(m, n, k, "sm_80", f"{folder}/ladder.tenon")
        loaded = tenon.load(f"{folder}/ladder.tenon", "emulator")
        for rung in rungs.RUNGS:
            numpy.testing.assert_array_equal(loaded[rung.__name__](a, b), a @ b)
            print(f"{rung.__name__}: right")


def time(path, m, n, k):
    import tenon
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    loaded = tenon.load(path, "cuda")
    a, b = torch.rand(m, k, device="cuda"), torch.rand(k, n, device="cuda")
    out = torch.empty(m, n, device="cuda")
    wanted = a @ b
    flush = torch.empty(2**28, dtype=torch.int8, device="cuda")  # larger than the cache

    def measure(call):
        call()
        times = []
        for _ in range(11):
            flush.zero_()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            call()
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end))
        return statistics.median(times)

    print("rung,ms,TFLOP/s,of cuBLAS")
    base = measure(lambda: torch.matmul(a, b, out=out))
    for name, call in [*((rung.__name__, lambda f=loaded[rung.__name__]: f(a, b, out=out)) for rung in rungs.RUNGS),
                       ("cuBLAS", lambda: torch.matmul(a, b, out=out))]:
        out.zero_()
        call()
        torch.testing.assert_close(out, wanted, rtol=1e-4, atol=1e-3)
        took = measure(call)
        print(f"{name},{took:.3f},{2 * m * n * k / took / 1e9:.1f},{base / took:.3f}", flush=True)


def plot(source, target):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = list(csv.DictReader(open(source)))
    figure, axes = pyplot.subplots(figsize=(7, 3.5))
    bars = axes.barh([row["rung"] for row in rows], [float(row["TFLOP/s"]) for row in rows],
                     color=["#4a7ebb"] * (len(rows) - 1) + ["#999999"])
    axes.bar_label(bars, [f"{row['TFLOP/s']}  ({100 * float(row['of cuBLAS']):.0f} %)" for row in rows], padding=3, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.25 * max(float(row["TFLOP/s"]) for row in rows))
    axes.set_xlabel("TFLOP/s, f32 (share of cuBLAS)")
    figure.tight_layout()
    figure.savefig(target, dpi=120, metadata={"Software": None})


def main():
    command, *rest = sys.argv[1:] or ["help"]
    if command == "compile" and len(rest) == 5:
        compile(*map(int, rest[:3]), *rest[3:])
    elif command == "check" and len(rest) in (0, 3):
        check(*(map(int, rest) if rest else (128, 128, 128)))
    elif command == "time" and len(rest) == 4:
        time(rest[0], *map(int, rest[1:]))
    elif command == "plot" and len(rest) == 2:
        plot(*rest)
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
