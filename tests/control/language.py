# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Host programs as a tree: each statement prints itself as MLIR and runs itself on Python's own numbers.

A value is a name and a type. Integers are Python's, wrapped to their width and signed; f32 is a Python float that holds
a float of 32 bits; a tensor is a list of them. `env` maps names to what they are at this moment of a run.
"""
import struct


class Value:
    def __init__(self, name, type):
        self.name, self.type = name, type


def is_tensor(type):
    return type.startswith("tensor")


def element_of(type):
    return type[:-1].split("x")[-1] if is_tensor(type) else type


def wrap(value, type):
    """`value` as an integer of `type` holds it."""
    bits = {"i1": 1, "i32": 32, "i64": 64, "index": 64}[type]
    value &= (1 << bits) - 1
    return value - (1 << bits) if bits > 1 and value >> (bits - 1) else value


def f32(value):
    """The float of 32 bits next to `value`."""
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def number(value, type):
    """As MLIR's text has it."""
    if type == "i1":
        return "true" if value else "false"
    if type == "f32":
        if value != value or value in (float("inf"), float("-inf")):
            return "0x%08X" % (0x7FC00000 if value != value else struct.unpack("I", struct.pack("f", value))[0])
        return repr(value) if "e" not in repr(value) else "%.9e" % value
    return str(value)


def constant(value, type):
    """`value : type`, for arith.constant."""
    if is_tensor(type):
        return "dense<[%s]> : %s" % (", ".join(number(v, element_of(type)) for v in value), type)
    return number(value, type) if type == "i1" else "%s : %s" % (number(value, type), type)


def run(statements, env, state):
    for statement in statements:
        statement.run(env, state)


def text(statements, indent):
    return "".join(statement.text(indent) for statement in statements)


def named(values):
    return ", ".join(value.name for value in values)


def typed(values):
    return ", ".join("%s: %s" % (value.name, value.type) for value in values)


def types(values):
    return ", ".join(value.type for value in values)


def results(values):
    return named(values) + " = " if values else ""


def pairs(inner, outer):
    return ", ".join("%s = %s" % (a.name, b.name) for a, b in zip(inner, outer))


def move(env, targets, sources):
    for target, found in zip(targets, [env[source.name] for source in sources]):
        env[target.name] = found


class Op:
    """One or several lines of MLIR, and a function of the operands' values that returns the result's."""

    def __init__(self, result, lines, operands, compute):
        self.result, self.lines, self.operands, self.compute = result, lines, operands, compute

    def text(self, indent):
        return "".join("  " * indent + line + "\n" for line in self.lines)

    def run(self, env, state):
        env[self.result.name] = self.compute(*[env[value.name] for value in self.operands])


class If:
    def __init__(self, condition, results, branches):
        self.condition, self.results, self.branches = condition, results, branches  # [(statements, yielded)] * 2

    def text(self, indent):
        pad = "  " * indent
        out = "%s%sscf.if %s%s {\n" % (pad, results(self.results), self.condition.name,
                                       " -> (%s)" % types(self.results) if self.results else "")
        for i, (statements, yielded) in enumerate(self.branches):
            out += (pad + "} else {\n" if i else "") + text(statements, indent + 1)
            if yielded:
                out += "%s  scf.yield %s : %s\n" % (pad, named(yielded), types(yielded))
        return out + pad + "}\n"

    def run(self, env, state):
        statements, yielded = self.branches[0 if env[self.condition.name] else 1]
        run(statements, env, state)
        move(env, self.results, yielded)


class Switch:
    def __init__(self, flag, results, cases, default):
        self.flag, self.results, self.cases, self.default = flag, results, cases, default

    def text(self, indent):
        pad = "  " * indent
        out = "%s%sscf.index_switch %s%s\n" % (pad, results(self.results), self.flag.name,
                                               " -> " + types(self.results) if self.results else "")
        for label, (statements, yielded) in [("case %d" % i, c) for i, c in enumerate(self.cases)] + [
            ("default", self.default)]:
            out += "%s%s {\n%s%s  scf.yield %s : %s\n%s}\n" % (pad, label, text(statements, indent + 1), pad,
                                                             named(yielded), types(yielded), pad)
        return out

    def run(self, env, state):
        flag = env[self.flag.name]
        statements, yielded = self.cases[flag] if 0 <= flag < len(self.cases) else self.default
        run(statements, env, state)
        move(env, self.results, yielded)


