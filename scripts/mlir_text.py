# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor programs as MLIR text: what the tests, the fuzzer of programs and the benchmarks generate their inputs with.

A Function is written from top to bottom. Its tensors have sizes that are numbers or, in the dynamic form, the names of
index values of the program (`?` in their types), so that one description gives both forms of a program:

    f = Function("row_sum", dynamic=True)
    x = f.argument("f32", 16, 4096)
    f.give(f.reduce(x, [1], "arith.addf", 0.0))
    print(f)
"""
import math
import struct

FLOATS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}


def is_float(kind):
    return kind in FLOATS


def width(kind):
    return FLOATS[kind] if is_float(kind) else int(kind[1:])


def float_bits(kind, value):
    """The bits of a float, rounded to nearest even; bf16 through f32, which is exact for what it can hold."""
    if kind == "bf16":
        return struct.unpack("<I", struct.pack("<f", value))[0] >> 16
    code, integer = {"f16": ("e", "H"), "f32": ("f", "I"), "f64": ("d", "Q")}[kind]
    return struct.unpack("<" + integer, struct.pack("<" + code, value))[0]


def literal(kind, value):
    """A scalar as MLIR reads it: floats need a point, and what is not finite is given by its bits."""
    if kind == "i1":
        return "true" if value else "false"
    if not is_float(kind):
        return str(int(value))
    if math.isnan(value) or math.isinf(value):
        return f"0x{float_bits(kind, value):0{width(kind) // 4}X}"
    text = repr(float(value))
    mantissa, _, exponent = text.partition("e")
    mantissa = mantissa if "." in mantissa else mantissa + ".0"
    return mantissa + ("e" + exponent if exponent else "")


class Tensor:
    """name: SSA; shape: of numbers, and of names of index values where a size is known at run time only."""

    def __init__(self, name, kind, shape):
        self.name, self.kind, self.shape = name, kind, tuple(shape)

    @property
    def type(self):
        return "tensor<" + "".join(f"{size if isinstance(size, int) else '?'}x" for size in self.shape) + self.kind + ">"

    def __len__(self):
        return len(self.shape)


class Function:
    def __init__(self, name, dynamic=False):
        self.name, self.dynamic = name, dynamic
        self.arguments, self.lines, self.results = [], [], []
        self.count, self.depth = 0, 1
        self.indices = {}  # index constants, all at the start

    # ---- Names and lines ----

    def fresh(self):
        self.count += 1
        return f"%{self.count}"

    def line(self, text):
        self.lines.append("  " * self.depth + text)

    def index(self, value):
        """An index constant."""
        if value not in self.indices:
            self.indices[value] = f"%c{value}" if value >= 0 else f"%cm{-value}"
        return self.indices[value]

    def size(self, size):
        """A size as an index value."""
        return self.index(size) if isinstance(size, int) else size

    # ---- Arguments and results ----

    def argument(self, kind, *shape, dynamic=None):
        """A tensor argument. In the dynamic form every size is unknown, or those where `dynamic` is true."""
        name = f"%a{len(self.arguments)}"
        unknown = dynamic if dynamic is not None else [self.dynamic] * len(shape)
        given = Tensor(name, kind, [f"%{name[1:]}_d{i}" if u else n for i, (n, u) in enumerate(zip(shape, unknown))])
        self.arguments.append(f"{name}: {given.type}")
        for i, size in enumerate(given.shape):
            if not isinstance(size, int):
                self.line(f"{size} = tensor.dim {name}, {self.index(i)} : {given.type}")
        return given

    def scalar_argument(self, kind):
        name = f"%a{len(self.arguments)}"
        self.arguments.append(f"{name}: {kind}")
        return name

    def give(self, *tensors):
        self.results = [(t.name, t.type) for t in tensors]

    def __str__(self):
        types = ", ".join(kind for _, kind in self.results)
        head = f"func.func @{self.name}({', '.join(self.arguments)})" + (f" -> ({types})" if types else "") + " {"
        constants = [f"  {name} = arith.constant {value} : index" for value, name in sorted(self.indices.items())]
        names = ", ".join(name for name, _ in self.results)
        end = f"  return {names} : {types}" if types else "  return"
        return "\n".join([head] + constants + self.lines + [end, "}"]) + "\n"

    # ---- Scalars, in bodies and outside ----

    def op(self, name, kind, *operands, to=None):
        """`name` on operands of one type; `to`: the other type, of a conversion or a comparison's operands."""
        result = self.fresh()
        types = f"{kind} to {to}" if to else kind
        self.line(f"{result} = {name} {', '.join(operands)} : {types}")
        return result

    def constant(self, kind, value):
        result = self.fresh()
        typed = "" if kind == "i1" else f" : {kind}"  # true and false say it themselves
        self.line(f"{result} = arith.constant {literal(kind, value)}{typed}")
        return result

    def select(self, condition, kind, yes, no):
        result = self.fresh()
        self.line(f"{result} = arith.select {condition}, {yes}, {no} : {kind}")
        return result

    def convert(self, value, kind, to):
        """Between float types, or between signed integer types, or between both."""
        if kind == to:
            return value
        if is_float(kind) and is_float(to):
            if width(kind) == width(to):  # f16 and bf16
                return self.convert(self.op("arith.extf", kind, value, to="f32"), "f32", to)
            return self.op("arith.extf" if width(kind) < width(to) else "arith.truncf", kind, value, to=to)
        if is_float(to):
            return self.op("arith.uitofp" if kind == "i1" else "arith.sitofp", kind, value, to=to)
        if is_float(kind):
            return self.op("arith.fptosi", kind, value, to=to)
        if width(kind) > width(to):
            return self.op("arith.trunci", kind, value, to=to)
        return self.op("arith.extui" if kind == "i1" else "arith.extsi", kind, value, to=to)

    def loop_index(self, dimension, kind="index"):
        result = self.fresh()
        self.line(f"{result} = linalg.index {dimension} : index")
        return result if kind == "index" else self.op("arith.index_cast", "index", result, to=kind)

    def index_op(self, name, *operands):
        """arith on index values; numbers become constants."""
        return self.op(name, "index", *[self.index(x) if isinstance(x, int) else x for x in operands])

    def add_sizes(self, a, b):
        return a + b if isinstance(a, int) and isinstance(b, int) else self.index_op("arith.addi", a, b)

    def multiply_sizes(self, a, b):
        return a * b if isinstance(a, int) and isinstance(b, int) else self.index_op("arith.muli", a, b)

    # ---- Tensors ----

    def empty(self, kind, shape):
        result = Tensor(self.fresh(), kind, shape)
        unknown = ", ".join(size for size in shape if not isinstance(size, int))
        self.line(f"{result.name} = tensor.empty({unknown}) : {result.type}")
        return result

    def fill(self, kind, shape, value):
        """value: a number, or the name of a scalar."""
        scalar = value if isinstance(value, str) else self.constant(kind, value)
        empty = self.empty(kind, shape)
        result = Tensor(self.fresh(), kind, shape)
        self.line(f"{result.name} = linalg.fill ins({scalar} : {kind}) outs({empty.name} : {empty.type}) -> {empty.type}")
        return result

    def tensor_op(self, name, *tensors, kind=None, attributes=""):
        """An elementwise operation on whole tensors, such as arith.addf; `kind`: of the result of a conversion."""
        first = tensors[0]
        result = Tensor(self.fresh(), kind or first.kind, first.shape)
        types = f"{first.type} to {result.type}" if kind else first.type
        self.line(f"{result.name} = {name} {attributes}{', '.join(t.name for t in tensors)} : {types}")
        return result

    def linalg_map(self, name, *tensors):
        """linalg.map of one operation, whose result has the type of its operands."""
        empty = self.empty(tensors[0].kind, tensors[0].shape)
        result = Tensor(self.fresh(), empty.kind, empty.shape)
        self.line(f"{result.name} = linalg.map {{ {name} }} ins({', '.join(t.name for t in tensors)} : "
                  f"{', '.join(t.type for t in tensors)}) outs({empty.name} : {empty.type})")
        return result

    def generic(self, inputs, outputs, loops, body):
        """linalg.generic. inputs, outputs: (tensor, indices), where an index is a loop's number or affine text; loops: 'p'
        and 'r', outermost first; body(*scalars): the names of what is yielded. Gives a tensor per output."""
        dimensions = ", ".join(f"d{i}" for i in range(len(loops)))
        maps = []
        for _, indices in list(inputs) + list(outputs):
            text = ", ".join(f"d{i}" if isinstance(i, int) else i for i in indices)
            maps.append(f"affine_map<({dimensions}) -> ({text})>")
        kinds = ", ".join('"parallel"' if loop == "p" else '"reduction"' for loop in loops)
        results = [Tensor(self.fresh(), t.kind, t.shape) for t, _ in outputs]
        left = ", ".join(r.name for r in results) if len(results) == 1 else f"{results[0].name}:{len(results)}"
        text = f"{left} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}"
        if inputs:
            text += f" ins({', '.join(t.name for t, _ in inputs)} : {', '.join(t.type for t, _ in inputs)})"
        text += f" outs({', '.join(t.name for t, _ in outputs)} : {', '.join(t.type for t, _ in outputs)}) {{"
        self.line(text)
        scalars = [self.fresh() for _ in range(len(inputs) + len(outputs))]
        typed = [f"{s}: {t.kind}" for s, (t, _) in zip(scalars, list(inputs) + list(outputs))]
        self.line(f"^bb0({', '.join(typed)}):")
        self.depth += 1
        yielded = body(*scalars)
        yielded = [yielded] if isinstance(yielded, str) else yielded
        self.line(f"linalg.yield {', '.join(yielded)} : {', '.join(t.kind for t, _ in outputs)}")
        self.depth -= 1
        types = ", ".join(t.type for t, _ in outputs)
        self.line("} -> " + (types if len(results) == 1 else f"({types})"))
        if len(results) > 1:
            base = results[0].name
            results = [Tensor(f"{base}#{i}", t.kind, t.shape) for i, (t, _) in enumerate(outputs)]
        return results

    def map(self, kinds, body, *tensors, broadcast=None):
        """Elementwise over tensors of the first one's shape, or, where `broadcast` gives one's indices, of fewer
        dimensions. kinds: of the results (one, or a list)."""
        first = tensors[0]
        rank = len(first)
        indices = [(broadcast or {}).get(i, range(rank)) for i in range(len(tensors))]
        several = isinstance(kinds, (list, tuple))
        outputs = [(self.empty(kind, first.shape), range(rank)) for kind in (kinds if several else [kinds])]
        results = self.generic(list(zip(tensors, indices)), outputs, "p" * rank,
                               lambda *scalars: body(*scalars[:len(tensors)]))
        return results if several else results[0]

    def reduce(self, x, dimensions, operation, initial, kind=None, transform=None):
        """A reduction by an operation of two scalars, in type `kind`, of what `transform` makes of an element."""
        kind = kind or x.kind
        rank = len(x)
        kept = [i for i in range(rank) if i not in dimensions]
        start = self.fill(kind, [x.shape[i] for i in kept], initial)

        def body(element, sum_so_far):
            value = self.convert(element, x.kind, kind)
            value = transform(value) if transform else value
            return self.op(operation, kind, sum_so_far, value)

        loops = "".join("r" if i in dimensions else "p" for i in range(rank))
        return self.generic([(x, range(rank))], [(start, kept)], loops, body)[0]

    def transpose(self, x, permutation):
        empty = self.empty(x.kind, [x.shape[i] for i in permutation])
        result = Tensor(self.fresh(), x.kind, empty.shape)
        self.line(f"{result.name} = linalg.transpose ins({x.name} : {x.type}) outs({empty.name} : {empty.type}) "
                  f"permutation = [{', '.join(map(str, permutation))}]")
        return result

    def slice(self, x, offsets, sizes, strides=None):
        """tensor.extract_slice; offsets and sizes are numbers or names."""
        strides = strides or [1] * len(x)
        result = Tensor(self.fresh(), x.kind, sizes)
        lists = ["[" + ", ".join(map(str, part)) + "]" for part in (offsets, sizes, strides)]
        self.line(f"{result.name} = tensor.extract_slice {x.name}{''.join(' ' + t if i == 0 else ' ' + t for i, t in enumerate(lists))} : {x.type} to {result.type}")
        return result

    def concat(self, dimension, *tensors):
        total = tensors[0].shape[dimension]
        for tensor in tensors[1:]:
            total = self.add_sizes(total, tensor.shape[dimension])
        shape = list(tensors[0].shape)
        shape[dimension] = total
        # The operation knows its type from its operands: one unknown size makes the sum unknown.
        result = Tensor(self.fresh(), tensors[0].kind, shape)
        self.line(f"{result.name} = tensor.concat dim({dimension}) {', '.join(t.name for t in tensors)} : "
                  f"({', '.join(t.type for t in tensors)}) -> {result.type}")
        return result

    def pad(self, x, low, high, value):
        """Numbers of elements before and behind each dimension."""
        scalar = value if isinstance(value, str) else self.constant(x.kind, value)
        shape = [self.add_sizes(size, a + b) for size, a, b in zip(x.shape, low, high)]
        result = Tensor(self.fresh(), x.kind, shape)
        self.line(f"{result.name} = tensor.pad {x.name} low[{', '.join(map(str, low))}] high[{', '.join(map(str, high))}] {{")
        self.line(f"^bb0({', '.join(f'%p{self.count}_{i}: index' for i in range(len(x)))}):")
        self.line(f"  tensor.yield {scalar} : {x.kind}")
        self.line(f"}} : {x.type} to {result.type}")
        return result

    def extract(self, x, *indices):
        """One element, in a body."""
        result = self.fresh()
        self.line(f"{result} = tensor.extract {x.name}[{', '.join(indices)}] : {x.type}")
        return result
