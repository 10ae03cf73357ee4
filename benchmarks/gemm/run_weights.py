#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races products of quantised weights (weights.py) on the GPU of this machine: what is computed in the kernel, what is stored before, the
same product of weights in bf16 by Tenon and by cuBLAS, and PyTorch's own kernel of 4-bit weights.

usage: benchmarks/gemm/run_weights.py PROGRAMS OUTPUT [SECONDS]

PROGRAMS holds libtenon_runtime.so and CASE.tenon, or folders of those for several compilers. Every result is compared with float64
first. Calls go round so many sets of operands that nothing is left of them in the second-level cache. A time is the median of 15 graphs,
participants in random order. Writes OUTPUT/weights.csv.
"""
import collections
import csv
import glob
import os
import random
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "race"))

import racing  # noqa: E402, puts what follows on the path
import torch  # noqa: E402

from measure import Tenon, Torch  # noqa: E402
from weights import GROUP, SETS  # noqa: E402

EPS_BF16, EPS_F32 = 2.0 ** -8, 2.0 ** -23
MOST_SETS, BYTES_AROUND = 8, 200e6


def operands(case, generator):
    """What the program is given, and w, each step of it rounded as the program rounds it."""
    def normal(*shape):
        return torch.randn(shape, generator=generator, device="cuda")
    x = normal(case.m, case.k).bfloat16()
    if case.kind == "bf16":
        w = normal(case.n, case.k).bfloat16()
        return [x, w], w
    if case.kind == "i8c":
        q = torch.randint(-128, 128, (case.n, case.k), generator=generator, device="cuda", dtype=torch.int8)
        scale = normal(case.n).bfloat16()
        return [x, q, scale], q.bfloat16() * scale[:, None]
    groups = case.k // GROUP
    scale, zero = normal(case.n, groups).bfloat16(), torch.randint(0, 16, (case.n, groups), generator=generator, device="cuda").bfloat16()
    if case.kind == "i8g":
        given = torch.randint(-128, 128, (case.n, case.k), generator=generator, device="cuda", dtype=torch.int8)
        q = given.bfloat16()
    else:
        given = torch.randint(-128, 128, (case.n, case.k // 2), generator=generator, device="cuda", dtype=torch.int8)
        q = torch.stack([given & 15, (given >> 4) & 15], dim=-1).bfloat16()
    w = (q.view(case.n, groups, GROUP) - zero[:, :, None]) * scale[:, :, None]
    return [x, given, scale, zero], w.view(case.n, case.k)


def error_of(found, x, w):
    """The worst error in units of what rounding the result and a sum in any order may be; above 1 it is wrong."""
    exact, size = x.double() @ w.double().mT, x.double().abs() @ w.double().abs().mT
    bound = EPS_BF16 * exact.abs() + (x.shape[1] + 2) * EPS_F32 * size + 1e-30
    return ((found.double() - exact).abs() / bound).nan_to_num(float("inf")).max().item()


def packed_product(case, sets):
    """PyTorch's kernel of 4-bit weights: it has their zero points in another unit, which does not change its time."""
    made = []
    for x, given, scale, zero in sets:
        packed = torch.ops.aten._convert_weight_to_int4pack(given.view(torch.uint8), 8)
        both = torch.stack([scale.mT, zero.mT], dim=-1).contiguous()
        made.append((x, packed, both))
    return Torch("int4pack", lambda x, packed, both: torch.ops.aten._weight_int4pack_mm(x, packed, GROUP, both), made)


def measure(shape, found, runtime):
    """[(participant, error, microseconds)]; found: {case: [(compiler, path)]}"""
    m, n, k = shape
    racers, errors, alive = [], {}, []  # operands must outlive the graphs that read them
    for case, paths in found.items():
        generator = torch.Generator("cuda").manual_seed(m * 31 + n * 7 + k)
        count = max(1, min(MOST_SETS, int(BYTES_AROUND / (n * k * case.bits() / 8)) + 1))
        first, w = operands(case, generator)
        sets = [first] + [[t.clone() for t in first] for _ in range(count - 1)]
        alive.append(sets)
        mine = []
        for compiler, path in paths:
            name = f"{compiler}{case.kind}_{case.form}"
            mine.append(Tenon(name, runtime, path, sets, []))
            errors[name] = error_of(mine[-1].outputs(0)[0], first[0], w)
        if case.kind == "bf16":
            mine.append(Torch("cublas", lambda x, w: x @ w.mT, sets))
        if case.kind == "i4g" and case.form == "plain" and m <= 256:
            mine.append(packed_product(case, sets))
        for racer in mine:
            racer.first(count)
            racer.capture(max(count, 4), count)
        racers += mine
        del w
    for _ in range(15):
        for racer in random.sample(racers, len(racers)):
            time.sleep(0.002)
            racer.times.append(racing.timed(racer))
    rows = [(racer.name, errors.get(racer.name), statistics.median(racer.times)) for racer in racers]
    for racer in racers:
        racer.release()
    return rows


def copy_rate():
    """Bytes read and written in a microsecond by a copy of 512 MiB."""
    source = torch.zeros(1 << 29, dtype=torch.uint8, device="cuda")
    to = torch.empty_like(source)
    racer = Torch("copy", to.copy_, [[source]])
    racer.first(1)
    racer.capture(4, 1)
    return 2 * source.nbytes / statistics.median(racing.timed(racer) for _ in range(9))


def main(programs, output, seconds=100.0):
    torch.set_grad_enabled(False)
    runtime = racing.tenon.Runtime(os.path.join(programs, "libtenon_runtime.so"))
    cases = {case.name(): case for case in SETS["full"]}
    shapes = collections.defaultdict(lambda: collections.defaultdict(list))
    for path in sorted(glob.glob(os.path.join(programs, "**", "*.tenon"), recursive=True)):
        case = cases.get(os.path.basename(path)[:-len(".tenon")])
        folder = os.path.relpath(os.path.dirname(path), programs)
        if case:
            shapes[case.m, case.n, case.k][case].append(("" if folder == "." else folder + ":", path))
    rate, wrong, end = copy_rate(), 0, time.monotonic() + float(seconds)
    print(f"# {torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}, copy {rate / 1e3:.0f} GB/s")
    with open(os.path.join(output, "weights.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["m", "n", "k", "participant", "error", "us", "tflops", "share_of_copy"])
        for (m, n, k), found in sorted(shapes.items()):
            if time.monotonic() > end:
                print(f"{m}x{n}x{k}: not measured, no time left")
                continue
            told = []
            for name, error, taken in measure((m, n, k), found, runtime):
                bits = 4 if "i4" in name else 8 if "i8" in name else 16
                share = (n * k * bits / 8 + 2 * (m * n + m * k)) / taken / rate
                writer.writerow([m, n, k, name, "" if error is None else f"{error:.4f}", round(taken, 2), round(2e-6 * m * n * k / taken, 1), round(share, 3)])
                bad = error is not None and not error <= 1
                wrong += bad
                told.append(f"{name} {taken:.1f}" + (f" ({share:.2f})" if m <= 64 else "") + (f" WRONG {error:.3g}" if bad else ""))
            file.flush()
            print(f"{m}x{n}x{k}: " + "  ".join(told), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
