#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times what programs.py compiled by two builds, in turn, and says how far their results are from each other.

  measure.py FOLDER --library=libtenon_runtime.so --before=before --after=after [--csv=FILE]

Ten calls behind each other between two events, seven rounds, the two in random order; the medians. Needs PyTorch and a GPU."""
import argparse
import csv
import json
import pathlib
import random
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks" / "memory_bound"), str(ROOT / "scripts")]
import measure  # noqa: E402  (of memory_bound)
import tenon_capi  # noqa: E402
import torch  # noqa: E402


def inputs(shapes):
    """Integers, scales and a bias."""
    whole = [torch.randint(-128, 128, shape, dtype=torch.int8, device="cuda") for shape in shapes[:2]]
    return [*whole, torch.rand(shapes[2], device="cuda") * 0.02 + 0.001, torch.randn(shapes[3], device="cuda")]


def prepared(runtime, path, tensors):
    program = runtime.open(str(path))
    call = program.prepare([("f32" if t.is_floating_point() else "i8", runtime.import_buffer(t.data_ptr(), t.nbytes), tuple(t.shape))
                            for t in tensors])
    call.on_stream(torch.cuda.current_stream().cuda_stream)
    torch.cuda.synchronize()
    _, address, size, shape, _ = call.outputs()[0]
    return call, torch.as_tensor(measure.DeviceBytes(address, size), device="cuda").clone().view(torch.float32).view(shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--library", required=True)
    parser.add_argument("--before", default="before")
    parser.add_argument("--after", default="after")
    parser.add_argument("--csv")
    options = parser.parse_args()
    runtime, rows = tenon_capi.Runtime(options.library), []
    for number, (name, shapes) in enumerate(json.loads((options.folder / "cases.json").read_text()).items()):
        tensors = inputs(shapes)
        made = {build: prepared(runtime, options.folder / f"{number}.{build}.tenon", tensors) for build in (options.before, options.after)}
        times = {build: [] for build in made}
        for _ in range(7):
            for build in random.sample(list(made), 2):
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                begin.record()
                for _ in range(10):
                    made[build][0].on_stream(torch.cuda.current_stream().cuda_stream)
                end.record()
                end.synchronize()
                times[build].append(begin.elapsed_time(end) * 100)
        before, after = (statistics.median(times[build]) for build in (options.before, options.after))
        results = [made[build][1] for build in (options.before, options.after)]
        rows.append({"case": name, "before_us": f"{before:.1f}", "after_us": f"{after:.1f}", "ratio": f"{before / after:.2f}",
                     "largest_difference": f"{(results[0] - results[1]).abs().max().item():.3g}",
                     "largest_result": f"{results[0].abs().max().item():.3g}"})
        print(rows[-1], flush=True)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
