# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""linalg's named operations, and those of iree_linalg_ext: contractions, windows, packing, scans, sorts."""
import numpy as np

import bounded
import elements
from bounded import Bounded
from cases.case import Case, Raw, argument, forms, generator
from cases.movement import text
from elements import FLOATS, INTEGERS, is_float
from mlir_text import Tensor
from nodes.program import Program


def one(arguments, write, evaluate):
    operands = [(i, 0) for i in range(len(arguments))]
    return Program([*arguments, Raw(operands, write, evaluate)], [(len(arguments), 0)])


def contracted(kind, spec, a, b):
    """An einsum with its bound: any order, partial sums in the type."""
    if not is_float(kind):
        return Bounded(kind, elements.wrap(kind, np.einsum(spec, a, b)))
    v, size = np.einsum(spec, a, b), np.einsum(spec, np.abs(a), np.abs(b))
    terms = a.size and np.einsum(spec, np.ones(a.shape), np.ones(b.shape)).max(initial=0)
    return bounded.finish(kind, v, (terms + 2) * elements.EPS[kind] * size, 1.0)


def onto_zero(f, operation, kind, shape, *operands, attributes="", start=0):
    out = f.fill(kind, shape, start)
    attributes = attributes.replace("{", "{{").replace("}", "}}")  # of a template
    ins = ", ".join(o.name for o in operands), ", ".join(o.type for o in operands)
    return text(f, kind, shape, "{r} = " + f"{operation} {attributes}ins({ins[0]} : {ins[1]}) outs({out.name} : {out.type}) -> " + "{t}")


def contractions(kind, n, dynamic):
    shapes = {"matmul": ((5, n), (n, 7), "ik,kj->ij"), "batch_matmul": ((2, 3, n), (2, n, 4), "bik,bkj->bij"),
              "matvec": ((5, n), (n,), "ik,k->i"), "vecmat": ((n,), (n, 7), "k,kj->j"), "dot": ((n,), (n,), "k,k->"),
              "batch_matvec": ((2, 5, n), (2, n), "bik,bk->bi")}
    for name, (left, right, spec) in shapes.items():
        random = generator(name, kind, n)
        pair = [argument(kind, elements.draw(random, kind, s) / (1 if not is_float(kind) else 4), dynamic) for s in (left, right)]

        def write(f, a, b, name=name, spec=spec):
            size = dict(zip(spec.split(",")[0] + spec.split(",")[1].split("->")[0], list(a.shape) + list(b.shape)))
            return onto_zero(f, "linalg." + name, kind, [size[c] for c in spec.split("->")[1]], a, b)

        def torch(torch, a, b, spec=spec):
            return torch.einsum(spec, a, b)

        yield name, one(pair, write, lambda a, b, spec=spec: contracted(kind, spec, a.v, b.v)), torch


