# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The matrix products that are raced, and their programs: result[m, n] = left * right, with or without bias and activation.

layout: which side is transposed in memory. nn: left [m, k], right [k, n]; nt: right [n, k]; tn: left [k, m]; tt: both.
Sums are f32; the result is rounded to the type of the operands once, as in PyTorch. tf32 are f32 whose products may be rounded,
i8 are summed in i32, which is the result. f8 are f8E4M3FN with a scale for each tensor and a bf16 result; f8fast the same, summed by
the tensor cores alone.
"""
import dataclasses
import itertools
import math
import random


@dataclasses.dataclass(frozen=True)
class Product:
    kind: str
    layout: str
    m: int
    n: int
    k: int
    batch: int = 0
    fused: str = ""  # "relu", "gelu" (by erf): + bias, then that; of STEPS as importers write it, each step rounded to the result's type
    unknown: str = ""  # which of m, n and k the program does not know

    def name(self):
        batch = f"{self.batch}x" if self.batch else ""
        return (f"{self.kind}_{self.layout}_{batch}{self.m}x{self.n}x{self.k}" + ("_" + self.fused if self.fused else "")
                + ("_unknown_" + self.unknown if self.unknown else ""))

    def shapes(self):
        left = (self.m, self.k) if self.layout[0] == "n" else (self.k, self.m)
        right = (self.k, self.n) if self.layout[1] == "n" else (self.n, self.k)
        batch = (self.batch,) if self.batch else ()
        scales = [(), ()] if self.is_f8() else []
        return [batch + left, batch + right] + scales + ([(self.n,)] if self.fused else [])

    def is_f8(self):
        return self.kind in ("f8", "f8fast")

    def types(self):
        """Of the operands, of the sums, of the result."""
        return {"tf32": ("f32", "f32", "f32"), "f64": ("f64", "f64", "f64"), "i8": ("i8", "i32", "i32"), "f8": ("f8E4M3FN", "f32", "bf16"),
                "f8fast": ("f8E4M3FN", "f32", "bf16")}.get(self.kind, (self.kind, "f32", self.kind))

    def flags(self):
        return {"tf32": ["--f32-products=tf32"], "f8fast": ["--f8-sums=narrow"]}.get(self.kind, [])

    def operations(self):
        return 2 * max(self.batch, 1) * self.m * self.n * self.k


# From %g to %h.
ACTIVATIONS = {
    "relu": "    %h = arith.maximumf %g, %zero : f32\n",
    "gelu": """    %root = arith.constant 0.70710678118654752 : f32
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %i = arith.mulf %g, %root : f32
    %j = math.erf %i : f32
    %k = arith.addf %j, %one : f32
    %n = arith.mulf %g, %half : f32
    %h = arith.mulf %n, %k : f32
""",
}
# From %g to %h in the result's type, T.
STEPS = {
    "steps_gelu": """    %two = arith.constant 2.0 : T
    %half = arith.constant 0.5 : T
    %one = arith.constant 1.0 : T
    %root = math.sqrt %two : T
    %i = arith.divf %g, %root : T
    %j = math.erf %i : T
    %k = arith.addf %j, %one : T
    %n = arith.mulf %k, %half : T
    %h = arith.mulf %g, %n : T
""",
    "steps_tanh": """    %third = arith.constant 0.044715 : T
    %root = arith.constant 0.79788456 : T
    %half = arith.constant 0.5 : T
    %one = arith.constant 1.0 : T
    %i = arith.mulf %g, %g : T
    %j = arith.mulf %i, %g : T
    %k = arith.mulf %j, %third : T
    %l1 = arith.addf %g, %k : T
    %l2 = arith.mulf %l1, %root : T
    %l3 = math.tanh %l2 : T
    %l4 = arith.addf %l3, %one : T
    %l5 = arith.mulf %g, %half : T
    %h = arith.mulf %l5, %l4 : T
