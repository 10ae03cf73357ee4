# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Expressions of a kernel's body: computed at once where everything is known, written as operations where it is not."""
from __future__ import annotations

import ast
import builtins
import types
from typing import Any

from .arithmetic import SYMBOLS, binary, cast, compare, negate, truth, unary
from .errors import KernelError
from .flow import Flow
from .intrinsics import suggestion
from .mathematics import of_python
from .memory import Memory
from .kinds import Scalar, Vector
from .value import Handle, Unbound, Value, is_number, kind_of

_REFUSED = {
    ast.Lambda: ("a lambda", "write a def beside the kernel"), ast.Await: ("await", ""), ast.Yield: ("yield", ""), ast.YieldFrom: ("yield from", ""),
    ast.NamedExpr: (":=", "assign on a line of its own"), ast.Dict: ("a dict", ""), ast.Set: ("a set", ""), ast.DictComp: ("a dict", ""),
    ast.SetComp: ("a set", ""), ast.JoinedStr: ("an f-string", ""), ast.Starred: ("*", "name each value"),
}
_MISSING = object()
_LONGEST = 4096  # turns that are written one behind the other


class StaticRange:
    """gpu.static_range(...): the turns of the loop are written one behind the other, and its variable is a number of Python's."""

    def __init__(self, *arguments: int) -> None:
        self.range = range(*arguments)

    def __iter__(self) -> Any:
        return iter(self.range)

    def __len__(self) -> int:
        return len(self.range)


def is_known(value: Any) -> bool:
    """Whether nothing of the kernel's run is in it."""
    if isinstance(value, (tuple, list)):
        return all(map(is_known, value))
    return not isinstance(value, (Value, Memory, Handle, Unbound, StaticRange))


def plain_number(value: Any) -> Any:
    """A scalar of NumPy's as Python's number."""
    is_scalar = type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "shape", None) == ()
    return value.item() if is_scalar else value


