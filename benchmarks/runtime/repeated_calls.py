#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What calls cost that are alike but for a scalar, a number of rounds or a length: host time and device memory.

usage: repeated_calls.py PROGRAM NAME=LIBRARY... [--rounds=3] [--csv=FILE]

PROGRAM is repeated_calls.mlir, compiled. Each LIBRARY is a libtenon_runtime.so, named; all of them, and PyTorch as the peer where
it is there, run in processes of their own, in random order, --rounds times, and medians are reported.

    step         elements + counter: the counter is the same in each call, or another one
    rounds       a loop of so many rounds of two kernels, its result waited for
    grow         three kernels over rows that become more with each call: device memory at the end
"""
import argparse
import csv
import ctypes
import os
import random
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
STEPS, SIZE = 2000, 4096
ROUNDS = (1, 4, 16, 64)
LENGTHS = 400


def f32(shape):
    count = 1
    for extent in shape:
        count *= extent
    return (ctypes.c_float * count)(*(((i * 37) % 101) / 101 for i in range(count)))


def microseconds(run, count):
    begin = time.perf_counter()
    for i in range(count):
        run(i)
    return (time.perf_counter() - begin) / count * 1e6


class Cuda:
    """The driver's own count of free bytes, and its wait for everything."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")

    def free(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        if self.library.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)):
            raise SystemExit("cuMemGetInfo failed")
        return free.value

    def wait(self):
        if self.library.cuCtxSynchronize():
            raise SystemExit("cuCtxSynchronize failed")


def measure_tenon(path, library, report):
    import tenon_capi
    runtime = tenon_capi.Runtime(library, "cuda")
    program, cuda = runtime.open(path), Cuda()
    context = ctypes.c_void_p()
    cuda.library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    cuda.library.cuCtxSetCurrent(context)

    def call(name, shape, scalar=None):
        values = [("f32", runtime.upload(bytes(f32(shape))), shape)]
        return program.prepare(values + ([("i32", scalar)] if scalar is not None else []), name)

    step = call("step", (SIZE,), 0)
    stream = ctypes.c_void_p()
    cuda.library.cuStreamCreate(ctypes.byref(stream), 1)

    def stepped(counter):
        step.values[1].scalar_bits = counter
        step.on_stream(stream)

    for change in (0, 1):
        for i in range(20):
            stepped(i * change)
        cuda.wait()
        before = cuda.free()
        took = microseconds(lambda i: stepped((100 + i) * change), STEPS)
        cuda.wait()
        name = "another counter" if change else "the same counter"
        report("step", name, "us", took)
        report("step", name, "MB", (before - cuda.free()) / 1e6)
    _, _, _, shape, buffer = step.outputs()[0]
    last = ctypes.cast(ctypes.create_string_buffer(step.read(buffer, 4 * SIZE)), ctypes.POINTER(ctypes.c_float))
    wanted = f32((SIZE,))[5] + 100 + STEPS - 1
    if abs(last[5] - wanted) > 1e-3:
        raise SystemExit(f"step gives {last[5]}, wanted {wanted}")
    for count in ROUNDS:
        rounds = call("rounds", (64, 512), count)
        for _ in range(10):
            rounds.run()
        report("rounds", count, "us", microseconds(lambda i: rounds.run(), 200))
        rounds.release()
    grow = call("grow", (LENGTHS * 16, 1024))  # its input is as large as it gets
    cuda.wait()
    before = cuda.free()

    def grown(i):
        if grow.results:
            runtime.library.tenon_results_release(grow.results)
            grow.results = ctypes.c_void_p()
        grow.values[0].shape[0] = 16 * (i + 1)
        grow.run()
    report("grow", LENGTHS, "us", microseconds(grown, LENGTHS))
    report("grow", LENGTHS, "MB", (before - cuda.free()) / 1e6)


def measure_torch(report):
    import torch
    x = torch.rand(SIZE, device="cuda")
    for change in (0, 1):
        for i in range(20):
            x + i * change
        torch.cuda.synchronize()
        report("step", "another counter" if change else "the same counter", "us",
               microseconds(lambda i: x + (100 + i) * change, STEPS))
        torch.cuda.synchronize()
    for count in ROUNDS:
        def run(_):
            v = y
            for _ in range(count):
                v = v - v.sum(0) * 0.001
            torch.cuda.synchronize()
        y = torch.rand(64, 512, device="cuda")
        for _ in range(10):
            run(0)
        report("rounds", count, "us", microseconds(run, 200))
        kept = torch.cuda.CUDAGraph()
        with torch.cuda.graph(kept):
            v = y
            for _ in range(count):
                v = v - v.sum(0) * 0.001

        def replay(_):
            kept.replay()
            torch.cuda.synchronize()
        for _ in range(10):
            replay(0)
        report("rounds", f"{count}, graph", "us", microseconds(replay, 200))
    rows = torch.rand(LENGTHS * 16, 1024, device="cuda")
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for n in range(1, LENGTHS + 1):
        y = rows[:n * 16].exp()
        y / y.sum(0)
        torch.cuda.synchronize()
    report("grow", LENGTHS, "us", (time.perf_counter() - begin) / LENGTHS * 1e6)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("libraries", nargs="+", metavar="NAME=LIBRARY")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--csv", default="")
    parser.add_argument("--one", action="store_true", help="measure the one library in this process")
    arguments = parser.parse_args()
    if arguments.one:
        name, _, library = arguments.libraries[0].partition("=")

        def report(*found):
            print("\t".join(map(str, found)), flush=True)
        if library:
            measure_tenon(arguments.program, library, report)
        else:
            measure_torch(report)
        return 0
    found = {}
    for _ in range(arguments.rounds):
        for library in random.sample(arguments.libraries + ["PyTorch="], len(arguments.libraries) + 1):
            done = subprocess.run([sys.executable, __file__, arguments.program, library, "--one"], capture_output=True, text=True,
                                  check=False)
            if done.returncode:
                print(f"{library}: {done.stderr[-600:]}", file=sys.stderr)
            for line in done.stdout.splitlines():
                what, which, unit, value = line.split("\t")
                found.setdefault((what, which, unit), {}).setdefault(library.partition("=")[0], []).append(float(value))
    names = [library.partition("=")[0] for library in arguments.libraries] + ["PyTorch"]
    rows = [[*key, *(f"{statistics.median(values[name]):.2f}" if name in values else "" for name in names)]
            for key, values in found.items()]
    for row in [["what", "which", "unit", *names], *rows]:
        print("  ".join(str(cell).ljust(18) for cell in row))
    if arguments.csv:
        with open(arguments.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["what", "which", "unit", *names], *rows])
    return 0 if all(library.partition("=")[0] in values for values in found.values() for library in arguments.libraries) else 1


if __name__ == "__main__":
    sys.exit(main())
