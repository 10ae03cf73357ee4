#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rate of `mma.sync` on this GPU: warps that multiply what they have in registers and do nothing else.

usage: benchmarks/gemm/mma_limit.py [--output=DIR]

A warp has the operands of 64 x 64 results (of f64 32 x 32) and multiplies them again and again, as the warps of a product do; 4, 8
and 16 warps are on a multiprocessor, and the best counts. Operands are random numbers: zeros would need less power. Burst: ten
launches of about 0.2 ms after a pause, as the races have them. Sustained: launches for half a second, of which the last half counts. Writes
DIR/mma_limit.csv. Needs CuPy, whose NVRTC compiles the kernels for this device.
"""
import argparse
import csv
import os
import statistics
import sys
import time

import cupy

# What a type is called: instruction, registers of the left, the right and the sums, multiply-adds of one, and what the registers hold.
INSTRUCTIONS = {
    "bf16": ("m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, 16 * 8 * 16, "f"),
    "f16": ("m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, 16 * 8 * 16, "f"),
    "f16 in f16": ("m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, 16 * 8 * 16, "r"),
    "tf32": ("m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, 16 * 8 * 8, "f"),
    "i8": ("m16n8k32.row.col.s32.s8.s8.s32", 4, 2, 4, 16 * 8 * 32, "r"),
    "f8": ("m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 2, 4, 16 * 8 * 32, "f"),
    "f64": ("m8n8k4.row.col.f64.f64.f64.f64", 1, 1, 2, 8 * 8 * 4, "d"),
    "f64 of sm_90": ("m16n8k4.row.col.f64.f64.f64.f64", 2, 1, 4, 16 * 8 * 4, "d"),
}
CALLS = 10
TYPES = {"f": "float", "r": "unsigned", "d": "double"}


def source(name):
    instruction, lefts, rights, sums, _, held = INSTRUCTIONS[name]
    rows, columns = (4, 8) if held != "d" else (32 // int(instruction[1:].split("n")[0]), 4)
    operand = "d" if held == "d" else "r"

    def numbers(first, count):
        return "{" + ", ".join(f"%{first + i}" for i in range(count)) + "}"
    text = (f"mma.sync.aligned.{instruction} {numbers(0, sums)}, {numbers(sums, lefts)}, {numbers(sums + lefts, rights)}, "
            f"{numbers(0, sums)};")
    outputs = ", ".join(f'"+{held}"(c[i][j][{s}])' for s in range(sums))
    inputs = ", ".join([f'"{operand}"(a[i][{r}])' for r in range(lefts)] + [f'"{operand}"(b[j][{r}])' for r in range(rights)])
    return f"""
extern "C" __global__ void limit(const {TYPES[operand]} *given, {TYPES[held]} *result, int steps) {{
  {TYPES[operand]} a[{rows}][{lefts}], b[{columns}][{rights}];
  {TYPES[held]} c[{rows}][{columns}][{sums}];
  const {TYPES[operand]} *own = given + threadIdx.x % 32 * {rows * lefts + columns * rights};
  for (int i = 0; i < {rows}; ++i) for (int r = 0; r < {lefts}; ++r) a[i][r] = *own++;
  for (int j = 0; j < {columns}; ++j) for (int r = 0; r < {rights}; ++r) b[j][r] = *own++;
  for (int i = 0; i < {rows}; ++i) for (int j = 0; j < {columns}; ++j) for (int s = 0; s < {sums}; ++s) c[i][j][s] = 0;
  for (int step = 0; step < steps; ++step)
    #pragma unroll
    for (int i = 0; i < {rows}; ++i)
      #pragma unroll
      for (int j = 0; j < {columns}; ++j)
        asm volatile("{text}" : {outputs} : {inputs});
  {TYPES[held]} sum = 0;
  for (int i = 0; i < {rows}; ++i) for (int j = 0; j < {columns}; ++j) for (int s = 0; s < {sums}; ++s) sum += c[i][j][s];
  result[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}}
""", rows * columns


def random_operands(name, count):
    draw = cupy.random.default_rng(1)
    if name.startswith("f64"):
        return draw.standard_normal(count)
    if name == "tf32":
        return draw.standard_normal(count, dtype=cupy.float32).view(cupy.uint32)
    if name.startswith("f16"):
        return draw.standard_normal(2 * count, dtype=cupy.float32).astype(cupy.float16).view(cupy.uint32)
    if name == "bf16":
        words = draw.standard_normal(2 * count, dtype=cupy.float32).view(cupy.uint32) >> 16
        return words.astype(cupy.uint16).view(cupy.uint32)
    found = draw.integers(0, 256, 4 * count).astype(cupy.uint8)
    return (found & 0xBF if name == "f8" else found).view(cupy.uint32)  # f8: no NaN


def timed(work):
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    begin.record()
    work()
    end.record()
    end.synchronize()
    return cupy.cuda.get_elapsed_time(begin, end) * 1e3


def measure(name):
    """@return rows of the table, one for each count of warps"""
    text, products = source(name)
    kernel = cupy.RawModule(code=text, options=("--std=c++17",)).get_function("limit")
    device = cupy.cuda.Device()
    multiprocessors = device.attributes["MultiProcessorCount"]
    operands, rows = random_operands(name, 32 * 64), []
    for warps in (4, 8, 16):
        blocks = multiprocessors * max(warps // 8, 1)  # of at most 8 warps
        threads = 32 * min(warps, 8)
        result = cupy.empty(blocks * threads, dtype=cupy.float64)

        def run(steps):
            kernel((blocks,), (threads,), (operands, result, cupy.int32(steps)))
        run(100)
        steps = max(int(100 * 200 / max(min(timed(lambda: run(100)) for _ in range(3)), 1)), 100)
        bursts = []
        for _ in range(7):
            time.sleep(0.01)
            bursts.append(timed(lambda: [run(steps) for _ in range(CALLS)]) / CALLS)
        until, times = time.monotonic() + 0.5, []
        while time.monotonic() < until:
            times.append(timed(lambda: run(steps)))
        operations = 2 * INSTRUCTIONS[name][4] * products * steps * warps * multiprocessors
        row = {"type": name, "warps": warps}
        for what, us in (("burst", statistics.median(bursts)), ("sustained", statistics.median(times[len(times) // 2:]))):
            row[f"{what}_tflops"] = round(operations / us / 1e6, 1)
        rows.append(row)
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default=".")
    arguments = parser.parse_args()
    os.makedirs(arguments.output, exist_ok=True)
    failed = 0
    with open(os.path.join(arguments.output, "mma_limit.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["type", "warps", "burst_tflops", "sustained_tflops"])
        writer.writeheader()
        for name in INSTRUCTIONS:
            try:
                found = measure(name)
            except Exception as problem:  # pylint: disable=broad-except
                failed += 1
                print(f"{name}: {str(problem).strip().splitlines()[0][:200]}")
                continue
            writer.writerows(found)
            file.flush()
            best = max(found, key=lambda row: row["burst_tflops"])
            print(f"{name:14} {best['burst_tflops']:7.1f} TFLOP/s in a burst of {best['warps']} warps, "
                  f"{max(row['sustained_tflops'] for row in found):7.1f} sustained", flush=True)
    sys.exit(1 if failed else 0)
