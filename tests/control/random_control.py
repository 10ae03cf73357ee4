# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Grows functions with nested conditions and loops from a seed.

What a program may do, it does without an error: divisors are not 0, indices lie in their tensors, loops end, and what is
computed in 64 bits stays small. Floats are added, subtracted, converted and compared, never multiplied: no compiler
contracts that, so every result is compared bit by bit.
"""
import random

from language import (Call, For, Function, If, Load, Op, Store, Switch, Value, While, constant, element_of, f32, is_tensor,
                      number, text, wrap)

SCALARS = ["i1", "i32", "i32", "f32", "index"]
TENSORS = ["tensor<4xi32>", "tensor<4xi32>", "tensor<4xf32>", "tensor<?xi32>"]
STATIC = [4, 7]


class Generator:
    def __init__(self, seed, globals_, helpers):
        self.random = random.Random(seed)
        self.globals, self.helpers = globals_, helpers  # name -> type; functions that may be called
        self.count = 0
        self.budget = 0

    def new(self, type):
        self.count += 1
        return Value("%%v%d" % self.count, type)

    def value_of(self, type):
        """A constant."""
        if is_tensor(type):
            return [self.value_of(element_of(type)) for _ in range(int(type[7]))]
        if type == "i1":
            return self.random.randrange(2)
        if type == "f32":
            return f32(self.random.choice([0.0, 1.0, -1.5, 0.25, 3.0, -8.0, 100.5]))
        if type == "index":
            return self.random.randrange(8)
        return self.random.choice([0, 1, -1, 2, 3, 7, -5, 100, 2**31 - 1, -(2**31)])

    def emit(self, out, type, form, operands, compute):
        """One operation: `form` has {0}, {1} for its operands and {r} for its result."""
        result = self.new(type)
        lines = form if isinstance(form, list) else [form]
        names = {"r": result.name, "t": "%%t%s" % result.name[2:], "u": "%%u%s" % result.name[2:]}
        out.append(Op(result, [line.format(*[o.name for o in operands], **names) for line in lines], operands, compute))
        return result

    def constant(self, out, type, value=None):
        if type == "tensor<?xi32>":
            return self.widened(out, self.constant(out, "tensor<%dxi32>" % self.random.choice(STATIC)))
        value = self.value_of(type) if value is None else value
        return self.emit(out, type, "{r} = arith.constant %s" % constant(value, type).replace("{", "{{"), [],
                         lambda: value)

    def widened(self, out, value):
        return self.emit(out, "tensor<?xi32>", "{r} = tensor.cast {0} : %s to tensor<?xi32>" % value.type, [value],
                         lambda a: a)

    def pick(self, out, scope, type):
        known = [value for value in scope if value.type == type]
        if known and self.random.random() < 0.9:
            return self.random.choice(known[-8:])
        return self.constant(out, type)

    # --- Operations ---------------------------------------------------------------------------------------------------

    def scalar(self, out, scope):
        r, take = self.random, lambda type: self.pick(out, scope, type)
        kind = r.choice(["int", "int", "real", "compare", "compare_real", "select", "divide", "convert", "index", "read",
                         "read", "sum", "dim", "logic"])
        if kind == "int":
            name, compute = r.choice([("addi", lambda a, b: a + b), ("subi", lambda a, b: a - b),
                                      ("muli", lambda a, b: a * b), ("andi", lambda a, b: a & b),
                                      ("ori", lambda a, b: a | b), ("xori", lambda a, b: a ^ b),
                                      ("maxsi", max), ("minsi", min)])
            return self.emit(out, "i32", "{r} = arith.%s {0}, {1} : i32" % name, [take("i32"), take("i32")],
                             lambda a, b: wrap(compute(a, b), "i32"))
        if kind == "real":
            name, compute = r.choice([("addf", lambda a, b: a + b), ("subf", lambda a, b: a - b),
                                      ("maximumf", maximum), ("minimumf", lambda a, b: -maximum(-a, -b))])
            return self.emit(out, "f32", "{r} = arith.%s {0}, {1} : f32" % name, [take("f32"), take("f32")],
                             lambda a, b: f32(compute(a, b)))
        if kind == "compare":
            type = r.choice(["i32", "index"])
            name, compute = r.choice([("eq", lambda a, b: a == b), ("ne", lambda a, b: a != b),
                                      ("slt", lambda a, b: a < b), ("sge", lambda a, b: a >= b),
                                      ("ult", lambda a, b: a % 2**64 < b % 2**64)])
            return self.emit(out, "i1", "{r} = arith.cmpi %s, {0}, {1} : %s" % (name, type), [take(type), take(type)],
                             lambda a, b: int(compute(a, b)))
        if kind == "compare_real":
            name, compute = r.choice([("olt", lambda a, b: a < b), ("oge", lambda a, b: a >= b),
                                      ("une", lambda a, b: a != b), ("oeq", lambda a, b: a == b)])
            return self.emit(out, "i1", "{r} = arith.cmpf %s, {0}, {1} : f32" % name, [take("f32"), take("f32")],
                             lambda a, b: int(compute(a, b)))
        if kind == "select":
            type = r.choice(["i32", "f32", "index"])
            return self.emit(out, type, "{r} = arith.select {0}, {1}, {2} : %s" % type,
                             [take("i1"), take(type), take(type)], lambda c, a, b: a if c else b)
        if kind == "divide":
            by = self.constant(out, "i32", r.choice([2, 3, 7, -3]))
            name, compute = r.choice([("divsi", truncated), ("remsi", lambda a, b: a - b * truncated(a, b)),
                                      ("floordivsi", lambda a, b: a // b)])
            return self.emit(out, "i32", "{r} = arith.%s {0}, {1} : i32" % name, [take("i32"), by],
                             lambda a, b: wrap(compute(a, b), "i32"))
        if kind == "convert":
            return self.small_real(out, take("i32"))
        if kind == "index":
            return self.small(out, take("i32"), r.choice([3, 4, 6]))
        if kind == "sum":
            return self.total(out, take("tensor<4xi32>"))
        if kind == "dim":
            zero = self.constant(out, "index", 0)
            return self.emit(out, "index", "{r} = tensor.dim {0}, {1} : tensor<?xi32>", [take("tensor<?xi32>"), zero],
                             lambda t, z: len(t))
        if kind == "logic":
            name, compute = r.choice([("andi", lambda a, b: a & b), ("xori", lambda a, b: a ^ b)])
            return self.emit(out, "i1", "{r} = arith.%s {0}, {1} : i1" % name, [take("i1"), take("i1")], compute)
        # read: an element of a tensor on the device
        type = r.choice(TENSORS)
        tensor = take(type)
        at = self.small(out, take("i32"), 4) if r.random() < 0.5 else self.constant(out, "index", r.randrange(4))
        return self.emit(out, element_of(type), "{r} = tensor.extract {0}[{1}] : %s" % type, [tensor, at],
                         lambda t, i: t[i])

    def small(self, out, value, below):
        """An index from 0, below `below`."""
        by = self.constant(out, "i32", below)
        rest = self.emit(out, "i32", "{r} = arith.remui {0}, {1} : i32", [value, by], lambda a, b: a % 2**32 % b)
        return self.emit(out, "index", "{r} = arith.index_cast {0} : i32 to index", [rest], lambda a: a)

    def small_real(self, out, value):
        by = self.constant(out, "i32", 1000)
        rest = self.emit(out, "i32", "{r} = arith.remui {0}, {1} : i32", [value, by], lambda a, b: a % 2**32 % b)
        return self.emit(out, "f32", "{r} = arith.sitofp {0} : i32 to f32", [rest], float)

    def total(self, out, tensor):
        """The sum of the elements, computed on the device and read back."""
        lines = ["{t}z = arith.constant dense<0> : tensor<i32>",
                 "{t} = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],"
                 " iterator_types = [\"reduction\"]}} ins({0} : tensor<4xi32>) outs({t}z : tensor<i32>) {{",
                 "^bb0(%x: i32, %y: i32):",
                 "  {u} = arith.addi %x, %y : i32",
                 "  linalg.yield {u} : i32",
                 "}} -> tensor<i32>",
                 "{r} = tensor.extract {t}[] : tensor<i32>"]
        return self.emit(out, "i32", lines, [tensor], lambda t: wrap(sum(t), "i32"))

    def tensor(self, out, scope):
        r, take = self.random, lambda type: self.pick(out, scope, type)
        type = r.choice(TENSORS)
        element = element_of(type)
        kind = r.choice(["binary", "binary", "fill", "both"])
        if type == "tensor<?xi32>":
            if r.random() < 0.3:
                return self.widened(out, take("tensor<4xi32>"))
            value = take(type)
            return self.emit(out, type, "{r} = arith.addi {0}, {0} : %s" % type, [value],
                             lambda t: [wrap(a + a, "i32") for a in t])
        names = {"i32": [("addi", lambda a, b: a + b), ("subi", lambda a, b: a - b), ("muli", lambda a, b: a * b),
                         ("maxsi", max), ("xori", lambda a, b: a ^ b)],
                 "f32": [("addf", lambda a, b: a + b), ("subf", lambda a, b: a - b), ("maximumf", maximum)]}
        name, compute = r.choice(names[element])
        fix = (lambda v: wrap(v, "i32")) if element == "i32" else f32
        if kind == "binary":
            return self.emit(out, type, "{r} = arith.%s {0}, {1} : %s" % (name, type), [take(type), take(type)],
                             lambda a, b: [fix(compute(x, y)) for x, y in zip(a, b)])
        fill = ["{t}e = tensor.empty() : %s" % type,
                "{%s} = linalg.fill ins({0} : %s) outs({t}e : %s) -> %s" % ("r" if kind == "fill" else "t", element, type,
                                                                          type)]
        if kind == "fill":
            return self.emit(out, type, fill, [take(element)], lambda s: [s] * 4)
        return self.emit(out, type, fill + ["{r} = arith.%s {1}, {t} : %s" % (name, type)], [take(element), take(type)],
                         lambda s, a: [fix(compute(x, s)) for x in a])

    # --- Control flow -------------------------------------------------------------------------------------------------

    def some_types(self, least, most):
        return [self.random.choice(SCALARS + TENSORS) for _ in range(self.random.randint(least, most))]

    def yielded(self, out, scope, wanted):
        return [self.pick(out, scope, type) for type in wanted]

    def branch(self, scope, depth, wanted):
        out = []
        inner = self.block(out, list(scope), depth + 1)
        return out, self.yielded(out, inner, wanted)

    def condition(self, out, scope, depth):
        wanted = self.some_types(0, 3)
        made = If(self.pick(out, scope, "i1"), [self.new(type) for type in wanted],
                  [self.branch(scope, depth, wanted), self.branch(scope, depth, wanted)])
        out.append(made)
        return made.results

    def switch(self, out, scope, depth):
        wanted = self.some_types(1, 2)
        flag = self.pick(out, scope, "index")
        made = Switch(flag, [self.new(type) for type in wanted],
                      [self.branch(scope, depth, wanted) for _ in range(self.random.randint(1, 2))],
                      self.branch(scope, depth, wanted))
        out.append(made)
        return made.results

    def counted(self, out, scope, depth):
        wanted = self.some_types(0, 3)
        initial = self.yielded(out, scope, wanted)
        lower = self.constant(out, "index", self.random.randrange(2))
        upper = self.small(out, self.pick(out, scope, "i32"), 5)
        step = self.constant(out, "index", self.random.randint(1, 2))
        counter, carried = self.new("index"), [self.new(type) for type in wanted]
        body = []
        inner = self.block(body, list(scope) + carried + [counter], depth + 1)
        made = For([self.new(type) for type in wanted], counter, (lower, upper, step), carried, initial, body,
                   self.yielded(body, inner, wanted))
        out.append(made)
        return made.results

    def looped(self, out, scope, depth):
        """At most a few rounds, less where the condition says so."""
        wanted = self.some_types(0, 2) + ["index"]
        initial = self.yielded(out, scope, wanted[:-1]) + [self.small(out, self.pick(out, scope, "i32"), 4)]
        carried = [self.new(type) for type in wanted]
        before = []
        inner = self.block(before, list(scope) + carried, depth + 2)
        zero = self.constant(before, "index", 0)
        more = self.emit(before, "i1", "{r} = arith.cmpi sgt, {0}, {1} : index", [carried[-1], zero],
                         lambda a, b: int(a > b))
        if self.random.random() < 0.5:
            also = self.pick(before, inner, "i1")
            more = self.emit(before, "i1", "{r} = arith.andi {0}, {1} : i1", [more, also], lambda a, b: a & b)
        passed = self.yielded(before, inner, wanted[:-1]) + [carried[-1]]
        arguments, body = [self.new(type) for type in wanted], []
        inner = self.block(body, list(scope) + arguments, depth + 1)
        one = self.constant(body, "index", 1)
        left = self.emit(body, "index", "{r} = arith.subi {0}, {1} : index", [arguments[-1], one], lambda a, b: a - b)
        made = While([self.new(type) for type in wanted], carried, initial, before, more, passed, arguments, body,
                     self.yielded(body, inner, wanted[:-1]) + [left])
        out.append(made)
        return made.results

    def call(self, out, scope):
        function = self.random.choice(self.helpers)
        made = Call([self.new(value.type) for value in function.returned], function,
                    [self.pick(out, scope, argument.type) for argument in function.arguments])
        out.append(made)
        return made.results

    def access(self, out, scope):
        name, type = self.random.choice(sorted(self.globals.items()))
        if self.random.random() < 0.5:
            out.append(Load(self.new(type), name))
            return [out[-1].result]
        out.append(Store(self.pick(out, scope, type), name))
        return []

    def block(self, out, scope, depth):
        """Statements behind `out`. @return what is known after them"""
        for _ in range(self.random.randint(1, 5 if depth == 0 else 3)):
            self.budget -= 1
            kinds = ["scalar"] * 4 + ["tensor"] * 2 + ["access"] * bool(self.globals) + ["call"] * bool(self.helpers)
            if depth < 3 and self.budget > 0:
                kinds += ["condition", "counted", "looped", "switch"] * (3 if depth == 0 else 1)
            kind = self.random.choice(kinds)
            if kind in ("scalar", "tensor"):
                scope.append(getattr(self, kind)(out, scope))
            elif kind in ("access", "call"):
                scope += getattr(self, kind)(out, scope)
            else:
                scope += getattr(self, kind)(out, scope, depth)
        return scope

    def function(self, name, budget):
        self.budget = budget
        arguments = [self.new(type) for type in ["i32", "tensor<4xi32>", "f32"] + self.some_types(0, 2)]
        statements = []
        scope = self.block(statements, list(arguments), 0)
        returned = self.yielded(statements, scope, ["i32", "tensor<4xi32>"] + self.some_types(0, 2))
        # What was computed last is most likely to need everything else.
        returned += [value for value in scope[-3:] if value not in returned]
        return Function(name, arguments, statements, returned)


def maximum(a, b):
    return a + b if a != a or b != b else max(a, b)


def truncated(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def test_of(function, name, values, found):
    """A function without arguments that calls `function`, and expects what Python found."""
    lines = ["func.func @%s() {" % name]
    names = []
    for i, (argument, value) in enumerate(zip(function.arguments, values)):
        fixed = argument.type.replace("?", str(len(value))) if is_tensor(argument.type) else argument.type
        lines.append("  %%a%d = util.unfoldable_constant %s" % (i, constant(value, fixed)))
        names.append("%%a%d" % i)
        if fixed != argument.type:
            lines.append("  %%c%d = tensor.cast %%a%d : %s to %s" % (i, i, fixed, argument.type))
            names[-1] = "%%c%d" % i
    kinds = [value.type for value in function.returned]
    lines.append("  %%r:%d = call @%s(%s) : (%s) -> (%s)" % (len(kinds), function.name, ", ".join(names), ", ".join(
        argument.type for argument in function.arguments), ", ".join(kinds)))
    for i, (type, value) in enumerate(zip(kinds, found)):
        result = "%%r#%d" % i
        if is_tensor(type):
            fixed = type.replace("?", str(len(value)))
            lines.append("  check.expect_eq_const(%s, %s) : %s" % (result, constant(value, fixed), type))
            continue
        lines.append("  %%w%d = arith.constant %s" % (i, constant(value, type)))
        compare = "cmpi eq" if type != "f32" else "cmpf oeq" if value == value else "cmpf uno"
        lines.append("  %%e%d = arith.%s, %s, %%w%d : %s" % (i, compare, result, i, type))
        lines.append("  check.expect_true(%%e%d) : i1" % i)
    return "\n".join(lines + ["  return", "}", ""])


def module(seed, functions):
    """MLIR whose functions without arguments say what they expect; each is called twice, with other values."""
    chooser = Generator("globals %d" % seed, {}, [])
    globals_ = {"g%d" % i: type for i, type in enumerate(["i32", "f32", "tensor<4xi32>", "tensor<4xf32>", "i32"])}
    state = {name: chooser.value_of(type) for name, type in globals_.items()}
    out = "".join("util.global private mutable @%s = %s\n" % (
        name, number(state[name], type) + " : " + type if not is_tensor(type) else constant(state[name], type))
        for name, type in globals_.items())
    # One that a loop computes before the first call.
    begin = Generator("begin %d" % seed, {}, [])
    begin.budget = 6
    statements = []
    scope = begin.block(statements, [], 0)
    stored = begin.pick(statements, scope, "i32")
    statements.append(Store(stored, "g4"))
    start = Function("begin", [], statements, [])
    start.call([], state)
    out += "util.initializer {\n%s  util.return\n}\n" % text(statements, 1)
    helpers, tests = [], ""
    for k in range(functions):
        generator = Generator("%d %d" % (seed, k), globals_, helpers[-3:])
        function = generator.function("f%d" % k, budget=generator.random.choice([4, 8, 16]))
        out += function.text()
        if generator.random.random() < 0.3:
            helpers.append(function)
        for call in range(2):
            values = [generator.value_of(a.type if "?" not in a.type else "tensor<%dxi32>" % generator.random.choice(STATIC))
                      for a in function.arguments]
            tests += test_of(function, "test_%d_%d" % (k, call), values, function.call(values, state))
    return out + tests
