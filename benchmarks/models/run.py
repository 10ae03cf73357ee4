#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races whole models on the GPU of this machine: Tenon beside PyTorch, as it is and compiled.

usage: benchmarks/models/run.py --programs=build/models --output=DIR [--set=first] [--filter=TEXT] [--before=FOLDER]
       benchmarks/models/run.py --warm [--set=first]     compiles PyTorch's models into its cache, several at once

Every participant's result is compared with the model in f32 first (judge.py). Two times: of a call from the host, one after the
other without waiting between (`call_us`), and of one in a CUDA graph (`graph_us`); medians over rounds in random order. Writes
DIR/models.csv.
"""
import argparse
import csv
import json
import os
import random
import statistics
import subprocess
import sys
import time

for _folder in (os.path.join("..", "memory_bound"), os.path.join("..", "..", "scripts")):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), _folder))

import torch  # noqa: E402

import judge  # noqa: E402
import models  # noqa: E402
import tenon_capi as tenon  # noqa: E402
from measure import DeviceBytes, Participant, Torch  # noqa: E402

FIELDS = ["case", "participant", "distance", "allowed", "call_us", "graph_us", "kernels", "message"]
ELEMENTS = {torch.bfloat16: "bf16", torch.float32: "f32", torch.float16: "f16", torch.int64: "i64"}
KINDS = {tenon.ELEMENTS[name]: kind for kind, name in ELEMENTS.items()}
AT_ONCE = 8


class Program(Participant):
    """Tenon's, on the stream of the caller."""

    def __init__(self, runtime, path, tensors):
        super().__init__("tenon")
        self.program, self.kept = runtime.open(path), tensors
        self.prepared = self.program.prepare([(ELEMENTS[t.dtype], runtime.import_buffer(t.data_ptr(), t.nbytes), tuple(t.shape))
                                              for t in tensors])

    def call(self, _):
        self.prepared.on_stream(torch.cuda.current_stream().cuda_stream)

    def outputs(self, i):
        self.call(i)
        torch.cuda.synchronize()
        found = []
        for element, address, size, shape, _ in self.prepared.outputs():
            kind = KINDS[element]
            flat = torch.as_tensor(DeviceBytes(address, size), device="cuda")
            found.append(flat[:torch.Size(shape).numel() * kind.itemsize].view(kind).view(shape).clone())
        return tuple(found)

    def release(self):
        super().release()
        self.prepared.release()
        self.program.release()


def peer(case, compiled=False, last=False):
    """A call of PyTorch's module with its weights in it, as its users write it."""
    net = models.build(case, "cuda")
    shapes = models.weight_shapes(net)
    own = dict(net.named_parameters()) | dict(net.named_buffers())
    for name, made in zip(shapes, models.weights(case, shapes, "cuda")):
        own[name].data = made
    for module in net.modules():
        if isinstance(module, torch.nn.RNNBase):
            module.flatten_parameters()  # else cuDNN copies them in each call
    tensors = models.inputs(case, "cuda")
    if last:
        net = net.to(memory_format=torch.channels_last)
        tensors = [t.to(memory_format=torch.channels_last) if t.dim() == 4 else t for t in tensors]
    parameters = [each.requires_grad_(case.trains()) for each in net.parameters()]

    def forward(*given):
        made = net(*given[:-1] if case.trains() else given)
        return torch.nn.functional.cross_entropy(made.float(), given[-1]) if case.trains() else made

    function = torch.compile(forward, dynamic=False) if compiled else forward

    def call():
        if not case.trains():
            with torch.no_grad():
                return function(*tensors)
        with torch.enable_grad():
            loss = function(*tensors)
            return (loss.detach(), *torch.autograd.grad(loss, parameters))
    return Torch("compile" if compiled else "eager channels last" if last else "eager", call, [()])


def makers(case, runtime, arguments, tensors):
    for name, folder in (("tenon", arguments.programs), ("tenon before", arguments.before)):
        path = os.path.join(folder, case.name() + ".tenon")
        if folder and os.path.exists(path):
            yield name, lambda path=path: Program(runtime, path, tensors)
    peers = arguments.peers.split(",")
    if "eager" in peers:
        yield "eager", lambda: peer(case)
    if "eager" in peers and len(models.inputs(case)[0].shape) == 4:
        yield "eager channels last", lambda: peer(case, last=True)
    if "compile" in peers:
        yield "compile", lambda: peer(case, compiled=True)


def timed(work, calls):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begin.record()
    for _ in range(calls):
        work()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3 / calls


def kernels_of(racer):
    """How many kernels, copies and fills a call launches."""
    try:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as found:
            racer.call(0)
            torch.cuda.synchronize()
        return sum(event.count for event in found.key_averages() if event.device_type == torch.autograd.DeviceType.CUDA), found
    except Exception:  # pylint: disable=broad-except
        return "", None


def slowest(profile, most=25):
    """Lines of the kernels that take most of the time: all of it in us, how often, and which."""
    events = sorted((event for event in profile.key_averages() if event.device_type == torch.autograd.DeviceType.CUDA),
                    key=lambda event: -event.self_device_time_total)
    return "".join(f"{event.self_device_time_total:10.1f} {event.count:4} {event.key[:100]}\n" for event in events[:most])


