# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The other side of programs.py: for each operation its inputs as tensors, PyTorch's way to compute it (eager, and the same
function compiled), and a reference in float64 (integers: exact)."""
import math

import torch
import torch.nn.functional as F

import everyday_workloads
import random_workloads
import uncommon_workloads
import user_workloads
from programs import ADAM, BINS, DROPOUT, DROPPED, EPSILON, TOP

TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "i8": torch.uint8, "i32": torch.int32,
         "i64": torch.int64, "f64": torch.float64}
SEED = 0x1234567


def uniform(case, device, *shape, kind=None, low=-2.0, high=2.0):
    return torch.empty(shape, dtype=TYPES[kind or case.kind], device=device).uniform_(low, high)


def one(case, device):
    return [uniform(case, device, *case.shape)]


def two(case, device):
    return one(case, device) + one(case, device)


class Workload:
    """inputs(case, device); eager(*inputs), a tensor or a tuple; reference(*inputs), the same in float64.
    scalars: arguments of the program behind the tensors, (element, number). peers: other ways of PyTorch, by name.
    minimal: bytes that must move, where it is not every input and every result once. compiled: also through torch.compile.
    random: PyTorch draws numbers of its own, so only times compare."""

    def __init__(self, inputs, eager, reference=None, scalars=(), peers=None, minimal=None, compiled=True, random=False):
        self.inputs, self.eager, self.scalars, self.peers = inputs, eager, scalars, peers or {}
        self.reference = reference or (lambda *tensors: eager(*[t.double() if t.is_floating_point() else t for t in tensors]))
        self.minimal, self.compiled, self.random = minimal, compiled, random


def chain10(x):
    t = torch.clamp_min(x * 1.5 + 0.25, -2.0)
    t = torch.clamp_max(t * x - 0.5, 3.0)
    return torch.abs((t + x) * 0.75) + 1.0


def dropout_reference(x):
    def times(h, factor):
        return (h * (factor & 0xFFFFFFFF)) & 0xFFFFFFFF

    h = times(torch.arange(x.numel(), device=x.device), -1640531535) ^ SEED
    h = times(h ^ (h >> 16), -2048144789)
    h = times(h ^ (h >> 13), -1028477387)
    h = h ^ (h >> 16)
    return torch.where(h >= DROPPED, x.double() / (1 - DROPOUT), 0.0)


def adam(p, g, m, v):
    a = ADAM
    kind = p.dtype
    if kind != torch.float64:
        p, g, m, v = p.float(), g.float(), m.float(), v.float()
    m = m * a["beta1"] + g * (1 - a["beta1"])
    v = v * a["beta2"] + g * g * (1 - a["beta2"])
    root = (v * (1 / (1 - a["beta2"] ** a["step"]))).sqrt()
    p = p - m / (root + a["eps"]) * (a["lr"] / (1 - a["beta1"] ** a["step"]))
    return p.to(kind), m.to(kind), v.to(kind)


def rope(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    kind = x.dtype
    if kind != torch.float64:
        a, b = a.float(), b.float()
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1).to(kind)


def rope_inputs(case, device):
    _, _, positions, size = case.shape
    angle = (torch.arange(positions, device=device).double()[:, None] *
             10000.0 ** (-torch.arange(size // 2, device=device).double() / (size // 2))[None, :])
    return one(case, device) + [angle.cos().float(), angle.sin().float()]


def norm_inputs(*vectors):
    def make(case, device):
        columns = case.shape[1]
        return [uniform(case, device, *case.shape) for _ in range(vectors[0])] + \
               [uniform(case, device, columns) for _ in range(vectors[1])]
    return make


def rmsnorm(x, residual, gamma):
    h = x + residual
    return h, F.rms_norm(h, (h.shape[-1],), gamma, EPSILON)


def rmsnorm_reference(x, residual, gamma):
    # What is normalised is the sum as it was stored.
    h = (x + residual).double()
    return x.double() + residual.double(), h * (h.square().mean(-1, keepdim=True) + EPSILON).rsqrt() * gamma.double()


def cross_entropy_inputs(case, device):
    return one(case, device) + [torch.randint(0, case.shape[1], (case.shape[0],), device=device)]


def cross_entropy_reference(x, target):
    # In slices of rows, since float64 of everything at once may not fit.
    losses = [F.cross_entropy(x[i:i + 1024].double(), target[i:i + 1024], reduction="sum") for i in range(0, len(x), 1024)]
    return torch.stack(losses).sum() / len(x)


def embedding_inputs(case, device):
    entries, size, count = case.shape
    return [uniform(case, device, entries, size), torch.randint(0, entries, (count,), device=device)]


def embedding_bytes(inputs, outputs):
    table, index = inputs
    moved = sum(t.nbytes for t in outputs)
    return min(table.nbytes, moved) + moved + index.nbytes


def channel_inputs(case, device):
    return one(case, device) + [uniform(case, device, case.shape[1]) for _ in range(2)]


def batch_norm(x, gamma, beta):
    return F.batch_norm(x, None, None, gamma, beta, training=True, eps=EPSILON)


def permuted(*order):
    return lambda x: x.permute(*order).contiguous()


def layer_norm(x, gamma, beta):
    return F.layer_norm(x, (x.shape[-1],), gamma, beta, EPSILON)


class Workloads(dict):
    """By operation; groups drawn at random are made when they are asked for."""

    def __missing__(self, operation):
        self[operation] = random_workloads.workload(operation, Workload, uniform)
        return self[operation]


WORKLOADS = Workloads({
    "add": Workload(two, lambda x, y: x + y),
    "chain10": Workload(one, chain10),
    "dropout": Workload(one, lambda x: F.dropout(x, DROPOUT, training=True), dropout_reference, [("i32", SEED)], random=True),
    "adam": Workload(lambda case, device: [uniform(case, device, *case.shape) for _ in range(3)] +
                     [uniform(case, device, *case.shape, low=0.0, high=1.0)], adam),
    "row_sum": Workload(one, lambda x: x.sum(1)),
    "column_sum": Workload(one, lambda x: x.sum(0)),
    "all_sum": Workload(one, lambda x: x.sum()),
    "row_max": Workload(one, lambda x: x.amax(1)),
    "transpose": Workload(one, lambda x: x.t().contiguous()),
    "permute0213": Workload(one, permuted(0, 2, 1, 3)),
    "permute0231": Workload(one, permuted(0, 2, 3, 1)),
    "permute0312": Workload(one, permuted(0, 3, 1, 2)),
    "permute210": Workload(one, permuted(2, 1, 0)),
    "variance": Workload(one, lambda x: torch.var(x, -1, correction=0)),
    "batch_norm": Workload(channel_inputs, batch_norm),
    "batch_norm_last": Workload(channel_inputs, batch_norm),
    "softmax": Workload(one, lambda x: torch.softmax(x, -1)),
    "log_softmax": Workload(one, lambda x: torch.log_softmax(x, -1)),
    "layernorm": Workload(norm_inputs(1, 2), layer_norm),
    "rmsnorm_residual": Workload(norm_inputs(2, 1), rmsnorm, rmsnorm_reference),
    "cross_entropy": Workload(cross_entropy_inputs, F.cross_entropy, cross_entropy_reference),
    "rope": Workload(rope_inputs, rope),
    "topk": Workload(one, lambda x: tuple(torch.topk(x, TOP, dim=1)), lambda x: (torch.topk(x.double(), TOP, dim=1)[0],)),
    "cumsum": Workload(one, lambda x: x.cumsum(1)),
    "cumsum_line": Workload(one, lambda x: x.cumsum(0)), "cumsum_columns": Workload(one, lambda x: x.cumsum(0)),
    **{name: Workload(one, lambda x: tuple(torch.sort(x, dim=-1)), lambda x: (torch.sort(x.double(), dim=-1)[0],))
       for name in ("sort", "sort_line")},
    "embedding": Workload(embedding_inputs, lambda table, index: F.embedding(index, table), minimal=embedding_bytes),
    "histogram": Workload(lambda case, device: [torch.randint(0, BINS, case.shape, device=device, dtype=torch.uint8)],
                          lambda x: torch.bincount(x, minlength=BINS), compiled=False,
                          peers={"histc": lambda x: torch.histc(x.float(), BINS, 0, BINS)}),
    "concat": Workload(two, lambda x, y: torch.cat((x, y), 1)),
    "pad": Workload(one, lambda x: F.pad(x, (3, 5, 1, 2))),
    **everyday_workloads.workloads(Workload, uniform),
})


UNCOMMON, UNCOMMON_OF_CASE = uncommon_workloads.workloads(Workload, uniform)
USERS, USERS_OF_CASE = user_workloads.workloads(Workload, uniform)
WORKLOADS.update(UNCOMMON | USERS)
OF_CASES = {}


def workload_of(case):
    """That of its operation, or its own, where a result has sizes that no input has."""
    if case not in OF_CASES:
        OF_CASES[case] = UNCOMMON_OF_CASE(case) or USERS_OF_CASE(case) or WORKLOADS[case.operation]
    return OF_CASES[case]


def as_tuple(outputs):
    return tuple(outputs) if isinstance(outputs, (tuple, list)) else (outputs,)


def error(got, wanted, piece=1 << 26):
    """Largest absolute difference over the outputs that have a reference, and the largest magnitude of the reference."""
    worst = scale = 0.0
    for g, w in zip(as_tuple(got), as_tuple(wanted)):
        if tuple(g.shape) != tuple(w.shape):
            return math.inf, 1.0
        for a, b in zip(g.reshape(-1).split(piece), w.reshape(-1).split(piece)):
            if a.numel():
                difference = (a.double() - b.double()).abs()
                worst = max(worst, float(difference.nan_to_num(nan=math.inf, posinf=math.inf).max()))
                scale = max(scale, float(b.double().abs().max()))
    return worst, scale