class For:
    def __init__(self, results, counter, bounds, carried, initial, body, yielded):
        self.results, self.counter, self.bounds = results, counter, bounds  # lower, upper, step
        self.carried, self.initial, self.body, self.yielded = carried, initial, body, yielded

    def text(self, indent):
        pad, (lower, upper, step) = "  " * indent, self.bounds
        kind = "" if self.counter.type == "index" else " : " + self.counter.type
        carries = " iter_args(%s) -> (%s)" % (pairs(self.carried, self.initial), types(self.carried))
        out = "%s%sscf.for %s = %s to %s step %s%s%s {\n" % (
            pad, results(self.results), self.counter.name, lower.name, upper.name, step.name,
            carries if self.carried else "", kind)
        out += text(self.body, indent + 1)
        if self.yielded:
            out += "%s  scf.yield %s : %s\n" % (pad, named(self.yielded), types(self.yielded))
        return out + pad + "}\n"

    def run(self, env, state):
        lower, upper, step = [env[value.name] for value in self.bounds]
        move(env, self.carried, self.initial)
        for i in range(lower, upper, step):
            env[self.counter.name] = i
            run(self.body, env, state)
            move(env, self.carried, self.yielded)
        move(env, self.results, self.carried)


class While:
    """before(carried) -> condition, passed; body(passed) -> carried."""

    def __init__(self, results, carried, initial, before, condition, passed, inner, body, yielded):
        self.results, self.carried, self.initial, self.before = results, carried, initial, before
        self.condition, self.passed, self.inner, self.body, self.yielded = condition, passed, inner, body, yielded

    def text(self, indent):
        pad = "  " * indent
        out = "%s%sscf.while (%s) : (%s) -> (%s) {\n" % (pad, results(self.results), pairs(self.carried, self.initial),
                                                         types(self.carried), types(self.passed))
        out += text(self.before, indent + 1)
        out += "%s  scf.condition(%s) %s : %s\n%s} do {\n%s^bb0(%s):\n" % (
            pad, self.condition.name, named(self.passed), types(self.passed), pad, pad, typed(self.inner))
        return out + text(self.body, indent + 1) + "%s  scf.yield %s : %s\n%s}\n" % (
            pad, named(self.yielded), types(self.yielded), pad)

    def run(self, env, state):
        move(env, self.carried, self.initial)
        while True:
            run(self.before, env, state)
            if not env[self.condition.name]:
                break
            move(env, self.inner, self.passed)
            run(self.body, env, state)
            move(env, self.carried, self.yielded)
        move(env, self.results, self.passed)


class Load:
    def __init__(self, result, name):
        self.result, self.name = result, name

    def text(self, indent):
        return "%s%s = util.global.load @%s : %s\n" % ("  " * indent, self.result.name, self.name, self.result.type)

    def run(self, env, state):
        env[self.result.name] = state[self.name]


class Store:
    def __init__(self, value, name):
        self.value, self.name = value, name

    def text(self, indent):
        return "%sutil.global.store %s, @%s : %s\n" % ("  " * indent, self.value.name, self.name, self.value.type)

    def run(self, env, state):
        state[self.name] = env[self.value.name]


class Call:
    def __init__(self, results, function, arguments):
        self.results, self.function, self.arguments = results, function, arguments

    def text(self, indent):
        return "%s%sfunc.call @%s(%s) : (%s) -> (%s)\n" % ("  " * indent, results(self.results), self.function.name,
                                                           named(self.arguments), types(self.arguments),
                                                           types(self.results))

    def run(self, env, state):
        for result, found in zip(self.results, self.function.call([env[a.name] for a in self.arguments], state)):
            env[result.name] = found


class Function:
    def __init__(self, name, arguments, statements, returned):
        self.name, self.arguments, self.statements, self.returned = name, arguments, statements, returned

    def text(self):
        return "func.func private @%s(%s) -> (%s) {\n%s  return %s : %s\n}\n" % (
            self.name, typed(self.arguments), types(self.returned), text(self.statements, 1), named(self.returned),
            types(self.returned))

    def call(self, values, state):
        env = {argument.name: value for argument, value in zip(self.arguments, values)}
        run(self.statements, env, state)
        return [env[value.name] for value in self.returned]