def windows(kind, n, dynamic):
    """Convolutions and pooling over [1, n + 2, 6, 3], windows of 3 x 3, steps of 1 and 2."""
    random = generator("window", kind, n)
    shape, every = (1, n + 2, 6, 3), [False, dynamic, False, False]
    x = argument(kind, elements.draw(random, kind, shape) / (1 if not is_float(kind) else 4), every)
    views = np.lib.stride_tricks.sliding_window_view(x.data, (3, 3), axis=(1, 2))
    for step in (1, 2):
        part = views[:, ::step, ::step]
        out = [1, part.shape[1], part.shape[2]]

        def sizes(f, t, step=step, last=(), out=tuple(out)):
            rows = out[1] if isinstance(t.shape[1], int) else f.index_op(
                "arith.addi", f.index_op("arith.divui", f.index_op("arith.subi", t.shape[1], 3), step), 1)
            return [1, rows, out[2], *last]

        steps = f"{{dilations = dense<1> : vector<2xi64>, strides = dense<{step}> : vector<2xi64>}} "
        for name, spec, filters, last in (("conv_2d_nhwc_hwcf", "nxychw,hwcf->nxyf", (3, 3, 3, 4), (4,)),
                                          ("depthwise_conv_2d_nhwc_hwc", "nxychw,hwc->nxyc", (3, 3, 3), (3,))):
            kernel = argument(kind, elements.draw(random, kind, filters) / (1 if not is_float(kind) else 4))
            yield name, one([x, kernel], lambda f, a, b, name=name, last=last, sizes=sizes, steps=steps: onto_zero(
                f, "linalg." + name, kind, sizes(f, a, last=last), a, b, attributes=steps),
                lambda a, b, spec=spec, part=part: contracted(kind, spec, part, b.v)), None
        for name, function in (("sum", np.sum), ("max", np.max), ("min", np.min)):
            first = 0 if name == "sum" else (-np.inf if name == "max" else np.inf) if is_float(kind) else (
                -(1 << (elements.width(kind) - 1)) if name == "max" else (1 << (elements.width(kind) - 1)) - 1)

            def pooled(a, w, function=function, name=name, part=part):
                v = function(part, axis=(4, 5))
                if not is_float(kind):
                    return Bounded(kind, elements.wrap(kind, v))
                return bounded.finish(kind, v, 11 * elements.EPS[kind] * np.abs(part).sum(axis=(4, 5)) if name == "sum" else 0 * v, 0.0)

            def write(f, a, name=name, first=first, sizes=sizes, steps=steps):
                window = f.empty(kind, [3, 3])
                return onto_zero(f, f"linalg.pooling_nhwc_{name}", kind, sizes(f, a, last=(3,)), a, window, attributes=steps, start=first)

            yield f"pooling_nhwc_{name}", one([x], write, lambda a, pooled=pooled: pooled(a, None)), None


NAMED = {"exp": ("math.exp", 1), "abs": ("math.absf", 1), "ceil": ("math.ceil", 1), "floor": ("math.floor", 1), "negf": ("arith.negf", 1),
         "round": ("math.round", 1), "sqrt": ("math.sqrt", 1), "rsqrt": ("math.rsqrt", 1), "tanh": ("math.tanh", 1), "erf": ("math.erf", 1),
         "add": ("arith.addf", 2), "sub": ("arith.subf", 2), "mul": ("arith.mulf", 2), "div": ("arith.divf", 2), "max": ("arith.maximumf", 2),
         "min": ("arith.minimumf", 2)}


def named_elementwise(kind, n, dynamic):
    for name, (operation, count) in NAMED.items():
        random = generator(name, kind, n)
        arrays = [argument(kind, np.abs(elements.draw(random, kind, (n,))) + 0.125 if "sqrt" in name else elements.draw(random, kind, (n,)),
                           dynamic) for _ in range(count)]

        def write(f, *tensors, name=name):
            out = f.empty(kind, tensors[0].shape)
            ins = ", ".join(t.name for t in tensors), ", ".join(t.type for t in tensors)
            return text(f, kind, tensors[0].shape, "{r} = " + f"linalg.{name} ins({ins[0]} : {ins[1]}) outs({out.name} : {out.type}) -> "
                        + "{t}")

        yield "linalg." + name, one(arrays, write, lambda *v, operation=operation: bounded.float_operation(operation, kind, list(v))), None


