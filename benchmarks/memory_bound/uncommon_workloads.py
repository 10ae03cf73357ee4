# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The other side of uncommon_programs.py in PyTorch: inputs, function, reference in float64."""
import functools

import torch
import torch.nn.functional as F

from everyday_programs import EPSILON
import input_makers
from input_makers import as_f32, axes, whole
from uncommon_movement import PIECES, TURNS


def workloads(Workload, uniform):
    several = functools.partial(input_makers.several, uniform)

    def integers(low, high, own=whole, kind=torch.uint8):
        return lambda case, device: torch.randint(low, high, own(case.shape), device=device, dtype=kind)

    def mixed(*makers):
        """One input each: a shape, as in `several`, or a function of case and device."""
        def make(case, device):
            return [maker(case, device) for maker in makers]
        return make

    def drawn(own=whole, kind=None):
        return lambda case, device: uniform(case, device, *own(case.shape), kind=kind)

    one, two = several(whole), several(whole, whole)
    found = {}

    # Reductions. Whole numbers: bytes and words are exact, and counted in i64 for a reference.
    def numbers(case, device):
        if case.kind in ("i8", "i64"):
            return [torch.randint(-9 if case.kind == "i64" else 0, 9, case.shape, device=device, dtype={"i8": torch.int8, "i64": torch.int64}[case.kind])]
        return one(case, device)

    def total(*dims):
        def run(x):
            return x.sum(dims, dtype=torch.int32) if x.dtype == torch.int8 else x.sum(dims)
        return run

    for name in ("sum_0", "sum_1", "sum_01", "sum_02", "sum_13"):
        found[name] = Workload(numbers, total(*map(int, name.split("_")[1])))
    for name in ("max_0", "max_01", "max_1"):
        found[name] = Workload(numbers, lambda x, dims=tuple(map(int, name.split("_")[1])): x.amax(dims))
    found["prod_1"] = Workload(lambda case, device: [uniform(case, device, *case.shape, low=0.9, high=1.1)], lambda x: x.prod(1))
    sparse = mixed(lambda case, device: (torch.rand(case.shape, device=device) < 0.0005).to(torch.int8))
    dense = mixed(lambda case, device: (torch.rand(case.shape, device=device) < 2).to(torch.int8))
    found["any_1"] = Workload(sparse, lambda x: (x != 0).any(1).to(torch.int8))
    found["all_01"] = Workload(dense, lambda x: (x != 0).all().to(torch.int8))
    found["count_0"] = Workload(sparse, lambda x: (x != 0).sum(0, dtype=torch.int32))
    found["count_1"] = Workload(sparse, lambda x: (x != 0).sum(1, dtype=torch.int32))
    for axis in range(3):
        found[f"argmax_{axis}"] = Workload(one, lambda x, axis=axis: tuple(torch.max(x, axis)),
                                           lambda x, axis=axis: (x.double().amax(axis),))

    def moments(x):
        variance, mean = torch.var_mean(x if x.dtype == torch.float64 else x.float(), 1, correction=0)
        return mean, variance
    found["moments"] = Workload(one, moments)
    found["logsumexp_0"] = Workload(one, lambda x: torch.logsumexp(x, 0))
    found["length"] = Workload(one, lambda x: torch.linalg.vector_norm(x))

    # Softmax, norms, losses.
    found["softmax_0"] = Workload(one, lambda x: torch.softmax(x, 0))
    found["softmax_last"] = Workload(one, lambda x: torch.softmax(x, -1))
    found["softmax_gradient"] = Workload(two, as_f32(lambda y, dy: y * (dy - (y * dy).sum(1, keepdim=True))))
    found["norm_last"] = Workload(one, lambda x: F.layer_norm(x, x.shape[-1:], eps=EPSILON))

    def norm_gradient(dims, others, view):
        def run(x, dy, gamma):
            kind = x.dtype
            wide = torch.float64 if kind == torch.float64 else torch.float32
            x, dy, g = x.to(wide), dy.to(wide), gamma.view(view(x)).to(wide)
            mean, root = x.mean(dims, keepdim=True), (x.var(dims, keepdim=True, correction=0) + EPSILON).rsqrt()
            normal, scaled = (x - mean) * root, dy * g
            dx = root * (scaled - scaled.mean(dims, keepdim=True) - normal * (scaled * normal).mean(dims, keepdim=True))
            return dx.to(kind), (dy * normal).sum(others), dy.sum(others)
        return run

    found["layernorm_gradient"] = Workload(several(whole, whole, (axes(1), "f32")), norm_gradient(1, 0, lambda x: (1, -1)))
    found["batch_norm_gradient"] = Workload(several(whole, whole, (axes(1), "f32")), norm_gradient((0, 2), (0, 2), lambda x: (1, -1, 1)))
    found["group_norm_gradient"] = Workload(several(whole, whole, (axes(1, 2), "f32")),
                                            norm_gradient((2, 3), (0, 3), lambda x: (1, x.shape[1], x.shape[2], 1)))

    def loss(x, target):
        wide = x if x.dtype == torch.float64 else x.float()
        logs = torch.log_softmax(wide, 1)
        grad = logs.exp()
        grad.scatter_add_(1, target[:, None], torch.full_like(target[:, None], -1, dtype=grad.dtype))
        return -logs.gather(1, target[:, None])[:, 0], (grad / len(x)).to(x.dtype)

    def classes(case, device):
        return torch.randint(0, case.shape[1], (case.shape[0],), device=device)
    found["loss_gradient"] = Workload(mixed(drawn(), classes), loss)

    # Movement.
    def bytes_or_floats(case, device):
        return [torch.randint(0, 99, case.shape, device=device, dtype=torch.int8)] if case.kind == "i8" else one(case, device)

    for order in TURNS:
        found["turn" + order] = Workload(bytes_or_floats, lambda x, order=tuple(map(int, order)): x.permute(order).contiguous())
    found["concat_many"] = Workload(several(*[lambda shape, piece=piece: (shape[0], piece) for piece in PIECES]), lambda *t: torch.cat(t, 1))
    found["stack_last"] = Workload(two, lambda x, y: torch.stack((x, y), -1))
    found["every_second"] = Workload(one, lambda x: x[:, 1::2].contiguous(), minimal=lambda i, o: i[0].nbytes + o[0].nbytes)
    found["every_third_row"] = Workload(one, lambda x: x[1::3][:x.shape[0] // 3].contiguous(), minimal=lambda i, o: 2 * o[0].nbytes)
    found["backwards"] = Workload(bytes_or_floats, lambda x: x.flip(1))
    found["rolled"] = Workload(one, lambda x: x.roll(5, 1))
    found["repeated"] = Workload(one, lambda x: x[:, None].expand(-1, 3, -1).contiguous())
    found["doubled_image"] = Workload(one, lambda x: x[:, :, :, None, :, None].expand(-1, -1, -1, 2, -1, 2).contiguous())

    def rope_pairs(x, cos, sin):
        a, b = x[..., 0], x[..., 1]
        cos, sin = cos[:, None, :], sin[:, None, :]
        return torch.stack((a * cos - b * sin, b * cos + a * sin), -1)
    found["rope_pairs"] = Workload(several(lambda shape: (*shape, 2), (axes(1, 3), "f32"), (axes(1, 3), "f32")), as_f32(rope_pairs))

    # By index.
    def places(axis, own, kind=torch.int32):
        return lambda case, device: torch.randint(0, case.shape[axis], own(case.shape), device=device, dtype=kind)

    def looked_up(inputs, outputs):
        return min(inputs[0].nbytes, outputs[0].nbytes) + outputs[0].nbytes + inputs[1].nbytes
    found["rows_by_index"] = Workload(mixed(drawn(axes(0, 1)), places(0, axes(2))), lambda t, i: F.embedding(i, t), minimal=looked_up)
    found["columns_by_index"] = Workload(mixed(drawn(axes(0, 1)), places(1, axes(2))), lambda t, i: t.index_select(1, i), minimal=looked_up)
    found["along_rows"] = Workload(mixed(drawn(axes(0, 1)), places(1, axes(0, 2), torch.int64)), lambda x, i: x.gather(1, i), minimal=looked_up)

    def scattered(case, device):
        entries, size, count = case.shape
        return [uniform(case, device, count, size), torch.randint(0, entries, (count, 1), device=device, dtype=torch.int32)]
    found["running_0"] = Workload(numbers, lambda x: x.cumsum(0))
    found["running_1"] = Workload(numbers, lambda x: x.cumsum(1))
    found["running_max_1"] = Workload(one, lambda x: x.cummax(1)[0])
    found["experts"] = Workload(one, lambda x: tuple(torch.topk(x, 8, dim=1)), lambda x: (torch.topk(x.double(), 8, dim=1)[0],))
    found["sorted_rows"] = Workload(one, lambda x: torch.sort(x, dim=1)[0])

    # Windows.
    def last(function):
        return lambda x: function(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1).contiguous()
    found["max_pool_last"] = Workload(one, last(lambda x: F.max_pool2d(x, 3, 2, 1)))
    found["max_pool_first"] = Workload(one, lambda x: F.max_pool2d(x, 3, 2, 1))
    found["max_pool_volume"] = Workload(one, lambda x: F.max_pool3d(x, 2, 2))
    found["mean_pool_first"] = Workload(one, lambda x: F.avg_pool2d(x, 5, 3))
    found["line_max"] = Workload(one, lambda x: F.max_pool1d(x[None], 7, 1)[0])
    found["bilinear"] = Workload(one, last(lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)))

    # Elementwise.
    def sum_of_many(*tensors):
        so_far = tensors[0]
        for t in tensors[1:]:
            so_far = so_far + t
        return so_far
    found["sum_of_many"] = Workload(several(*[whole] * 12), as_f32(sum_of_many))

    def both_sides(x, mask, by_row, by_column):
        wide = (x if x.dtype == torch.float64 else x.float()) * by_row[:, None] + by_column.to(by_row.dtype)
        return torch.where(mask != 0, wide, 0.0).to(x.dtype)
    found["both_sides"] = Workload(mixed(drawn(), lambda case, device: torch.randint(0, 2, case.shape, device=device, dtype=torch.int8),
                                         drawn(axes(0), "f32"), drawn(axes(1), "bf16")), both_sides)
    found["outer_sum"] = Workload(several(axes(0), axes(1)), lambda x, y: x[:, None] + y)

    def nibbles(x, scale):
        parts = torch.stack((x & 15, (x >> 4) & 15), -1)
        return (parts.to(scale.dtype) - 8) * scale[..., None, None]

    def momentum(p, g, m, a):
        m = m * 0.9 + g
        p = p - m * 0.01
        return p, m, a * 0.99 + p * 0.01
    found["momentum"] = Workload(several(*[whole] * 4), as_f32(momentum))

    # Thin products.
    found["dot"] = Workload(two, torch.dot)
    found["matrix_vector"] = Workload(several(whole, axes(1)), torch.mv)
    found["vector_matrix"] = Workload(several(whole, axes(0)), lambda x, y: torch.mv(x.t(), y))

    def square(shape):
        return (shape[0], shape[1], shape[1])
    found["tiny_products"] = Workload(several(square, square), torch.bmm)
    found["tiny_vectors"] = Workload(several(square, whole), lambda x, y: torch.bmm(x, y[:, :, None])[:, :, 0])
    found["pair_distances"] = Workload(several(lambda s: (s[0], 3), lambda s: (s[1], 3)),
                                       lambda x, y: ((x[:, None, :] - y[None]) ** 2).sum(-1))

    # What needs a size that no input says.
    def scattered_rows(entries):
        def run(updates, index):
            return torch.zeros(entries, updates.shape[1], dtype=updates.dtype, device=updates.device).index_add_(0, index[:, 0], updates)
        return run

    def of_case(case):
        if case.operation == "scattered_rows":
            return Workload(scattered, scattered_rows(case.shape[0]))
        if case.operation == "one_hot":
            kind = {"f32": torch.float32, "bf16": torch.bfloat16}[case.kind]
            return Workload(mixed(classes), lambda index: (index[:, None] == torch.arange(case.shape[1], device=index.device)).to(kind))
        if case.operation == "nibbles":
            kind = {"f32": torch.float32, "bf16": torch.bfloat16}[case.kind]
            return Workload(lambda case, device: [torch.randint(-128, 128, (*case.shape, 16), device=device, dtype=torch.int8),
                                                  uniform(case, device, *case.shape, kind="f32")], lambda x, scale: nibbles(x, scale).to(kind),
                            lambda x, scale: nibbles(x, scale.double()))
        if case.operation == "counters":
            return Workload(lambda case, device: [], lambda: counters(case.shape[0]))
        return None

    def counters(count):
        a = torch.arange(count, device="cuda")
        b, key, factor, step, mask = 77, 12345, -766435501 & 0xFFFFFFFF, -1640531527 & 0xFFFFFFFF, 0xFFFFFFFF
        for _ in range(6):
            low16, high16 = a & 0xFFFF, a >> 16
            first = low16 * factor
            second = high16 * factor + (first >> 16)
            high, low = second >> 16, ((second & 0xFFFF) << 16) | (first & 0xFFFF)
            a, b = (high ^ key ^ b) & mask, low
            key = (key + step) & mask
        return (a ^ b).to(torch.int32)
    return found, of_case