""",
    "steps_silu": """    %one = arith.constant 1.0 : T
    %i = arith.negf %g : T
    %j = math.exp %i : T
    %k = arith.addf %j, %one : T
    %n = arith.divf %one, %k : T
    %h = arith.mulf %g, %n : T
""",
}


def drawn(count, seed):
    """Shapes that nothing was tuned to: up to 300 rows, other sizes spread evenly by their logarithms, whole multiples or not."""
    draw, found = random.Random(seed), []

    def size(low, high, step):
        return max(step, int(math.exp(draw.uniform(math.log(low), math.log(high)))) // step * step)
    kinds = ("bf16", "bf16", "f16", "f32", "f8", "i8", "tf32")
    for number in range(count):
        kind = kinds[number % len(kinds)]
        is_bytes = kind in ("f8", "i8")
        layout = "nt" if is_bytes else draw.choice(["nn", "nt", "tn", "tt"])
        step = 16 if is_bytes else draw.choice([1, 8, 8, 64, 64])
        rows = max(draw.randint(1, 300), 17 if kind == "i8" else 1)
        if layout[0] == "t" and step > 1:
            rows = max(8, rows // 8 * 8)
        found.append(Product(kind, layout, rows, size(256, 16384, step), size(128, 12000, step)))
    return found


def spread(kind, count, seed):
    """Few rows, few columns and neither; sizes that are odd, multiples of 8 or of 64; all orders; every sixth program does not know one
    of its sizes."""
    draw, found = random.Random(f"{kind} {seed}"), []
    most = 4e9 if kind == "f64" else 3e10

    def size(low, high, step):
        return max(step, int(math.exp(draw.uniform(math.log(low), math.log(high)))) // step * step)
    while len(found) < count:
        is_bytes = kind in ("f8", "i8")
        layout = "nt" if is_bytes else draw.choice(["nn", "nt", "tn", "tt"])
        step = 16 if is_bytes else draw.choice([1, 1, 8, 8, 64])
        m, n = draw.choice([(size(1, 300, 1), size(200, 16384, step)), (size(200, 16384, step), size(1, 300, step)),
                            (size(64, 4096, step), size(64, 4096, step))])
        if layout[0] == "t" and step > 1:
            m = max(8, m // 8 * 8)
        if kind == "i8" and m < 17:
            continue
        k = size(64, 12000, step)
        unknown = draw.choice("mmnk") if len(found) % 6 == 5 else ""
        if float(m) * n * k <= most and max(m * k, k * n, m * n) <= 6e7:
            found.append(Product(kind, layout, m, n, k, unknown=unknown))
    return found


SETS = {
    "squares": [Product(kind, layout, n, n, n) for kind in ("bf16", "f16", "f32") for layout in ("nn", "nt")
                for n in (128, 256, 512, 1024, 2048, 4096, 8192) if kind != "f32" or n < 8192],
    "first": [Product(kind, layout, n, n, n) for kind in ("bf16", "f32") for layout in ("nn", "nt") for n in (512, 1024, 2048, 4096)]
             + [Product("bf16", "nt", 8192, 8192, 8192), Product("bf16", "nn", 4096, 4096, 4096, fused="relu")],
    "layouts": [Product(kind, layout, 2048, 3072, 1024) for kind in ("bf16", "f16", "f32") for layout in ("nn", "nt", "tn", "tt")],
    "ragged": [Product(kind, "nt", *s) for kind in ("bf16", "f32") for s in ((4095, 4097, 4096), (1000, 3000, 7000), (4097, 4096, 4095))],
    "models": [Product("bf16", "nt", m, n, k) for m, (n, k) in itertools.product(
        (1, 16, 64, 256, 1024, 4096), ((6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336)))],
    "batched": [Product(kind, layout, 512, 512, 64, batch=96) for kind in ("bf16", "f32") for layout in ("nn", "nt")],
    "fused": [Product("bf16", "nt", m, 4096, 4096, fused=fused) for fused in ("relu", "gelu") for m in (256, 1024, 4096)],
    "types": [Product(kind, layout, *s) for kind in ("tf32", "i8") for layout in ("nn", "nt")
              for s in ((1024,) * 3, (4096,) * 3, (8192,) * 3, (256, 4096, 4096))],
    "few": [Product("bf16", "nt", m, n, k) for m in (17, 32, 64, 128) for n, k in ((6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336))],
    # Llama-3-70B, and others whose last round of tiles leaves many multiprocessors without one.
    "rounds": [Product("bf16", "nt", m, n, k) for m, (n, k) in itertools.product(
        (256, 512, 1024, 2048), ((10240, 8192), (8192, 8192), (57344, 8192), (8192, 28672)))]
              + [Product(kind, "nt", m, 10240, 8192) for kind in ("f16", "tf32", "f8", "i8") for m in (512, 1024)]
              + [Product("bf16", layout, 1024, 10240, 8192) for layout in ("nn", "tn", "tt")]
              + [Product("bf16", "nt", m, 10240, 8192, fused=fused) for m in (512, 1024) for fused in ("relu", "gelu")],
    "f64": [Product("f64", layout, n, n, n) for layout in ("nn", "nt", "tn", "tt") for n in (512, 1024, 2048, 4096)]
           + [Product("f64", layout, 8192, 8192, 8192) for layout in ("nn", "nt")]
           + [Product("f64", layout, *s) for layout in ("nn", "nt", "tn", "tt")
              for s in ((513, 1000, 1024), (1437, 2001, 1235), (64, 4096, 4096), (200, 3001, 4097))]
           + [Product("f64", layout, 512, 512, 64, batch=96) for layout in ("nn", "nt")]
           + [Product("f64", "nn", *s) for s in ((17, 4096, 4096), (32, 2048, 8192), (4095, 4097, 4096), (300, 300, 20000), (130, 66, 100))],
    "f8": [Product(kind, "nt", *s) for kind in ("f8", "f8fast") for s in (
        *((n, n, n) for n in (1024, 2048, 4096, 8192)),
        *((m, n, k) for m in (16, 64, 256, 1024, 4096) for n, k in ((6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336))))],
}
SETS["random"] = drawn(49, 5)
SETS["closing"] = drawn(42, 29)
# Last tiles that have few of their rows or columns, and rows that are not aligned.
SETS["uneven"] = [Product("bf16", "nt", m, n, k) for m in (70, 130, 200, 263, 300, 1000) for n, k in ((4096, 4096), (6144, 4096), (28672, 4096))] + [
    *(Product("f32", "nt", *s) for s in ((96, 4096, 4096), (256, 4096, 4096), (1000, 3000, 7000), (4095, 4097, 4096))),
    *(Product("bf16", "nt", *s) for s in ((128, 512, 1025), (100, 300, 700), (1030, 10240, 8192))),
    *(Product(kind, "nt", 200, 6144, 4096) for kind in ("tf32", "i8", "f8")),
    *(Product("bf16", layout, 264, 3240, 8272) for layout in ("nn", "tn", "tt"))]
SETS["spread"] = [case for kind, count in (("bf16", 40), ("f16", 40), ("tf32", 40), ("f32", 40), ("f64", 40), ("f8", 16), ("i8", 16))
                  for case in spread(kind, count, 1)]
# What was slowest beside cuBLAS in earlier runs.
SETS["misses"] = [Product(kind, layout, *s) for kind, layout, s in (
    ("bf16", "nn", (21, 6033, 517)), ("tf32", "nn", (37, 201, 2047)), ("tf32", "tn", (8, 1544, 10872)), ("bf16", "tt", (104, 440, 3544)),
    ("f16", "nt", (77, 4480, 4880)), ("bf16", "nn", (263, 3240, 8272)), ("bf16", "nt", (263, 3240, 8272)), ("f32", "nn", (38, 15488, 4792)),
    ("f32", "nt", (126, 12228, 9223)), ("f32", "tt", (208, 3440, 880)), ("f64", "nn", (17, 4096, 4096)), ("f64", "nn", (32, 2048, 8192)),
    ("f64", "nn", (512, 512, 512)), ("bf16", "nn", (128, 128, 128)), ("bf16", "tt", (120, 7632, 968)), ("bf16", "tt", (48, 5312, 7232)),
    ("bf16", "tt", (72, 5824, 3968)), ("f16", "nn", (211, 864, 7160)), ("f16", "tt", (104, 3968, 3592)), ("tf32", "nn", (55, 3640, 5816)),
    ("tf32", "nn", (8, 4096, 4096)), ("tf32", "nt", (7, 1032, 16384)), ("tf32", "nt", (5, 4096, 4096)), ("bf16", "tn", (264, 3240, 8272)),
    ("bf16", "nn", (102, 12768, 8000)), ("f8", "nt", (145, 12512, 2544)), ("f8", "nt", (155, 3424, 4304)))]
# Of sizes that the program does not know: those above, each one of three sizes and all of them; and tokens of which there may be any number.
SETS["unknown"] = [case for case in SETS["spread"] if case.unknown] + [
    Product(kind, "nt", *s, unknown=unknown) for kind in ("bf16", "f32", "f64") for unknown in ("m", "n", "k", "mnk") for s in ((96, 1024, 4096), (1000, 1400, 900))]
SETS["tokens"] = [Product(kind, "nt", m, n, k, unknown="m", fused=fused) for kind, n, k, fused, rows in (
    ("bf16", 4096, 4096, "", (1, 4, 8, 16, 32, 33, 48, 64, 65, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768, 1024, 1536, 2048, 3072, 4096, 8192)),
    ("bf16", 6144, 4096, "", (33, 64, 96, 128, 192, 256, 320, 512, 1024, 2048, 8192)),
    ("bf16", 28672, 4096, "", (16, 33, 64, 96, 128, 192, 256, 512, 1024, 4096)),
    ("bf16", 4096, 14336, "", (16, 33, 64, 96, 128, 192, 256, 512, 1024, 4096)),
    ("bf16", 4096, 4096, "gelu", (33, 64, 128, 256, 512, 1024, 4096)),
    ("f8", 4096, 4096, "", (33, 64, 128, 256, 512, 1024, 4096)),
    ("f32", 4096, 4096, "", (1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048))) for m in rows]
# What exporters leave unknown (tokens, a batch, a length) beside rows that are known not to be aligned (odd vocabularies, channels), and
# each with all sizes known: what a program loses that has to be right for every size.
SETS["exports"] = [Product(kind, layout, m, n, k, batch, fused, unknown) for kind, layout, m, n, k, batch, fused, sizes in (
    *(("bf16", "nn", m, 50257, 768, 0, "", "m") for m in (8, 64, 512)),
    *(("bf16", "nt", m, 50257, 768, 0, "", "m") for m in (64, 512)),
    *(("bf16", layout, m, 1000, 1283, 0, "", "m") for layout in ("nt", "nn") for m in (33, 96, 300, 2000)),
    *(("f16", "nn", m, 1001, 515, 0, "", "m") for m in (48, 256, 2000)),
    *(("bf16", "nt", m, 3001, 765, 0, "gelu", "m") for m in (64, 512, 4096)),
    *(("f32", "nn", m, 1001, 515, 0, "", "m") for m in (33, 300, 2000)),
    *(("f32", "nt", m, 1000, 1283, 0, "", "m") for m in (33, 300, 2000)),
    *(("tf32", "nt", m, 1000, 1283, 0, "", "m") for m in (33, 300, 2000)),
    *(("tf32", "nn", m, 1001, 515, 0, "", "m") for m in (96, 2000)),
    *((kind, "tn", 768, 3072, k, 0, "", "k") for kind in ("bf16", "f32", "tf32") for k in (77, 1000, 4099)),
    *((kind, "tn", 301, 515, k, 0, "", "k") for kind in ("bf16", "f32") for k in (1000, 16385)),
    *((kind, "nt", 197, 197, 64, 96, "", "mn") for kind in ("bf16", "f32")),
    *((kind, "nn", 197, 64, 197, 96, "", "mk") for kind in ("bf16", "f32")),
    *(("bf16", "nt", m, 1000, 1283, 0, "", "mnk") for m in (96, 2000))) for unknown in ("", sizes)]
# Rows that are aligned, and of which the program knows nothing; and long sums of rows that are not.
SETS["starts"] = [Product(kind, layout, m, n, k, unknown=unknown) for kind, layout, m, n, k, unknown in (
    ("bf16", "nt", 96, 1024, 4096, "mnk"), ("bf16", "nt", 1000, 1400, 904, "mnk"), ("f16", "nn", 256, 1024, 512, "mnk"), ("bf16", "nt", 2048, 2048, 2048, "mnk"),
    ("tf32", "nt", 512, 1024, 1024, "mnk"), ("bf16", "nt", 1024, 1408, 8001, "m"), ("bf16", "nt", 512, 8448, 2001, "m"), ("bf16", "nn", 1024, 1409, 8000, "m"),
    ("tf32", "nt", 1024, 1408, 4001, "m"))]
# What is behind the product takes long: models' shapes (ViT, Mixer, BERT, GPT-2), and larger ones.
SETS["heavy"] = [Product("bf16", "nt", *s, fused=fused) for s in ((6304, 3072, 768), (6272, 3072, 768), (4096, 3072, 768), (1024, 3072, 768), (8192, 4096, 1024),
                                                                  (4096, 4096, 4096)) for fused in ("", "gelu", *STEPS)]
# For `mma.sync`, programs of sm_80: its types, large and small, in whole tiles and not; and those of sm_89, which multiplies f8.
SETS["mma"] = ([Product(kind, layout, n, n, n) for kind, layouts in (("bf16", ("nn", "nt")), ("f16", ("nn",)), ("tf32", ("nn", "nt")), ("i8", ("nt",)), ("f64", ("nn",)))
                for layout in layouts for n in (1024, 2048, 4096, 8192)
                if kind != "f64" or n < 8192]
               + [Product("bf16", "nt", m, n, k) for m in (16, 64, 256, 1024, 4096) for n, k in ((6144, 4096), (4096, 14336))]
               + [Product("bf16", layout, 2048, 3072, 1024) for layout in ("tn", "tt")]
               + [Product("bf16", "nt", *s) for s in ((1000, 3000, 7000), (4095, 4097, 4096), (333, 777, 1000))]
               + [Product("bf16", layout, 512, 512, 64, batch=96) for layout in ("nn", "nt")]
               + [Product("bf16", "nt", 4096, 4096, 4096, fused="gelu")]
               + [Product(kind, "nt", 256, 4096, 4096) for kind in ("f16", "tf32", "i8", "f64")])
SETS["mma_f8"] = [Product("f8", "nt", *s) for s in (*((n, n, n) for n in (1024, 2048, 4096, 8192)), (256, 4096, 4096))]
SETS["full"] = list(dict.fromkeys(itertools.chain.from_iterable(SETS.values())))


def program(case):
    element, total, result = case.types()
    letters = [{"n": "mk", "t": "km"}[case.layout[0]], {"n": "kn", "t": "nk"}[case.layout[1]], "mn"]
    batch = "b" if case.batch else ""
    loops = batch + "mnk"

    def affine(indices, over):
        return f"affine_map<({', '.join(over)}) -> ({', '.join(indices)})>"

    def tensor(of, kind):
        return f"tensor<{'x'.join(['?' if each in case.unknown else str(sizes[each]) for each in of] + [kind])}>"

    sizes = {"b": case.batch, "m": case.m, "n": case.n, "k": case.k}
    sides = [tensor(batch + each, element) for each in letters[:2]]
    sums, out = tensor(batch + "mn", total), tensor(batch + "mn", result)
    # Sizes of the result that are not known, from the operands.
    unknown = [(each, side, (batch + of).index(each)) for each, side, of in (("m", 0, letters[0]), ("n", 1, letters[1])) if each in case.unknown]
    dimensions = "".join(f"  %i{each} = arith.constant {at} : index\n  %d{each} = tensor.dim {'%l' if side == 0 else '%r'}, %i{each} : {sides[side]}\n"
                         for each, side, at in unknown)
    given_sizes = ", ".join(f"%d{each}" for each, _, _ in unknown)
    maps = ", ".join(affine(batch + each, loops) for each in letters)
    kinds = ", ".join(['"parallel"'] * (len(loops) - 1) + ['"reduction"'])
    multiply, add, widen, zero = ("muli", "addi", "extsi", "0") if total == "i32" else ("mulf", "addf", "extf", "0.0")
    extend = "" if element == total else f"%x = arith.{widen} %a : {element} to {total}\n    %y = arith.{widen} %b : {element} to {total}\n    "
    names = ("%a", "%b") if element == total else ("%x", "%y")
    arguments = f"%l: {sides[0]}, %r: {sides[1]}" + (", %sl: tensor<f32>, %sr: tensor<f32>" if case.is_f8() else "")
    arguments += f", %c: {tensor('n', result)}" if case.fused else ""
    text = f"""func.func @run({arguments}) -> {out} {{
  %zero = arith.constant {zero} : {total}
{dimensions}  %e = tensor.empty({given_sizes}) : {sums}
  %f = linalg.fill ins(%zero : {total}) outs(%e : {sums}) -> {sums}
  %p = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins(%l, %r : {sides[0]}, {sides[1]}) outs(%f : {sums}) {{
  ^bb0(%a: {element}, %b: {element}, %s: {total}):
    {extend}%m = arith.{multiply} {names[0]}, {names[1]} : {total}
    %t = arith.{add} %s, %m : {total}
    linalg.yield %t : {total}
  }} -> {sums}
"""
    if result == total and not case.fused:
        return text + f"  return %p : {sums}\n}}\n"
    over = batch + "mn"
    extra = [("%sl", "", "f32", "%wl"), ("%sr", "", "f32", "%wr")] if case.is_f8() else []
    extra += [("%c", "n", result, "%w")] if case.fused else []
    extra_types = [tensor(of, each) for _, of, each, _ in extra]
    maps = ", ".join([affine(over, over)] + [affine(letters, over) for _, letters, _, _ in extra] + [affine(over, over)])
    kinds = ", ".join(['"parallel"'] * len(over))
    body, last = "", "%v"
    if case.is_f8():
        body += "    %va = arith.mulf %v, %wl : f32\n    %vb = arith.mulf %va, %wr : f32\n"
        last = "%vb"
    if case.fused in STEPS:
        body += f"    %d = arith.truncf {last} : f32 to {result}\n    %g = arith.addf %d, %w : {result}\n" + STEPS[case.fused].replace(": T", ": " + result)
        last = "%h"
    elif case.fused:
        body += f"    %d = arith.extf %w : {result} to f32\n    %g = arith.addf {last}, %d : f32\n" + ACTIVATIONS[case.fused]
        last = "%h"
    if result != total and case.fused not in STEPS:
        body += f"    %o = arith.truncf {last} : f32 to {result}\n"
        last = "%o"
    inputs = ", ".join(["%p", *(name for name, _, _, _ in extra)]) + " : " + ", ".join([sums, *extra_types])
    given = ", ".join(["%v: f32", *(f"{value}: {each}" for _, _, each, value in extra), f"%u: {result}"])
    return text + f"""  %q = tensor.empty({given_sizes}) : {out}
  %z = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins({inputs}) outs(%q : {out}) {{
  ^bb0({given}):
{body}    linalg.yield {last} : {result}
  }} -> {out}
  return %z : {out}
}}
"""