def packs(kind, n, dynamic):
    if dynamic:
        return
    x = argument(kind, elements.draw(generator("pack", kind, n), kind, (n, 12)))
    rows = -(-n // 8)

    def packed(array):
        filled = np.full((rows * 8, 12), 0, dtype=array.dtype)
        filled[:n] = array
        return filled.reshape(rows, 8, 3, 4).transpose(0, 2, 1, 3)

    def pack(f, a):
        out, zero = f.empty(kind, [rows, 3, 8, 4]), f.constant(kind, 0)
        return text(f, kind, out.shape, "{r} = linalg.pack {0} " + f"padding_value({zero} : {kind}) inner_dims_pos = [0, 1] "
                    f"inner_tiles = [8, 4] into {out.name}" + " : {o[0]} -> {t}", a)

    def unpack(f, a):
        out = f.empty(kind, [n, 12])
        return text(f, kind, out.shape, "{r} = linalg.unpack {0} inner_dims_pos = [0, 1] inner_tiles = [8, 4] into " + out.name +
                    " : {o[0]} -> {t}", a)

    yield "linalg.pack", one([x], pack, lambda a: a.move(packed)), None
    yield "linalg.unpack", one([argument(kind, packed(x.data))], unpack, lambda a: Bounded(kind, x.data)), None


def extensions(kind, n, dynamic):
    """iree_linalg_ext: scan, top-k, sort."""
    x = argument(kind, elements.draw(generator("ext", kind, n), kind, (3, n)), dynamic)
    add = "arith.addf" if is_float(kind) else "arith.addi"

    def ext(f, head, outs, region, results):
        name = f.fresh()
        f.line(f"{name}:{len(outs)} = {head} outs({', '.join(t.name for t in outs)} : {', '.join(t.type for t in outs)}) {{"
               if len(outs) > 1 else f"{name} = {head} outs({outs[0].name} : {outs[0].type}) {{")
        for line in region:
            f.line("  " + line if not line.startswith("^") else line)
        f.line(f"}} -> {', '.join(t.type for t in outs)}")
        return Tensor(name + ("#0" if len(outs) > 1 else ""), results.kind, results.shape)

    def scan(f, a):
        out, total = f.empty(kind, a.shape), f.fill(kind, a.shape[:1], 0)
        return ext(f, f"iree_linalg_ext.scan dimension(1) inclusive(true) ins({a.name} : {a.type})", [out, total],
                   [f"^bb0(%s0: {kind}, %s1: {kind}):", f"%s2 = {add} %s0, %s1 : {kind}", f"iree_linalg_ext.yield %s2 : {kind}"], out)

    def summed(a):
        if not is_float(kind):
            return Bounded(kind, elements.wrap(kind, np.cumsum(a.v, axis=1)))
        return bounded.finish(kind, np.cumsum(a.v, axis=1), n * elements.EPS[kind] * np.cumsum(np.abs(a.v), axis=1), 1.0)

    yield "scan", one([x], scan, summed), lambda torch, t: torch.cumsum(t, 1)
    less = f"arith.cmp{'f olt' if is_float(kind) else 'i slt'}"

    def sort(f, a):
        return ext(f, "iree_linalg_ext.sort dimension(1)", [a], [
            f"^bb0(%s0: {kind}, %s1: {kind}):", f"%s2 = {less}, %s0, %s1 : {kind}", "iree_linalg_ext.yield %s2 : i1"], a)

    yield "sort", one([x], sort, lambda a: a.move(lambda array: np.sort(array, axis=1))), None
    if is_float(kind) and n >= 5:
        def top(f, a):
            values, places = f.fill(kind, [3, 5], -np.inf), f.fill("i32", [3, 5], 0)
            return ext(f, f"iree_linalg_ext.topk dimension(1) ins({a.name} : {a.type})", [values, places], [
                f"^bb0(%s0: {kind}, %s1: {kind}):", f"%s2 = arith.cmpf ogt, %s0, %s1 : {kind}", "iree_linalg_ext.yield %s2 : i1"], values)

        yield "topk", one([x], top, lambda a: a.move(lambda array: -np.sort(-array, axis=1)[:, :5])), None


def cases(sizes):
    for kind in FLOATS + INTEGERS:
        for n, dynamic in forms(sizes):
            groups = [contractions, packs, extensions] + ([windows] if n else []) + ([named_elementwise] if is_float(kind) else [])
            for group in groups:
                for name, program, torch in group(kind, n, dynamic):
                    yield Case(name, kind, program, torch if is_float(kind) else None)