class Expressions(Flow):
    """Part of the interpreter: `self.evaluate(node)`."""

    names: dict[str, Any]

    def evaluate(self, node: ast.expr) -> Any:
        outer, self.b.place = self.b.place, self.place_of(node)
        try:
            return self._evaluate(node)
        finally:
            self.b.place = outer

    def place_of(self, node: Any) -> Any:
        raise NotImplementedError

    def call_function(self, function: types.FunctionType, arguments: list[Any], named: dict[str, Any]) -> Any:
        raise NotImplementedError

    def _evaluate(self, node: ast.expr) -> Any:
        b = self.b
        if isinstance(node, ast.Constant):
            if node.value is None or isinstance(node.value, (bool, int, float, str)):
                return node.value
            raise b.error(f"the constant {node.value!r} is not supported; wanted: a number")
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if isinstance(node, ast.BinOp):
            left, right = self.evaluate(node.left), self.evaluate(node.right)
            if isinstance(left, (tuple, list)) and is_known(right) and not is_number(left):
                return tuple(left) + tuple(right) if isinstance(node.op, ast.Add) else tuple(left) * right
            return binary(b, SYMBOLS[type(node.op).__name__], left, right)
        if isinstance(node, ast.UnaryOp):
            value = self.evaluate(node.operand)
            if isinstance(node.op, ast.Not):
                return negate(b, truth(b, value, "what 'not' is asked of"))
            return unary(b, {ast.UAdd: "+", ast.USub: "-", ast.Invert: "~"}[type(node.op)], value)
        if isinstance(node, ast.Compare):
            return self._compare(node)
        if isinstance(node, ast.BoolOp):
            return self._bool(node.values, isinstance(node.op, ast.And))
        if isinstance(node, ast.IfExp):
            condition, first, second = truth(b, self.evaluate(node.test), "the condition"), node.body, node.orelse
            if not isinstance(condition, Value):
                return self.evaluate(first if condition else second)
            return self.branch(condition, lambda: self.evaluate(first), lambda: self.evaluate(second), set())
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(self.evaluate(node.value), node.attr)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, (ast.Tuple, ast.List)):
            return tuple(self.evaluate(one) for one in node.elts)
        if isinstance(node, ast.Slice):
            return slice(*(None if one is None else self.evaluate(one) for one in (node.lower, node.upper, node.step)))
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return tuple(self._comprehension(node.generators, node.elt))
        what, fix = _REFUSED.get(type(node), (type(node).__name__, ""))
        raise b.error(f"{what} is not supported in a kernel", fix)

    def _name(self, name: str) -> Any:
        if name in self.env:
            found = self.env[name]
            if isinstance(found, Unbound):
                raise self.b.error(found.why or f"'{name}' has no value here", found.fix)
            return found
        found = self.names.get(name, _MISSING)
        if found is _MISSING:
            found = getattr(builtins, name, _MISSING)
        if found is _MISSING:
            raise self.b.error(f"'{name}' is not defined" + (" here: it is set later in the kernel" if name in self.local_names else ""))
        found = plain_number(found)
        if hasattr(found, "__array_interface__") or hasattr(found, "__dlpack__"):
            raise self.b.error(f"'{name}' is an array outside of the kernel", "make it a parameter")
        return found

    local_names: set[str] = set()

    def _compare(self, node: ast.Compare) -> Any:
        operators = [SYMBOLS.get(type(one).__name__, "") for one in node.ops]
        if "" in operators:
            known = [self.evaluate(one) for one in (node.left, *node.comparators)]
            if len(known) == 2 and (is_known(known) or None in known):
                left, right, how = *known, type(node.ops[0])
                return (left is right if how is ast.Is else left is not right if how is ast.IsNot else left in right if how is ast.In else
                        left not in right)
            raise self.b.error("'in' and 'is' of the kernel's values are not supported", "compare with == or !=")

        def chain(left: Any, at: int) -> Any:
            right = self.evaluate(node.comparators[at])
            if not (is_number(left) or isinstance(left, Value)) and is_known([left, right]):
                found: Any = {"==": left == right, "!=": left != right}.get(operators[at], _MISSING)
                if found is _MISSING:
                    raise self.b.error(f"'{operators[at]}' of {kind_of(left)} and {kind_of(right)} is not supported")
            else:
                found = compare(self.b, operators[at], left, right)
            if at + 1 == len(operators):
                return found
            if not isinstance(found, Value):
                return chain(right, at + 1) if found else False
            if isinstance(found.type, Vector):
                raise self.b.error("a chain of comparisons of vectors is not supported", "take their elements: v[0]")
            return self.both(found, lambda: chain(right, at + 1), True)

        return chain(self.evaluate(node.left), 0)

    def _bool(self, nodes: list[ast.expr], is_and: bool) -> Any:
        word = "and" if is_and else "or"
        value = self.evaluate(nodes[0])
        if len(nodes) == 1:
            if isinstance(value, Value) and (isinstance(value.type, Vector) or value.type.kind != "bool"):
                raise self.b.error(f"'{word}' of {kind_of(value)}; wanted: bools", "write x != 0")
            return value
        if not isinstance(value, Value):
            if isinstance(value, Memory):
                raise self.b.error(f"'{word}' of {kind_of(value)}; wanted: bools")
            rest = nodes[1:]
            return (self._bool(rest, is_and) if value else value) if is_and else (value if value else self._bool(rest, is_and))
        if isinstance(value.type, Vector) or value.type.kind != "bool":
            raise self.b.error(f"'{word}' of {kind_of(value)}; wanted: bools", "write x != 0")

        def second() -> Any:
            found = self._bool(nodes[1:], is_and)
            if not isinstance(found, (bool, Value)):
                raise self.b.error(f"'{word}' of {kind_of(found)}; wanted: bools", "write x != 0")
            return found

        return self.both(value, second, is_and)

    def _index(self, node: ast.expr) -> tuple[Any, ...]:
        found = self.evaluate(node)
        return found if isinstance(found, tuple) else (found,)

    def _subscript(self, node: ast.Subscript) -> Any:
        base = self.evaluate(node.value)
        if isinstance(base, (Memory, Handle)):
            return base.get(self._index(node.slice))
        if isinstance(base, Value):
            index = self._index(node.slice)
            if not isinstance(base.type, Vector):
                raise self.b.error(f"{base.type} has no elements")
            if len(index) != 1 or not isinstance(index[0], int):
                raise self.b.error(f"an element of a vector is asked for by {', '.join(map(kind_of, index))}; wanted: a number that is known",
                                   "loop with gpu.static_range, or keep the numbers in gpu.local")
            at = index[0] + (base.type.count if index[0] < 0 else 0)
            if not 0 <= at < base.type.count:
                raise self.b.error(f"element {index[0]} of a {base.type}; wanted: 0 to {base.type.count - 1}")
            return Value(self.b.op(f"vector.extract {base.name}[{at}] : {base.type.element.mlir} from {base.type.mlir}"), base.type.element)
        index = self.evaluate(node.slice)
        if not is_known(index):
            raise self.b.error(f"{kind_of(base)} is indexed by {kind_of(index)}; wanted: a number that is known",
                               "loop with gpu.static_range, or keep the numbers in gpu.local")
        return self._plain(lambda: base[index])

    def _plain(self, run: Any) -> Any:
        """Python's own, whose error is at this place."""
        try:
            found = run()
        except KernelError:
            raise
        except Exception as error:
            raise self.b.error(f"{type(error).__name__}: {error}") from error
        return tuple(found) if isinstance(found, list) else plain_number(found)

    def _attribute(self, base: Any, name: str) -> Any:
        if isinstance(base, Value):
            if name == "dtype":
                return base.dtype
            raise self.b.error(f"{kind_of(base)} has no '{name}'; there is dtype")
        if isinstance(base, Memory):
            if name == "shape":
                if None in base.shape:
                    raise self.b.error(f"the first extent of {base.name} is not known: its signature says '...'", "pass it as a parameter")
                return base.shape
            if name in ("dtype", "ndim"):
                return base.dtype if name == "dtype" else len(base.shape)
            raise self.b.error(f"the array {base.name} has no '{name}'; there are shape, dtype, ndim")
        if isinstance(base, Unbound):
            raise self.b.error(base.why, base.fix)
        if isinstance(base, types.ModuleType) and not hasattr(base, name) and base.__name__ == "tenon.gpu":
            raise self.b.error(f"tenon.gpu has no '{name}'", suggestion(name))
        return self._plain(lambda: getattr(base, name))

    def _call(self, node: ast.Call) -> Any:
        b = self.b
        function = self.evaluate(node.func)
        arguments: list[Any] = []
        for one in node.args:
            if isinstance(one, ast.Starred):
                arguments += self.evaluate(one.value)
            else:
                arguments.append(self.evaluate(one))
        if any(one.arg is None for one in node.keywords):
            raise b.error("** is not supported in a kernel", "name each argument")
        named = {str(one.arg): self.evaluate(one.value) for one in node.keywords}
        if isinstance(function, Scalar):
            if len(arguments) != 1 or named:
                raise b.error(f"{function}(...) takes one number, found {len(arguments) + len(named)}")
            return cast(b, arguments[0], function)
        if hasattr(function, "tenon_intrinsic"):
            return self._intrinsic(function, arguments, named)
        replaced = of_python(function)
        everything = [*arguments, *named.values()]
        if replaced is not None and not all(map(is_known, everything)):
            return self._intrinsic(replaced, arguments, named)
        if function is print:
            raise b.error("print is not supported in a kernel", "write to an array and look at it when the kernel has run")
        if function is range:
            return self._range(arguments, named)
        if isinstance(function, types.FunctionType):
            return self.call_function(function, arguments, named)
        if function in (len,) and isinstance(arguments[0], Memory):
            return self._attribute(arguments[0], "shape")[0]
        if function is len and len(arguments) == 1 and isinstance(arguments[0], (tuple, list)):
            return len(arguments[0])
        if function in (tuple, list, zip, enumerate, reversed, sum):
            arguments = [self.items(one, function.__name__) if isinstance(one, Range) else one for one in arguments]
        if function in (tuple, list, zip, enumerate, reversed, sum) and not any(isinstance(one, (Value, Memory, Handle)) for one in everything):
            if function is sum:
                total = arguments[1] if len(arguments) > 1 else 0
                for one in arguments[0]:
                    total = one if total == 0 and isinstance(total, int) else binary(b, "+", total, one)
                return total
            return self._plain(lambda: tuple(function(*arguments, **named)))
        if not all(map(is_known, everything)):
            name = getattr(function, "__name__", type(function).__name__)
            module = getattr(function, "__module__", None)
            raise b.error(f"{name if module in (None, 'builtins') else f'{module}.{name}'} is called with a value of the kernel; wanted: a function of "
                          "tenon.gpu, or one written in Python", suggestion(name))
        if not callable(function):
            raise b.error(f"{kind_of(function)} is called")
        return self._plain(lambda: function(*arguments, **named))

    def _range(self, arguments: list[Any], named: dict[str, Any]) -> Any:
        if named or not 1 <= len(arguments) <= 3:
            raise self.b.error(f"range takes 1 to 3 numbers, found {len(arguments) + len(named)}")
        start, stop, step = (0, arguments[0], 1) if len(arguments) == 1 else (*arguments, 1)[:3]
        for one in (start, stop, step):
            if isinstance(one, bool) or not (isinstance(one, int) or (isinstance(one, Value) and not isinstance(one.type, Vector) and
                                                                       one.type.kind == "int")):
                raise self.b.error(f"range of {kind_of(one)}; wanted: integers")
        if isinstance(step, Value) and step.bounds[0] <= 0:
            raise self.b.error(f"the step of range is {kind_of(step)}, which may be 0 or negative; wanted: a number that is known to be above 0",
                               "write range(a, b, max(step, 1)), or a while loop")
        if isinstance(step, int) and step == 0:
            raise self.b.error("the step of range is 0")
        for one in (start, stop):
            if isinstance(one, int) and abs(one) + (abs(step) if isinstance(step, int) else 0) >= 1 << 62:
                raise self.b.error(f"range of {one}; wanted: at most {(1 << 62) - 1}")
        return Range(start, stop, step)

    def _intrinsic(self, function: Any, arguments: list[Any], named: dict[str, Any]) -> Any:
        try:
            return function(*arguments, **named)
        except TypeError as error:
            raise self.b.error(f"gpu.{function.__name__}: {str(error).replace(function.__name__ + '() ', '')}") from error

    def _comprehension(self, generators: list[ast.comprehension], element: ast.expr) -> Any:
        outer, out = self.env, []
        self.env = dict(outer)

        def run(at: int) -> None:
            if at == len(generators):
                out.append(self.evaluate(element))
                return
            one = generators[at]
            for item in self.items(self.evaluate(one.iter), "a comprehension"):
                self.assign(one.target, item)
                wanted = [truth(self.b, self.evaluate(test), "the condition") for test in one.ifs]
                if any(isinstance(test, Value) for test in wanted):
                    raise self.b.error("the condition of a comprehension is not known when the kernel is made", "write a loop")
                if all(wanted):
                    run(at + 1)

        try:
            run(0)
        finally:
            self.env = outer
        return out

    def items(self, given: Any, what: str) -> Any:
        """What a loop that is written out runs over."""
        if isinstance(given, Range):
            if any(isinstance(one, Value) for one in (given.start, given.stop, given.step)):
                raise self.b.error(f"{what} runs over a range that is not known when the kernel is made", "write a for loop")
            given = range(given.start, given.stop, given.step)
        if isinstance(given, (tuple, list, range, StaticRange)):
            if len(given) > _LONGEST:
                raise self.b.error(f"{what} is written out, with {len(given)} turns; wanted: at most {_LONGEST}", "write for ... in range(...)")
            return given
        raise self.b.error(f"{what} runs over {kind_of(given)}; wanted: range(...), gpu.static_range(...) or a tuple")

    def assign(self, target: ast.expr, value: Any) -> None:
        raise NotImplementedError


class Range:
    """range(...) in a kernel: a loop of the kernel's."""

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start, self.stop, self.step = start, stop, step

    def describe(self) -> str:
        return "a range"
