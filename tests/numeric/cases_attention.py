# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in the forms that programs have it in: orders of dimensions, scales, ways to say softmax, masks and biases, on ragged
lengths and numbers that are hard for a softmax computed block by block. NumPy computes the plain form in float64."""
import itertools
import math

import numpy as np

import bounded
import elements
from cases import Case, Raw, argument, generator
from elements import EPS
from movement_nodes import Broadcast
from program import Program

# Dimensions of queries, keys, values, scores and result. b, h: the batch; g: heads that share their keys.
LAYOUTS = {
    "bmd": ("bmd", "bnd", "bne", "bmn", "bme"),
    "transposed keys": ("bmd", "bdn", "bne", "bmn", "bme"),
    "bhmd": ("bhmd", "bhnd", "bhne", "bhmn", "bhme"),
    "bmhd": ("bmhd", "bnhd", "bnhe", "bhmn", "bmhe"),
    "grouped": ("bhgmd", "bhnd", "bhne", "bhgmn", "bhgme"),
    "one head of keys": ("bhmd", "bnd", "bne", "bhmn", "bhme"),
    "everything turned": ("bdm", "bdn", "ben", "bnm", "bem"),
    "flat": ("bhmd", "bhnd", "bhne", "bhmn", "bhme"),
    "repeated": ("bhgmd", "bhnd", "bhne", "bhgmn", "bhgme"),
    "repeated flat": ("bhgmd", "bhnd", "bhne", "bhgmn", "bhgme"),
    # For cases_attention_documents.py, cases_attention_shared.py and cases_attention_packed.py, and for batches in the middle.
    "packed grouped": ("bmhgd", "bnhd", "bnhe", "bhgmn", "bmhge"),
    "middle": ("mbhd", "nbhd", "nbhe", "bhmn", "mbhe"),
    "packed": ("mhd", "nhd", "nhe", "hmn", "mhe"),
    "keys of all heads": ("bhmd", "bnd", "bhne", "bhmn", "bhme"),
    "values of all heads": ("bhmd", "bhnd", "bne", "bhmn", "bhme"),
}
BATCHED = list(LAYOUTS)[:-5]
# flat: products in three dimensions, heads being part of the batch. repeated: keys are copied for each head that shares them.
SCALES = ("multiplied", "divided", "queries before", "none")
SOFTMAXES = ("operation", "steps", "reciprocal", "behind", "kept dimensions", "powers of two", "scaled powers of two")
MASKS = ("none", "causal", "causal, large", "causal, added", "window", "window, large", "bias", "chosen", "chosen, large", "lengths", "soft cap", "shifted causal", "causal and chosen")
GUARDED = ("guarded", "guarded behind")  # where all keys of a query are hidden, the result is 0
AWAY = {"causal, added large": -1e30, "late, added large": -1e30, "causal, large": -1e30, "window, large": -1e30, "chosen, large": -1e30}  # what hides a key, where it is not -inf
INPUTS = ("plain", "dominating key", "growing keys", "times 8", "constant rows", "large")


def indices(spec, loops):
    return [loops.index(c) for c in spec]


class Writer:
    """One attention as MLIR."""

    def __init__(self, f, layout, operand, scale, softmax, mask, size):
        self.f, self.specs, self.operand, self.how = f, LAYOUTS[layout], operand, (scale, softmax, mask)
        self.is_flat, self.is_repeated = "flat" in layout, "repeated" in layout
        self.kind = "f64" if operand == "f64" else "f32"
        self.factor = size["d"] ** -0.5

    def shape(self, spec):
        return [self.size[c] for c in spec]

    def reshaped(self, x, operation, shape, groups):
        f, result = self.f, type(x)(self.f.fresh(), x.kind, shape)
        sizes = f" output_shape [{', '.join(map(str, shape))}]" if operation == "expand_shape" else ""
        f.line(f"{result.name} = tensor.{operation} {x.name} {groups}{sizes} : {x.type} into {result.type}")
        return result

    def product(self, a, b, of_a, of_b, out):
        if self.is_repeated and "g" not in of_b:
            wide = of_b.replace("h", "hg")
            b, of_b = self.each(wide, lambda x: x, (b, of_b), kind=b.kind), wide
        if not self.is_flat:
            return self.plain_product(a, b, of_a, of_b, out)
        batch = len(out) - 2
        groups = [list(range(batch)), [batch], [batch + 1]]
        flat = [self.reshaped(x, "collapse_shape", [int(np.prod(x.shape[:batch])), *x.shape[batch:]], groups) for x in (a, b)]
        self.size["x"] = flat[0].shape[0]
        made = self.plain_product(*flat, *["x" + spec[batch:] for spec in (of_a, of_b, out)])
        return self.reshaped(made, "expand_shape", self.shape(out), groups)

    def plain_product(self, a, b, of_a, of_b, out):
        f = self.f
        loops = out + "".join(sorted(set(of_a + of_b) - set(out)))
        start = f.fill(self.kind, self.shape(out), 0.0)

        def body(x, y, total):
            x, y = f.convert(x, a.kind, self.kind), f.convert(y, b.kind, self.kind)
            return f.op("arith.addf", self.kind, total, f.op("arith.mulf", self.kind, x, y))

        return f.generic([(a, indices(of_a, loops)), (b, indices(of_b, loops))], [(start, range(len(out)))],
                         "".join("p" if c in out else "r" for c in loops), body)[0]

    def each(self, spec, body, *tensors, kind=None):
        """Elementwise over `spec`; tensors: (tensor, spec), a '1' being a dimension of one."""
        f = self.f
        start = f.empty(kind or self.kind, self.shape(spec))
        inputs = [(t, ["0" if c == "1" else spec.index(c) for c in s]) for t, s in tensors]
        return f.generic(inputs, [(start, range(len(spec)))], "p" * len(spec), lambda *x: body(*x[:-1]))[0]

    def reduced(self, x, spec, kept, operation, start):
        f = self.f
        shape = [1 if c == "1" else self.size[c] for c in kept]
        filled = f.fill(self.kind, shape, start)
        return f.generic([(x, range(len(spec)))], [(filled, ["0" if c == "1" else spec.index(c) for c in kept])],
                         "".join("r" if c == "n" else "p" for c in spec), lambda e, s: f.op(operation, self.kind, s, e))[0]

    def seen(self, spec, mask):
        """A condition on the loops of `spec`, in a body."""
        f = self.f
        m, n = (f.loop_index(spec.index(c)) for c in "mn")

        def compare(predicate, x, y):
            result = f.fresh()
            f.line(f"{result} = arith.cmpi {predicate}, {x}, {y} : index")
            return result

        def more(x, by):
            constant, result = f.fresh(), f.fresh()
            f.line(f"{constant} = arith.constant {by} : index")
            f.line(f"{result} = arith.addi {x}, {constant} : index")
            return result

        if mask.startswith("window"):
            return f.op("arith.andi", "i1", compare("sle", n, m), compare("slt", m, more(n, 20)))
        if mask == "shifted causal":
            return compare("uge", more(m, 3), n)
        if mask.startswith("late"):  # the first rows see no key
            return compare("sge", m, more(n, 5))
        return compare("sge", m, n)

    def logits(self, scores, extra):
        f, kind, spec = self.f, self.kind, self.specs[3]
        scale, _, mask = self.how
        if scale in ("multiplied", "divided"):
            def scaled(x):
                by = f.constant(kind, self.factor if scale == "multiplied" else 1 / self.factor)
                return f.op("arith.mulf" if scale == "multiplied" else "arith.divf", kind, x, by)
            scores = self.each(spec, scaled, (scores, spec))
        if mask in ("causal", "causal, large", "window", "window, large", "shifted causal"):
            def hidden(x):
                return f.select(self.seen(spec, mask), kind, x, f.constant(kind, AWAY.get(mask, -np.inf)))
            return self.each(spec, hidden, (scores, spec))
        if mask.startswith(("causal, added", "late, added")):
            order = "mn" if spec.index("m") < spec.index("n") else "nm"
            away = AWAY.get(mask, -np.inf)
            added = self.each(order, lambda: f.select(self.seen(order, mask), kind, f.constant(kind, 0.0), f.constant(kind, away)))
            return self.each(spec, lambda x, y: f.op("arith.addf", kind, x, y), (scores, spec), (added, order))
        if mask == "bias":
            return self.each(spec, lambda x, y: f.op("arith.addf", kind, x, f.convert(y, extra.kind, kind)),
                             (scores, spec), (extra, "mn"))
        if mask in ("chosen", "chosen, none", "chosen, large"):
            return self.each(spec, lambda x, y: f.select(y, kind, x, f.constant(kind, AWAY.get(mask, -np.inf))), (scores, spec), (extra, "bmn"))
        if mask == "causal and chosen":
            def both(x, y):
                return f.select(f.op("arith.andi", "i1", self.seen(spec, mask), y), kind, x, f.constant(kind, -np.inf))
            return self.each(spec, both, (scores, spec), (extra, "bmn"))
        if mask == "lengths":
            def inside(x, length):
                result = f.fresh()
                n = f.loop_index(spec.index("n"), "i32")
                f.line(f"{result} = arith.cmpi slt, {n}, {length} : i32")
                return f.select(result, kind, x, f.constant(kind, -np.inf))
            return self.each(spec, inside, (scores, spec), (extra, "b"))
        if mask == "soft cap":
            def capped(x):
                by = f.constant(kind, 5.0)
                return f.op("arith.mulf", kind, f.op("math.tanh", kind, f.op("arith.divf", kind, x, by)), by)
            return self.each(spec, capped, (scores, spec))
        return scores

    def weights(self, logits):
        """Those of the second product, and what divides its result."""
        f, kind, spec = self.f, self.kind, self.specs[3]
        softmax = self.how[1]
        if softmax == "operation":
            start = f.empty(kind, logits.shape)
            result = type(start)(f.fresh(), kind, logits.shape)
            f.line(f"{result.name} = linalg.softmax dimension({spec.index('n')}) ins({logits.name} : {logits.type}) "
                   f"outs({start.name} : {start.type}) -> {start.type}")
            return result, None
        kept = spec.replace("n", "1") if softmax == "kept dimensions" else spec.replace("n", "")
        largest = self.reduced(logits, spec, kept, "arith.maximumf", -np.inf)
        if softmax == "powers of two":  # of the difference, times log2(e)
            powers = self.each(spec, lambda x, y: f.op("math.exp2", kind, f.op("arith.mulf", kind, f.op("arith.subf", kind, x, y), f.constant(kind, math.log2(math.e)))),
                               (logits, spec), (largest, kept))
        elif softmax == "scaled powers of two":  # each of both sides, times log2(e)
            def apart(x, y):
                sides = [f.op("arith.mulf", kind, side, f.constant(kind, math.log2(math.e))) for side in (x, y)]
                return f.op("math.exp2", kind, f.op("arith.subf", kind, *sides))
            powers = self.each(spec, apart, (logits, spec), (largest, kept))
        elif softmax == "steps":
            apart = self.each(spec, lambda x, y: f.op("arith.subf", kind, x, y), (logits, spec), (largest, kept))
            powers = self.each(spec, lambda x: f.op("math.exp", kind, x), (apart, spec))
        elif softmax in GUARDED:
            powers = self.each(spec, lambda x, y: f.op("math.exp", kind, f.op("arith.subf", kind, x, self.guarded(y, -np.inf, 0.0))),
                               (logits, spec), (largest, kept))
        else:
            powers = self.each(spec, lambda x, y: f.op("math.exp", kind, f.op("arith.subf", kind, x, y)),
                               (logits, spec), (largest, kept))
        total = self.reduced(powers, spec, kept, "arith.addf", 0.0)
        self.of_rows = largest, total, kept
        if softmax in ("behind", "guarded behind"):
            return powers, (total, kept)
        if softmax == "reciprocal":
            inverse = self.each(kept, lambda x: f.op("arith.divf", kind, f.constant(kind, 1.0), x), (total, kept))
            return self.each(spec, lambda x, y: f.op("arith.mulf", kind, x, y), (powers, spec), (inverse, kept)), None
        if softmax == "guarded":
            return self.each(spec, lambda x, y: f.op("arith.divf", kind, x, self.guarded(y, 0.0, 1.0)), (powers, spec), (total, kept)), None
        return self.each(spec, lambda x, y: f.op("arith.divf", kind, x, y), (powers, spec), (total, kept)), None

    def guarded(self, x, bad, good):
        """`good` where x is `bad`, else x."""
        f, kind = self.f, self.kind
        is_bad = f.fresh()
        f.line(f"{is_bad} = arith.cmpf oeq, {x}, {f.constant(kind, bad)} : {kind}")
        return f.select(is_bad, kind, f.constant(kind, good), x)

    def write(self, q, k, v, extra=None):
        f = self.f
        of_q, of_k, of_v, of_scores, of_result = self.specs
        self.size = {c: size for t, spec in ((v, of_v), (k, of_k), (q, of_q)) for c, size in zip(spec, t.shape)}
        if self.how[0] == "queries before":
            q = self.each(of_q, lambda x: f.op("arith.mulf", q.kind, x, f.constant(q.kind, self.factor)), (q, of_q), kind=q.kind)
        scores = self.product(q, k, of_q, of_k, of_scores)
        weights, total = self.weights(self.logits(scores, extra))
        if self.operand != self.kind:
            weights = self.each(of_scores, lambda x: f.op("arith.truncf", self.kind, x, to=self.operand), (weights, of_scores),
                                kind=self.operand)
        result = self.product(weights, v, of_scores, of_v, of_result)
        if total:
            divisor = (lambda y: self.guarded(y, 0.0, 1.0)) if self.how[1] in GUARDED else (lambda y: y)
            result = self.each(of_result, lambda x, y: f.op("arith.divf", self.kind, x, divisor(y)), (result, of_result), total)
        if self.operand != self.kind:
            result = self.each(of_result, lambda x: f.op("arith.truncf", self.kind, x, to=self.operand), (result, of_result),
                               kind=self.operand)
        return result


def reference(layout, operand, scale, softmax, mask, q, k, v, extra):
    """The result in float64, and how far a right one may be from it."""
    of_q, of_k, of_v, of_scores, of_result = LAYOUTS[layout]
    factor = q.shape[of_q.index("d")] ** -0.5 if scale != "none" else 1.0
    letters = "bhgmn"
    full = "".join(c for c in letters if c in of_scores)
    scores = np.einsum(f"{of_q},{of_k}->{full}", q, k) * factor
    size = np.einsum(f"{of_q},{of_k}->{full}", np.abs(q), np.abs(k)) * factor
    m, n = np.arange(scores.shape[-2])[:, None], np.arange(scores.shape[-1])[None, :]
    eps = max(EPS["f64"], min(EPS[operand], EPS["f32"]))
    gap = (q.shape[of_q.index("d")] + 4) * eps * size + (EPS[operand] * size if scale == "queries before" else 0)
    hidden = np.zeros((1, 1), bool)
    away = -np.inf
    if mask in ("causal", "causal, large", "causal, added", "causal, added large"):
        hidden, away = n > m, AWAY.get(mask, -np.inf)
    elif mask == "shifted causal":
        hidden = n > m + 3
    elif mask.startswith("late"):
        hidden, away = n + 5 > m, AWAY.get(mask, -np.inf)
    elif mask.startswith("window"):
        hidden, away = (n > m) | (n + 20 <= m), AWAY.get(mask, -np.inf)
    elif mask == "bias":
        scores = scores + extra
    elif mask in ("chosen", "chosen, none", "chosen, large", "causal and chosen"):
        away = AWAY.get(mask, -np.inf)
        hidden = ~np.asarray(extra, bool).reshape(extra.shape[:1] + (1,) * (scores.ndim - 3) + extra.shape[1:])
        hidden = hidden | (n > m) if mask == "causal and chosen" else hidden
    elif mask == "lengths":
        hidden = n >= np.asarray(extra).reshape((-1,) + (1,) * (scores.ndim - 1))
    elif mask == "soft cap":
        scores = 5 * np.tanh(scores / 5)
    scores = np.where(hidden, away, scores)
    with np.errstate(all="ignore"):
        powers = np.exp(scores - scores.max(-1, keepdims=True, initial=-np.inf))
        weights = powers / powers.sum(-1, keepdims=True)
        if softmax in GUARDED:
            weights = np.where((scores == -np.inf).all(-1, keepdims=True), 0.0, weights)
        result = np.einsum(f"{full},{of_v}->{of_result}", weights, v)
        whole = np.where(hidden, 0, np.abs(scores) * 8 * eps + gap)
        error = 2 * whole.max(-1, keepdims=True, initial=0) + EPS[operand] + (scores.shape[-1] + 16) * eps
        bound = np.einsum(f"{full},{of_v}->{of_result}", weights * error, np.abs(v))
    return result, bound


def drawn(random, layout, operand, size, inputs):
    of_q, of_k, of_v = LAYOUTS[layout][:3]
    shapes = [[size[c] for c in spec] for spec in (of_q, of_k, of_v)]
    q, k, v = (random.uniform(-2, 2, shape) for shape in shapes)
    along = [1] * k.ndim
    along[of_k.index("n")] = size["n"]
    if inputs == "dominating key":
        k = k * np.where(np.arange(size["n"]) == size["n"] * 2 // 3, 6.0, 0.2).reshape(along)
    elif inputs == "growing keys":
        k = np.abs(k) * (0.05 + np.arange(size["n"]) / max(1, size["n"])).reshape(along) * 3
        q = np.abs(q)
    elif inputs == "times 8":
        q = q * 8
    elif inputs == "constant rows":
        q, k = np.ones_like(q), np.ones_like(k)
    elif inputs == "large":  # a naive softmax overflows
        q, k = q * 16, k * 16
    return [elements.rounded(operand, x) for x in (q, k, v)]


def attention(layout, operand, scale, softmax, mask, inputs, lengths, depths, dynamic, many=False, few=False, heads=3, copies=0, together=0):
    """copies: so many of the result; together: of few queries, several groups that may share what a block reads, 2 to 4 with one operand that begins inside of a vector; many: elements of the batch enough that a large device has large tiles; few: queries, as the name of the case says;
    dynamic: which sizes the program does not know, all, none or "n", the keys' number."""
    dynamic = dynamic if "flat" not in layout else False
    size = dict(b=8 if many else 2, h=8 if many else heads, g=2, m=lengths[0], n=lengths[1], d=depths[0], e=depths[1])
    random = generator("attention", layout, operand, scale, softmax, mask, inputs, lengths, depths, many)
    tensors = drawn(random, layout, operand, size, inputs)
    given = [argument(operand, x, [c in dynamic for c in spec] if isinstance(dynamic, str) else dynamic) for x, spec in zip(tensors, LAYOUTS[layout])]
    if together > 1:
        given[together - 2].behind = 1
    if mask == "bias":
        given.append(argument(operand, elements.rounded(operand, random.uniform(-3, 3, (size["m"], size["n"]))), dynamic))
    elif mask in ("chosen", "chosen, none", "chosen, large", "causal and chosen"):
        seen = random.integers(0, 3, (size["b"], size["m"], size["n"])) > 0
        if mask == "chosen, none":
            seen[:, ::3] = False
        if mask == "chosen, large":  # rows whose first keys are all hidden, and one that sees none
            seen &= np.arange(size["n"])[None, None, :] >= (np.arange(size["m"]) % 4 * size["n"] // 4)[None, :, None]
            seen[:, -1] = False
        given.append(argument("i1", seen, dynamic))
    elif mask == "lengths":
        given.append(argument("i32", random.integers(0, size["n"] + 1, size["b"]), dynamic))

    def write(f, *arrays):
        return Writer(f, layout, operand, scale, softmax, mask, size).write(*arrays)

    def evaluate(q, k, v, extra=None):
        result, bound = reference(layout, operand, scale, softmax, mask, q.v, k.v, v.v, None if extra is None else extra.v)
        return bounded.finish(operand, result, bound, 2.0)

    def raw(q, k, v, extra=None):
        return reference(layout, operand, scale, softmax, mask, *[np.asarray(x, np.float64) for x in (q, k, v)], extra)[0]

    nodes = [*given, Raw([(i, 0) for i in range(len(given))], write, evaluate)]
    if copies:
        nodes.append(Broadcast((len(given), 0), [copies] + [size[c] for c in LAYOUTS[layout][4]], [0]))
    program = Program(nodes, [(len(nodes) - 1, 0)])
    name = f"attention {'of many ' if many else 'of few together ' if together else 'of few ' if few else ''}{layout}, {mask}, {softmax}, {inputs}{', repeated' if copies else ''}"
    return Case(name, operand, program, raw=None if copies else raw)


# Whole blocks of keys, ragged ones, one key, one query; depths that are whole, that are not, and ones for which no tensor core is.
LENGTHS = ((1, 1), (31, 31), (64, 64), (70, 130), (129, 64), (1, 257), (200, 33), (64, 80))
DEPTHS = ((64, 64), (128, 128), (32, 32), (40, 72), (192, 128), (80, 80), (256, 256), (7, 5))
FEW_LENGTHS = ((33, 70), (1, 1), (65, 31), (1, 129), (70, 64), (64, 80))
FEW_DEPTHS = ((32, 32), (64, 64), (40, 24), (7, 5))


def cases(sizes):
    whole = len(sizes) > 1
    kinds = ("f16", "bf16", "f32", "f64")
    lengths, depths = (LENGTHS, DEPTHS) if whole else (FEW_LENGTHS, FEW_DEPTHS)
    # Every form, with everything else in turn.
    turn = itertools.count()
    for number, (layout, scale, softmax, mask) in enumerate(itertools.product(BATCHED, SCALES, SOFTMAXES, MASKS)):
        if not whole and number % 47 != 0:
            continue
        t = next(turn)
        yield attention(layout, kinds[t % (4 if t % 3 == 0 else 2)], scale, softmax, mask, INPUTS[t % 5 if t % 4 == 0 else 0],
                        lengths[(t * 3) % len(lengths)], depths[t % len(depths)], t % 3 == 1)
    # Large tiles: one, whole blocks of keys, several, ragged ones.
    many = itertools.product(("bhmd", "grouped", "bmhd"), MASKS, ((70, 130), (33, 128), (129, 384), (1, 5), (150, 301)), ((64, 64), (128, 128), (128, 64)))
    for number, (layout, mask, length, depth) in enumerate(many):
        if number % (43 if whole else 111) == 0:
            yield attention(layout, kinds[number % 2], SCALES[number % 4], SOFTMAXES[number % 5], mask, INPUTS[number // 3 % 5], length, depth,
                            number % 7 == 3, many=True)
    # Tiles of 192 queries on sm_90a: consumers that have no rows in one, and those that see fewer blocks of keys than others.
    three = itertools.product(("causal", "none", "window", "lengths", "shifted causal", "causal, large"), ((300, 300), (257, 130), (321, 400)))
    for number, (mask, length) in enumerate(three):
        if whole or number in (0, 4, 7):
            yield attention(("bhmd", "bmhd")[number % 2], kinds[number % 2], "multiplied", "operation", mask, INPUTS[number % 6], length, (64, 64), False, many=True)
    # Large tiles of depths above 128.
    deep = itertools.product(((256, 256), (192, 128), (64, 256)), ("none", "causal", "bias", "window"), ((33, 130), (70, 70), (129, 301)))
    for number, (depth, mask, length) in enumerate(deep):
        if number % 2 == 0 if whole else number in (0, 4, 18):
            yield attention(("bhmd", "grouped", "bmhd")[number % 3], kinds[number % 2], "multiplied", "operation", mask, INPUTS[number // 2 % 6], length,
                            depth, number % 5 == 3, many=True)
    # Batches that are one axis, in the middle of tensors.
    for number, (mask, length, depth) in enumerate((("none", (197, 197), (64, 64)), ("causal", (70, 300), (80, 80)), ("window", (150, 129), (128, 128)), ("bias", (64, 64), (64, 64)))):
        if whole or number < 2:
            yield attention("middle", kinds[number % 2], "multiplied", "operation", mask, INPUTS[number % 6], length, depth, number == 2, many=True)
    # Large tiles of depths that are multiples of eight: less than a tile of 64, or a last one that has some, a single sixteen or half of one.
    eights = itertools.product(((80, 80), (40, 40), (72, 72), (96, 112), (160, 160), (8, 24), (56, 64), (136, 248), (200, 40), (128, 88)),
                               (("none", (70, 130)), ("causal", (260, 129)), ("chosen, large", (150, 301)), ("lengths", (33, 257))))
    for number, (depth, (mask, length)) in enumerate(eights):
        if whole or number % 5 == 0:
            yield attention(("bhmd", "grouped", "bmhd")[number % 3], kinds[number // 4 % 2], "multiplied", SOFTMAXES[number % 5], mask, INPUTS[number % 6], length,
                            depth, (False, "n", True, False)[number % 4], many=True)
    # So few causal tiles that a consumer is alone in its block on sm_90a, and so many that two or three are together.
    alone = itertools.product(("causal", "causal and chosen", "shifted causal", "causal, large", "causal, added"), ((70, 70), (129, 384), (200, 31), (260, 260)), ((64, 64), (128, 80), (40, 64)))
    for number, (mask, length, depth) in enumerate(alone):
        if whole or number % 13 == 0:
            yield attention(("bhmd", "grouped", "bmhd")[number % 3], kinds[number % 2], "multiplied", SOFTMAXES[number % 5], mask, INPUTS[number % 6], length, depth,
                            "n" if number % 4 == 1 else False, many=True)
    # What is added to hide keys, a large number or -inf; rows that see none, of which all keys count alike, or nothing is.
    for number, (mask, length) in enumerate(itertools.product(("causal, added large", "late, added large", "late, added"), ((70, 70), (260, 301), (300, 129)))):
        if whole or number % 3 == 1:
            yield attention(("bhmd", "grouped", "bmhd")[number % 3], kinds[number % 2], "multiplied", "operation", mask, INPUTS[number % 6], length, ((64, 64), (80, 80))[number % 2],
                            False, many=True)
    # Blocks of keys that a finite number hides wholly, in front of others.
    for number, (kind, mask, length) in enumerate(itertools.product(kinds, ("window, large", "chosen, large"), ((200, 200), (70, 300)))):
        if whole or number % 3 == 0:
            yield attention("bmd", kind, "multiplied", "operation", mask, "plain", length, (64, 64), False)
    for number, mask in enumerate(("window, large", "chosen, large")):
        yield attention("bhmd", kinds[number], "multiplied", "steps", mask, "plain", ((200, 200), (64, 300))[number], (64, 64), False, many=True)
    # Few queries: warps and blocks share the keys, some of which have none.
    few = itertools.product(("bhmd", "grouped", "bmhd", "repeated"), MASKS, ((1, 1), (1, 31), (2, 64), (1, 300), (5, 1031), (3, 2048)),
                            ((64, 64), (128, 128), (64, 128), (32, 64)))
    for number, (layout, mask, length, depth) in enumerate(few):
        if number % (13 if whole else 37) == 0:
            yield attention(layout, kinds[number % 2], SCALES[number % 4], SOFTMAXES[number % 7], mask, INPUTS[number // 3 % 6], length, depth,
                            number % 5 == 3, few=True)
    # Many keys, whose blocks leave parts: tiles of 16 queries, and several.
    parts = (("bmd", "none", "plain", (1, 6000), (64, 64), False), ("bmd", "chosen, none", "dominating key", (2, 5401), (64, 128), False),
             ("one head of keys", "causal and chosen", "plain", (11, 6001), (64, 64), False), ("bmd", "lengths", "growing keys", (9, 4097), (128, 64), "n"),
             ("bmd", "bias", "times 8", (17, 3000), (128, 128), False), ("bhmd", "window", "large", (3, 5200), (96, 128), False),
             ("grouped", "chosen, large", "constant rows", (1, 6200), (64, 64), False), ("bmd", "none", "plain", (3, 200), (64, 64), "n"),
             # Two warps that read the same keys; depths and columns that steps are not whole of, or that take more warps.
             ("bmd", "chosen, none", "plain", (71, 1100), (64, 64), False), ("bmd", "none", "dominating key", (1, 1031), (80, 72), False),
             ("bmd", "bias", "plain", (11, 1030), (136, 136), False), ("bmd", "causal", "plain", (128, 1025), (128, 128), False),
             ("bmd", "lengths", "growing keys", (8, 500), (256, 256), "n"), ("one head of keys", "window", "times 8", (16, 2047), (192, 256), False))
    for number, (layout, mask, inputs, length, depth, dynamic) in enumerate(parts):
        if whole or number in (1, 2, 3, 8, 9, 10):
            yield attention(layout, kinds[number % 2], "multiplied", SOFTMAXES[number % 5], mask, inputs, length, depth, dynamic, few=True, heads=2)
    # Keys that groups of queries read from shared memory on sm_90a: steps that are just full, a key more and one less, of one slice of warps alone,
    # and more than there are stages; rows that are whole groups, and not.
    together = ((5, (64, 64)), (8, (128, 128)), (16, (64, 64)), (17, (64, 128)), (32, (128, 64)), (33, (64, 64)), (64, (64, 64)), (71, (80, 72)), (9, (136, 136)),
                (16, (32, 32)), (40, (8, 8)), (32, (128, 128)), (12, (256, 256)))
    keys = (1, 63, 64, 65, 127, 128, 129, 255, 257, 1024, 1152, 1279, 2049)
    for number, ((rows, depth), n) in enumerate(itertools.product(together, keys)):
        if (rows <= 16 or n >= 1024) if whole else number in (29, 32, 62, 74, 125, 139):
            yield attention(("bmd", "one head of keys", "bhmd", "bmd")[number % 4], kinds[number % 2], "multiplied", SOFTMAXES[number % 5], MASKS[number * 5 % len(MASKS)],
                            INPUTS[number % 6], (rows, n), depth, "n" if number % 3 == 0 else False, few=True, heads=1 + number % 2, together=1 + number % 4)
    # Queries that see no key, whose result is 0, in each kernel: few queries, tiles of 64, large ones, no tensor core.
    guarded = itertools.product(kinds, ("chosen, none", "lengths"), GUARDED, (((2, 70), (64, 64), "few"), ((70, 130), (64, 64), ""), ((129, 128), (64, 128), "many"), ((33, 31), (7, 5), "")))
    for number, (kind, mask, softmax, (length, depth, tiles)) in enumerate(guarded):
        if whole or (number % 3 == 0 and not (tiles == "many" and kind in ("f32", "f64"))):
            yield attention(("bhmd", "bmhd", "grouped")[number % 3], kind, "multiplied", softmax, mask, INPUTS[number % 6], length, depth,
                            number % 5 == 3, many=tiles == "many", few=tiles == "few")
    # Results that are copied for another batch, each of which would be stored several times.
    for kind, length, depth, tiles in (("f32", (29, 3), (64, 20), ""), ("f16", (33, 70), (64, 64), ""), ("bf16", (2, 300), (64, 64), "few")):
        yield attention("bmd", kind, "multiplied", "operation", "none", "plain", length, depth, False, few=tiles == "few", copies=3)
    # Lengths and depths of each type, and numbers that are hard.
    for number, (kind, length, depth) in enumerate(itertools.product(kinds, LENGTHS, DEPTHS)):
        if not whole and number % 31 != 0:
            continue
        yield attention("bhmd", kind, "multiplied", "operation", MASKS[number % 2], "plain", length, depth, number % 5 == 0)
    for number, (kind, inputs, mask) in enumerate(itertools.product(kinds, INPUTS, ("none", "causal and chosen", "causal", "window"))):
        if not whole and number % 9 != 0:
            continue
        yield attention("bmd", kind, "multiplied", "operation", mask, inputs, (150, 150) if whole else (65, 130), (64, 64) if whole else (32, 32),
                        False)
