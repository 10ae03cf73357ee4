# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops inside of bodies whose length each element knows for itself: counted, until something holds, along the rows of a
sparse matrix. All numbers are small, so that results are exact in every type."""
import numpy as np

import elements
from bounded import Bounded
from cases.case import Case, Raw, argument, forms, generator
from elements import is_float
from nodes.program import Program

KINDS = ("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64")


def exact(kind, v):
    return Bounded(kind, np.asarray(v), np.zeros(np.shape(v))) if is_float(kind) else Bounded(kind, elements.wrap(kind, np.asarray(v)))


def add(f, kind, a, b):
    return f.op("arith.addf" if is_float(kind) else "arith.addi", kind, a, b)


def counted_loop(f, kind, x, count, start):
    """start + x + x ..., count times, and of each time its number where that is odd: a condition, and a loop in a loop."""
    zero, one = f.constant("i32", 0), f.constant("i32", 1)
    result, turn, sum_, inner, again, more = (f.fresh() for _ in range(6))
    f.line(f"{result} = scf.for {turn} = {zero} to {count} step {one} iter_args({sum_} = {start}) -> ({kind}) : i32 {{")
    f.depth += 1
    first = add(f, kind, sum_, x)
    f.line(f"{inner} = scf.for {again} = {zero} to {turn} step {one} iter_args({more} = {first}) -> ({kind}) : i32 {{")
    f.depth += 1
    odd = f.op("arith.andi", "i32", turn, one)
    isOdd, chosen = f.fresh(), f.fresh()
    f.line(f"{isOdd} = arith.cmpi eq, {odd}, {one} : i32")
    f.line(f"{chosen} = scf.if {isOdd} -> ({kind}) {{")
    f.line(f"  scf.yield {add(f, kind, more, x)} : {kind}")
    f.line("} else {")
    f.line(f"  scf.yield {more} : {kind}")
    f.line("}")
    f.line(f"scf.yield {chosen} : {kind}")
    f.depth -= 1
    f.line("}")
    f.line(f"scf.yield {inner} : {kind}")
    f.depth -= 1
    f.line("}")
    return result


def counted(kind, is_summed):
    def write(f, x, counts):
        def body(element, count, _):
            return counted_loop(f, kind, element, count, element)

        made = f.generic([(x, [0, 1]), (counts, [0])], [(f.empty(kind, x.shape), [0, 1])], "pp", body)[0]
        return [f.reduce(made, [1], "arith.addf" if is_float(kind) else "arith.addi", 0)] if is_summed else [made]

    def evaluate(x, counts):
        times = np.array([1 + n + sum(turn for turn in range(n) if turn % 2) for n in range(5)])[np.clip(counts.v, 0, 4)]
        result = x.v * times.reshape(-1, 1)
        return [exact(kind, result.sum(1) if is_summed else result)]

    return Raw([(0, 0), (1, 0)], write, evaluate)


def halvings(kind):
    """How often an element is halved until it is 1 or less, where that is asked for."""

    def write(f, x, wanted):
        def body(element, isWanted, _):
            condition, result, value, count = (f.fresh() for _ in range(4))
            zero, one, half, unit = f.constant("i32", 0), f.constant("i32", 1), f.constant(kind, 0.5), f.constant(kind, 1.0)
            f.line(f"{condition} = arith.cmpi ne, {isWanted}, {zero} : i32")
            f.line(f"{result} = scf.if {condition} -> (i32) {{")
            loop = f.fresh()
            f.line(f"{loop}:2 = scf.while ({value} = {element}, {count} = {zero}) : ({kind}, i32) -> ({kind}, i32) {{")
            large = f.fresh()
            f.line(f"{large} = arith.cmpf ogt, {value}, {unit} : {kind}")
            f.line(f"scf.condition({large}) {value}, {count} : {kind}, i32")
            f.line("} do {")
            f.line(f"^bb0({value}: {kind}, {count}: i32):")
            f.line(f"scf.yield {f.op('arith.mulf', kind, value, half)}, {f.op('arith.addi', 'i32', count, one)} : {kind}, i32")
            f.line("}")
            f.line(f"scf.yield {loop}#1 : i32")
            f.line("} else {")
            f.line(f"scf.yield {f.constant('i32', -1)} : i32")
            f.line("}")
            return result

        return f.generic([(x, [0]), (wanted, [0])], [(f.empty("i32", x.shape), [0])], "p", body)

    def evaluate(x, wanted):
        count = np.ceil(np.log2(np.maximum(x.v, 1.0))).astype(np.int64)
        return [exact("i32", np.where(wanted.v != 0, count, -1))]

    return Raw([(0, 0), (1, 0)], write, evaluate)


def sparse(kind):
    def write(f, begins, ends, columns, values, x):
        def body(begin, end, _):
            low, high, step, result, at, sum_ = (f.fresh() for _ in range(6))
            f.line(f"{low} = arith.index_cast {begin} : i32 to index")
            f.line(f"{high} = arith.index_cast {end} : i32 to index")
            f.line(f"{step} = arith.constant 1 : index")
            zero = f.constant(kind, 0)
            f.line(f"{result} = scf.for {at} = {low} to {high} step {step} iter_args({sum_} = {zero}) -> ({kind}) {{")
            f.depth += 1
            column = f.fresh()
            f.line(f"{column} = arith.index_cast {f.extract(columns, at)} : i32 to index")
            value, factor = f.extract(values, at), f.extract(x, column)
            product = f.op("arith.mulf" if is_float(kind) else "arith.muli", kind, value, factor)
            f.line(f"scf.yield {add(f, kind, sum_, product)} : {kind}")
            f.depth -= 1
            f.line("}")
            return result

        return f.generic([(begins, [0]), (ends, [0])], [(f.empty(kind, begins.shape), [0])], "p", body)

    def evaluate(begins, ends, columns, values, x):
        products = np.asarray(values.v) * np.asarray(x.v)[columns.v]
        return [exact(kind, [products[b:e].sum() for b, e in zip(begins.v.astype(int), ends.v.astype(int))])]

    return Raw([(i, 0) for i in range(5)], write, evaluate)


def cases(sizes):
    for kind in KINDS if len(sizes) > 1 else ("bf16", "f32", "i8", "i64"):
        for n, dynamic in forms(sizes):
            random = generator("loops in bodies", kind, n)
            x = argument(kind, random.integers(-1, 2, (5, n)), dynamic)
            counts = argument("i32", random.integers(0, 5, 5), dynamic)
            for is_summed in (False, True) if n < 100 and kind != "i8" else (False,):
                yield Case("loop in a body, counted" + ", summed" * is_summed, kind, Program([x, counts, counted(kind, is_summed)], [(2, 0)]))
            if is_float(kind):
                wanted = argument("i32", random.integers(0, 2, n), dynamic)
                halved = argument(kind, 2.0 ** random.integers(-2, 9, n), dynamic)
                yield Case("loop in a body, until", kind, Program([halved, wanted, halvings(kind)], [(2, 0)]))
            if kind not in ("f32", "bf16", "i64"):
                continue
            lengths = random.integers(0, 5, n)
            ends = np.cumsum(lengths)
            entries = max(int(lengths.sum()), 1)
            tensors = [argument("i32", ends - lengths, dynamic), argument("i32", ends, dynamic),
                       argument("i32", random.integers(0, 17, entries), dynamic), argument(kind, random.integers(-2, 3, entries), dynamic),
                       argument(kind, random.integers(-2, 3, 17), dynamic)]
            yield Case("loop in a body, sparse rows", kind, Program([*tensors, sparse(kind)], [(5, 0)]))
