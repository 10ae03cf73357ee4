# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The other side of user_programs.py in PyTorch: inputs, function, reference in float64."""
import functools

import torch
import torch.nn.functional as F

from everyday_programs import EPSILON
import input_makers
from input_makers import as_f32, axes, whole
from user_programs import parameter_sizes

KINDS = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def wide(t):
    return t if t.dtype == torch.float64 else t.float()


def workloads(Workload, uniform):
    several = functools.partial(input_makers.several, uniform)

    def mixed(*makers):
        def make(case, device):
            return [maker(case, device) for maker in makers]
        return make

    def drawn(own=whole, kind=None, low=-2.0, high=2.0):
        return lambda case, device: uniform(case, device, *own(case.shape), kind=kind, low=low, high=high)

    def integers(low, high, own=whole, kind=torch.uint8):
        def make(case, device):
            top = high(case.shape) if callable(high) else high
            return torch.randint(low, top, own(case.shape), device=device, dtype=kind)
        return make

    one, two, three = (several(*[whole] * n) for n in (1, 2, 3))
    bits, found = integers(0, 2), {}

    # Optimisers.
    def adam_inputs(case, device):
        made = []
        for size in parameter_sizes(case.shape):
            made += [uniform(case, device, size) for _ in range(3)] + [uniform(case, device, size, low=0.0, high=1.0)]
        return made

    def adam_clipped(*tensors):
        kind = tensors[0].dtype
        lists = [[wide(t) for t in tensors[i::4]] for i in range(4)]
        length = torch.stack([g.square().sum() for g in lists[1]]).sum().sqrt()
        factor, made = 1 / length.clamp_min(1.0), []
        for p, g, m, v in zip(*lists):
            g = g * factor
            m, v = m * 0.9 + g * 0.1, v * 0.99 + g * g * 0.01
            made += [p - (m / (v.sqrt() + 1e-3) + p * 0.01) * 0.01, m, v]
        return tuple(t.to(kind) for t in made)

    def adam_foreach(*tensors):
        p, g, m, v = (list(tensors[i::4]) for i in range(4))
        length = torch.stack(torch._foreach_norm(g)).norm()  # pylint: disable=protected-access
        f = torch
        g = f._foreach_mul(g, 1 / length.clamp_min(1.0))  # pylint: disable=protected-access
        m = f._foreach_lerp(m, g, 0.1)  # pylint: disable=protected-access
        v = f._foreach_mul(v, 0.99)  # pylint: disable=protected-access
        f._foreach_addcmul_(v, g, g, 0.01)  # pylint: disable=protected-access
        under = f._foreach_sqrt(v)  # pylint: disable=protected-access
        f._foreach_add_(under, 1e-3)  # pylint: disable=protected-access
        step = f._foreach_div(m, under)  # pylint: disable=protected-access
        p = f._foreach_mul(p, 1 - 0.0001)  # pylint: disable=protected-access
        f._foreach_add_(p, step, alpha=-0.01)  # pylint: disable=protected-access
        return tuple(t for made in zip(p, m, v) for t in made)
    found["adam_clipped"] = Workload(adam_inputs, adam_clipped, peers={"foreach": adam_foreach})

    def averages(*tensors):
        return tuple(a * 0.99 + p * 0.01 for a, p in zip(tensors[::2], tensors[1::2]))
    found["averages"] = Workload(lambda case, device: [uniform(case, device, size) for size in parameter_sizes(case.shape) for _ in range(2)],
                                 as_f32(averages), peers={"foreach": lambda *t: torch._foreach_lerp(list(t[::2]), list(t[1::2]), 0.01)})

    # Norms, gates.
    def dropout_norm(x, residual, mask, gamma, beta):
        h = (wide(residual) + torch.where(mask != 0, wide(x) * 1.25, 0.0)).to(x.dtype)
        return h, F.layer_norm(wide(h), h.shape[1:], gamma, beta, EPSILON).to(x.dtype)

    def dropout_reference(x, residual, mask, gamma, beta):
        # What is normalised is the sum as it was stored.
        h = (wide(residual) + torch.where(mask != 0, wide(x) * 1.25, 0.0)).to(x.dtype).double()
        return h, F.layer_norm(h, h.shape[1:], gamma.double(), beta.double(), EPSILON)
    weights = drawn(axes(1), "f32")
    found["dropout_norm"] = Workload(mixed(drawn(), drawn(), bits, weights, weights), dropout_norm, dropout_reference)

    def rmsnorm_gradient(x, dy, gamma):
        kind, x, dy = x.dtype, wide(x), wide(dy)
        root = (x.square().mean(1, keepdim=True) + EPSILON).rsqrt()
        scaled = dy * gamma
        return (root * (scaled - x * root * root * (x * scaled).mean(1, keepdim=True))).to(kind), (dy * x * root).sum(0)
    found["rmsnorm_gradient"] = Workload(mixed(drawn(), drawn(), weights), rmsnorm_gradient)

    def group_norm_silu(x, gamma, beta):
        n, g, c, places = x.shape
        return F.silu(F.group_norm(wide(x).reshape(n, g * c, places), g, gamma.reshape(-1), beta.reshape(-1), EPSILON)).to(x.dtype).view(x.shape)
    found["group_norm_silu"] = Workload(several(whole, (axes(1, 2), "f32"), (axes(1, 2), "f32")), group_norm_silu)

    def silu_gradient(a, b, dy):
        kind, a, b, dy = a.dtype, wide(a), wide(b), wide(dy)
        g = torch.sigmoid(a)
        da = dy * b * (g * (1 + a * (1 - g)))
        return da.to(kind), (dy * a * g).to(kind), da.sum(0)
    found["silu_gradient"] = Workload(three, silu_gradient)

    def columns_normal(x):
        v = wide(x)
        variance, mean = torch.var_mean(v, 0, correction=0)
        return ((v - mean) * (variance + EPSILON).rsqrt()).to(x.dtype)
    found["columns_normal"] = Workload(one, columns_normal)
    found["weight_norm"] = Workload(several(whole, (axes(1), "f32")), lambda x, g: (
        wide(x) * (g / torch.linalg.vector_norm(wide(x), dim=0).clamp_min(1e-6))).to(x.dtype))

    def lstm_cell(gates, c):
        kind, state = c.dtype, wide(c)
        i, g, o, r = wide(gates).unbind(1)
        new = torch.sigmoid(r) * state + torch.sigmoid(i) * torch.tanh(g)
        return new.to(kind), (torch.sigmoid(o) * torch.tanh(new)).to(kind)
    found["lstm_cell"] = Workload(several(lambda s: (s[0], 4, s[1]), whole), lstm_cell)

    # Quantisation. A byte may be one off where a quotient is between two.
    def in_bytes(y, axis):
        scale = y.abs().amax(axis, keepdim=True).clamp_min(1e-8) / 127
        return ((y / scale).round() + 128).to(torch.uint8), scale.squeeze(axis)
    found["swiglu_quantised"] = Workload(two, lambda a, b: in_bytes(F.silu(wide(a)) * wide(b), 1))
    found["blocks_quantised"] = Workload(several(lambda s: (*s, 32)), lambda x: in_bytes(wide(x), 2))

    # Losses.
    def smooth_gradient(x, target):
        p = torch.softmax(wide(x), 1) - 0.1 / x.shape[1]
        p.scatter_add_(1, target.long()[:, None], torch.full((len(x), 1), -0.9, dtype=p.dtype, device=x.device))
        return (p / len(x)).to(x.dtype)
    labels = integers(0, lambda s: s[1], axes(0), torch.int32)
    found["smooth_gradient"] = Workload(mixed(drawn(), labels), smooth_gradient)

    def divergence(x, y):
        a, b = torch.log_softmax(wide(x), 1), torch.log_softmax(wide(y), 1)
        return (a.exp() * (a - b)).sum(1)
    found["divergence"] = Workload(two, divergence)

    def dice(x, mask):
        x, m = wide(x), mask.to(torch.float64 if x.dtype == torch.float64 else torch.float32)
        return (2 * (x * m).sum(2) + 1) / (x.sum(2) + m.sum(2) + 1)
    found["dice"] = Workload(mixed(drawn(low=0.0, high=1.0), bits), dice)

    def focal(x, target):
        p = torch.sigmoid(torch.where(target != 0, wide(x), -wide(x)))
        return ((1 - p).square() * -p.clamp_min(1e-12).log()).mean()
    found["focal"] = Workload(mixed(drawn(), bits), focal)

    def cosines(x, y):
        x, y = wide(x), wide(y)
        return (x * y).sum(1) * (x.square().sum(1) * y.square().sum(1)).clamp_min(1e-12).rsqrt()
    found["cosines"] = Workload(two, cosines)
    found["traces"] = Workload(several(lambda s: (s[0], s[1], s[1])), lambda x: wide(torch.diagonal(x, 0, 1, 2)).sum(1))

    # Experts, beams, boxes: only the values of the best are compared, places may differ where two are equal.
    def routing(x):
        values, places = torch.topk(torch.softmax(wide(x), 1), 2, dim=1)
        return values / values.sum(1, keepdim=True), places
    found["routing"] = Workload(one, routing, lambda x: (routing(x.double())[0],))

    def combined(y, place, weight):
        return (wide(y)[place.long()] * weight[..., None]).sum(1).to(y.dtype)

    def gathered(inputs, outputs):
        rows = inputs[1].numel() * inputs[0].shape[1] * inputs[0].element_size()
        return min(inputs[0].nbytes, rows) + sum(t.nbytes for t in inputs[1:]) + outputs[0].nbytes
    found["combined"] = Workload(mixed(drawn(axes(0, 1)), integers(0, lambda s: s[0], lambda s: (s[2], 2), torch.int32),
                                       drawn(lambda s: (s[2], 2), "f32")), combined, minimal=gathered)
    found["bag"] = Workload(mixed(drawn(axes(0, 1)), integers(0, lambda s: s[0], lambda s: (s[2], 20), torch.int32)),
                            lambda table, index: F.embedding_bag(index, table, mode="sum"),
                            lambda table, index: table.double()[index.long()].sum(1), minimal=gathered)

    def beams(x, scores):
        return tuple(torch.topk((torch.log_softmax(wide(x), 2) + scores[..., None]).flatten(1), 5, dim=1))
    found["beams"] = Workload(mixed(drawn(), drawn(axes(0, 1), "f32")), beams, lambda x, scores: (beams(x.double(), scores.double())[0],))

    def boxes(case, device):
        low = torch.rand(case.shape[0], 2, device=device)
        return [torch.cat((low, low + 0.01 + 0.2 * torch.rand(case.shape[0], 2, device=device)), 1)]

    def overlaps(x):
        a, b = x[:, None], x[None]
        both = (torch.minimum(a[..., 2:], b[..., 2:]) - torch.maximum(a[..., :2], b[..., :2])).clamp_min(0).prod(-1)
        size = (x[:, 2:] - x[:, :2]).prod(-1)
        return torch.tril(both / (size[:, None] + size[None] - both), -1).amax(1)
    found["overlaps"] = Workload(boxes, overlaps)
    found["guesses"] = Workload(mixed(drawn(), integers(0, lambda s: s[1], axes(0), torch.int64)),
                                lambda x, label: (x.argmax(1) == label).sum(dtype=torch.int32))

    # Caches and tables.
    def slots(case, device):
        return torch.randperm(case.shape[0], device=device)[:case.shape[2], None].to(torch.int32)
    found["cache_append"] = Workload(mixed(drawn(axes(0, 1)), drawn(axes(2, 1)), slots), lambda cache, new, at: cache.index_copy(0, at[:, 0].long(), new))
    bytes_drawn = integers(0, 256)
    found["looked_up"] = Workload(mixed(bytes_drawn, drawn(lambda s: (256,))), lambda x, table: table[x.int()])

    def equalised(x):
        sums = torch.histc(wide(x), 256, 0, 256).cumsum(0)
        return (sums * (255 / len(x))).to(torch.uint8)[x.int()]
    found["equalised"] = Workload(mixed(bytes_drawn), equalised, lambda x: (
        torch.bincount(x.long(), minlength=256).cumsum(0).double() * (255 / len(x))).floor()[x.long()], compiled=False)

    # Images.
    def last_of(make):
        return mixed(make, drawn(lambda s: (3,), "f32"), drawn(lambda s: (3,), "f32"))
    found["patches"] = Workload(several(lambda s: (s[0], s[1], s[2], 16, s[3], 16)), lambda x: x.permute(0, 2, 4, 1, 3, 5).contiguous())
    found["pixel_unshuffle"] = Workload(several(lambda s: (s[0], s[1], s[2], 2, s[3], 2)), lambda x: x.permute(0, 1, 3, 5, 2, 4).contiguous())
    found["reflected"] = Workload(one, lambda x: F.pad(x, (3, 3, 3, 3), mode="reflect"))

    def shifted_windows(x):
        n, h, w, c = x.shape
        return x.roll((-3, -3), (1, 2)).view(n, h // 7, 7, w // 7, 7, c).permute(0, 1, 3, 2, 4, 5).contiguous()
    found["shifted_windows"] = Workload(one, shifted_windows)
    found["columns_of_image"] = Workload(one, lambda x: F.unfold(x, 3).view(x.shape[0], x.shape[1], 3, 3, x.shape[2] - 2, x.shape[3] - 2))

    def image_of_columns(x):
        n, c, _, _, h, w = x.shape
        return F.fold(x.reshape(n, c * 9, h * w), (h + 2, w + 2), 3)
    found["image_of_columns"] = Workload(several(lambda s: (s[0], s[1], 3, 3, s[2], s[3])), image_of_columns)
    found["mean_pool_gradient"] = Workload(one, lambda d: (d[:, :, :, None, :, None] * 0.25).expand(-1, -1, -1, 2, -1, 2).contiguous())

    def largest(case, device):
        n, c, h, w = case.shape
        x = uniform(case, device, n, c, h, 2, w, 2)
        return [x, x.amax((3, 5)), uniform(case, device, *case.shape)]
    found["max_pool_gradient"] = Workload(largest, lambda x, y, d: torch.where(x >= y[:, :, :, None, :, None], d[:, :, :, None, :, None], 0.0))
    found["resized"] = Workload(one, lambda x: F.interpolate(x, size=(x.shape[2] * 3 // 2, x.shape[3] * 3 // 2), mode="bilinear", align_corners=False))
    found["moving_mean"] = Workload(one, lambda x: F.avg_pool1d(x[None], 32, 1)[0])

    # Pairs, halves, triangles.
    def complex_product(x, y):
        a, b, c, d = x[..., 0], x[..., 1], y[..., 0], y[..., 1]
        return torch.stack((a * c - b * d, a * d + b * c), -1)
    pair = lambda s: (*s, 2)  # noqa: E731
    found["complex_product"] = Workload(several(pair, pair), as_f32(complex_product))

    def butterfly(re, im, cos, sin):
        a, b, c, d = re[:, 0], re[:, 1], im[:, 0], im[:, 1]
        return a + b, c + d, (a - b) * cos - (c - d) * sin, (a - b) * sin + (c - d) * cos
    halves = lambda s: (s[0], 2, s[1])  # noqa: E731
    found["butterfly"] = Workload(several(halves, halves, (axes(1), "f32"), (axes(1), "f32")), as_f32(butterfly))
    found["lower_triangle"] = Workload(several(lambda s: (s[0], s[1], s[1])), lambda x: torch.tril(x) * 0.125)
    found["chosen"] = Workload(mixed(drawn(), drawn(), drawn(), bits), lambda x, y, z, m: torch.where(
        m != 0, torch.where(x > y, x, torch.where(x < 0, z, y)), -1.0).to(x.dtype))
    found["discounted"] = Workload(lambda case, device: [uniform(case, device, *case.shape, low=0.95, high=1.05)], lambda x: x.cumprod(1))

    # What needs a size or a type that no input says.
    def of_case(case):
        kind = KINDS.get(case.kind)
        if case.operation == "dequantised":
            def run(x, scale, zero):
                return ((x - zero[:, None]) * scale[:, None]).to(kind)
            return Workload(mixed(bytes_drawn, drawn(axes(0), "f32"), drawn(axes(0), "f32")), run,
                            lambda x, scale, zero: (x - zero.double()[:, None]) * scale.double()[:, None])
        if case.operation == "planes_of_pixels":
            def planes(x, mean, scale):
                return ((x * (1 / 255) - mean) * scale).permute(0, 3, 1, 2).to(kind).contiguous()
            return Workload(last_of(integers(0, 256, lambda s: (*s, 3))), planes, lambda x, mean, scale: (
                (x.double() / 255 - mean.double()) * scale.double()).permute(0, 3, 1, 2))
        if case.operation == "counted":
            bins = case.shape[1]
            return Workload(mixed(integers(0, bins, axes(0), torch.int32)), lambda x: torch.bincount(x, minlength=bins).int(), compiled=False)
        if case.operation == "segments":
            parts = case.shape[0]
            return Workload(mixed(drawn(axes(2, 1)), lambda case, device: torch.randint(0, parts, (case.shape[2], 1), device=device, dtype=torch.int32).sort(0)[0]),
                            lambda x, at: torch.zeros(parts, x.shape[1], dtype=x.dtype, device=x.device).index_add_(0, at[:, 0], x),
                            lambda x, at: torch.zeros(parts, x.shape[1], dtype=torch.float64, device=x.device).index_add_(0, at[:, 0], x.double()))
        if case.operation == "places_of_experts":
            experts = case.shape[1]

            def places(e):
                hot = (e[:, None] == torch.arange(experts, device=e.device)).int()
                return (hot.cumsum(0, dtype=torch.int32).gather(1, e.long()[:, None])[:, 0] - 1)
            return Workload(mixed(integers(0, experts, axes(0), torch.int32)), places)
        return None
    return found, of_case