def measure(case, runtime, arguments):
    # What our kernels may do there, PyTorch's may do too; what both are compared with is exact.
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    path = os.path.join(arguments.programs, case.name())
    with open(path + ".json", encoding="utf-8") as file:
        shapes = {name: tuple(shape) for name, shape in json.load(file).items()}
    net = models.build(case, "cuda")
    wanted = judge.called(case, net, shapes, "f32", "cuda")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = case.kind == "tf32"
    theirs = judge.distance(judge.called(case, net, shapes, case.kind, "cuda"), wanted)
    del net
    tensors = [*models.weights(case, shapes, "cuda"), *models.inputs(case, "cuda")]
    rows, racers = [], []
    for name, make in makers(case, runtime, arguments, tensors):
        row = {"case": case.name(), "participant": name, "allowed": f"{judge.allowed(theirs):.2e}"}
        rows.append(row)
        try:
            racer = make()
            row["distance"] = f"{judge.distance(judge.as_tuple(racer.outputs(0)), wanted):.2e}"
            for _ in range(3):
                racer.call(0)
            torch.cuda.synchronize()
            row["kernels"], profile = kernels_of(racer)
            if profile and name in arguments.profile.split(","):
                with open(os.path.join(arguments.output, "kernels.txt"), "a", encoding="utf-8") as file:
                    file.write(f"{case.name()} {name}\n" + slowest(profile))
            racer.capture(1, 1)
            racer.calls, racer.graphs = [], []
            racers.append((racer, row))
        except Exception as problem:  # pylint: disable=broad-except
            row["message"] = f"{type(problem).__name__}: {str(problem).strip().splitlines()[0] if str(problem).strip() else ''}"[:200]
    once = max([timed(lambda: racer.call(0), 2) for racer, _ in racers], default=1)
    calls = max(2, min(20, int(20e3 / once)))
    for _ in range(arguments.rounds):
        for racer, _ in random.sample(racers, len(racers)):
            racer.calls.append(timed(lambda: racer.call(0), calls))
            if racer.graph is not None:
                racer.graphs.append(timed(racer.graph.replay, calls))
    for racer, row in racers:
        row["call_us"] = round(statistics.median(racer.calls), 1)
        row["graph_us"] = round(statistics.median(racer.graphs), 1) if racer.graphs else ""
        if racer.mode != "graph":
            row["message"] = racer.mode
        racer.release()
    torch.compiler.reset()
    torch.cuda.empty_cache()
    return rows


def best(row):
    return min([row[field] for field in ("call_us", "graph_us") if row.get(field)], default=None)


def warm(cases):
    """In processes of their own, since each compiles for a minute on one core."""
    waiting, running = [case.name() for case in cases], []
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            running.append(subprocess.Popen([sys.executable, __file__, "--warm-one=" + waiting.pop(0)],  # pylint: disable=consider-using-with
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        running = [each for each in running if each.poll() is None]
        time.sleep(0.2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default="build/models")
    parser.add_argument("--before", default="", help="a folder of programs that another compiler made, to race beside")
    parser.add_argument("--peers", default="eager,compile")
    parser.add_argument("--output", default=".")
    parser.add_argument("--set", default="first", choices=sorted(models.SETS))
    parser.add_argument("--filter", default="", help="cases whose name holds it")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--profile", default="", help="participants whose kernels are listed in DIR/kernels.txt")
    parser.add_argument("--warm", action="store_true")
    parser.add_argument("--warm-one", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    cases = [case for case in models.SETS[arguments.set] if arguments.filter in case.name()]
    if arguments.warm:
        return warm(cases)
    if arguments.warm_one:
        peer(next(case for case in sum(models.SETS.values(), []) if case.name() == arguments.warm_one), compiled=True).call(0)
        return 0
    os.makedirs(arguments.output, exist_ok=True)
    runtime = tenon.Runtime(os.path.join(arguments.programs, "libtenon_runtime.so"))
    end, wrong, ratios = time.monotonic() + arguments.seconds, 0, []
    with open(os.path.join(arguments.output, "models.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        print(f"# {torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}")
        for case in cases:
            if not os.path.exists(os.path.join(arguments.programs, case.name() + ".tenon")) or time.monotonic() > end:
                print(f"{case.name()}: not measured")
                continue
            rows = measure(case, runtime, arguments)
            writer.writerows(rows)
            file.flush()
            own, others = rows[0], [best(row) for row in rows[1:] if best(row) and not row["participant"].startswith("tenon")]
            wrong += not best(own) or not float(own["distance"]) <= float(own["allowed"])
            ratio = min(others) / best(own) if others and best(own) else None
            ratios += [ratio] if ratio else []
            print(f"{case.name():28} {f'{ratio:.2f}x' if ratio else '-':6}", "  ".join(
                f"{row['participant']} {row.get('call_us', '-')}/{row.get('graph_us', '-')} us {row.get('kernels')} kernels {row.get('distance')}"
                f" {row.get('message', '')}" for row in rows), flush=True)
    if ratios:
        print(f"geometric mean {statistics.geometric_mean(ratios):.3f} of {len(ratios)}; {wrong} wrong or failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
