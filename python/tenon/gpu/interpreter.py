# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a kernel's Python once, statement by statement, and writes what it does as operations.

Sizes, types and what follows from them are known and computed at once, as Python does: an `if` over them takes one way. What depends
on a thread's number or on memory is a value; an `if` or a `while` over it, and every `for ... in range(...)`, is the kernel's own.
"""
from __future__ import annotations

import ast
import inspect
import types
from typing import Any

from .arithmetic import SYMBOLS, as_value, binary, compare, implicit, truth
from .builder import Builder
from .errors import Place
from .exits import VALUE, always_returns, returns_in_a_loop
from .expressions import Expressions, Range
from .memory import Memory
from .source import Source, assigned, names_of
from .kinds import Scalar, i64
from .value import Handle, Unbound, Value, bounded, kind_of

_REFUSED = {
    ast.FunctionDef: ("a function within a kernel", "write it beside the kernel"), ast.ClassDef: ("a class", ""), ast.Try: ("try", ""),
    ast.With: ("with", ""), ast.Raise: ("raise", ""), ast.Delete: ("del", ""), ast.Import: ("import", "import at the top of the file"),
    ast.ImportFrom: ("import", "import at the top of the file"), ast.Global: ("global", ""), ast.Nonlocal: ("nonlocal", ""),
    ast.AsyncFor: ("async for", ""), ast.AsyncWith: ("async with", ""), ast.Match: ("match", "write if and elif"),
}
_DEEPEST = 32
_MOST_TURNS = 1 << 17


class Interpreter(Expressions):
    """`names` are those around the function; `env` its variables."""

    def __init__(self, b: Builder, source: Source, names: dict[str, Any], env: dict[str, Any]) -> None:
        self.b, self.source, self.names, self.env = b, source, names, env
        self.local_names = assigned(source.body)
        self.depth = self.turns = 0

    def place_of(self, node: Any) -> Place:
        return self.source.place(node)

    def run(self, statements: list[ast.stmt]) -> None:
        for one in statements:
            self.b.place = self.place_of(one)
            self._run(one)

    def _run(self, node: ast.stmt) -> None:
        b = self.b
        if isinstance(node, ast.Expr):
            if not isinstance(node.value, ast.Constant):
                self.evaluate(node.value)
        elif isinstance(node, ast.Assign):
            value = self.evaluate(node.value)
            for target in node.targets:
                self.assign(target, value)
        elif isinstance(node, ast.AnnAssign):
            self._annotated(node)
        elif isinstance(node, ast.AugAssign):
            self._augmented(node)
        elif isinstance(node, ast.If):
            self._if(node)
        elif isinstance(node, ast.For):
            self._for(node)
        elif isinstance(node, ast.While):
            self._while(node)
        elif isinstance(node, ast.Assert):
            held = truth(b, self.evaluate(node.test), "what is asserted")
            if isinstance(held, Value):
                raise b.error("assert of a value of the kernel is not supported; wanted: what is known when the kernel is made")
            if not held:
                said = self.evaluate(node.msg) if node.msg else ast.unparse(node.test)
                raise b.error(f"the kernel asserts: {said}")
        elif not isinstance(node, ast.Pass):
            what, fix = _REFUSED.get(type(node), (type(node).__name__, ""))
            raise b.error(f"{what} is not supported in a kernel", fix)

    # Assignments.
    def assign(self, target: ast.expr, value: Any) -> None:
        b = self.b
        if isinstance(target, ast.Name):
            if isinstance(value, Range):
                raise b.error("a range is kept in a variable", "write it in the for statement")
            self.env[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            if not isinstance(value, (tuple, list)):
                raise b.error(f"{kind_of(value)} is assigned to {len(target.elts)} variables; wanted: a tuple")
            if len(value) != len(target.elts):
                raise b.error(f"{len(value)} values are assigned to {len(target.elts)} variables")
            for one, part in zip(target.elts, value):
                self.assign(one, part)
        elif isinstance(target, ast.Subscript):
            base = self.evaluate(target.value)
            index = self._index(target.slice)
            b.place = self.place_of(target)
            if not isinstance(base, (Memory, Handle)):
                raise b.error(f"an element of {kind_of(base)} is assigned; wanted: one of an array", "keep what changes in gpu.local(...)")
            base.set(index, value)
        else:
            raise b.error(f"{type(target).__name__} is assigned to; wanted: a variable or an element of an array")

    def _annotated(self, node: ast.AnnAssign) -> None:
        kind = self.evaluate(node.annotation)
        if not isinstance(kind, Scalar):
            raise self.b.error(f"the annotation is {kind_of(kind)}; wanted: a type of tenon.gpu, as in x: f32 = 0")
        if node.value is None or not isinstance(node.target, ast.Name):
            raise self.b.error("a variable is declared without a value", "write x: f32 = 0")
        self.env[node.target.id] = implicit(self.b, self.evaluate(node.value), kind, f"'{node.target.id}'")

    def _augmented(self, node: ast.AugAssign) -> None:
        symbol = SYMBOLS[type(node.op).__name__]
        if isinstance(node.target, ast.Name):
            left = self._name(node.target.id)
            self.assign(node.target, binary(self.b, symbol, left, self.evaluate(node.value)))
            return
        if not isinstance(node.target, ast.Subscript):
            raise self.b.error(f"'{symbol}=' of {type(node.target).__name__} is not supported")
        base, index = self.evaluate(node.target.value), self._index(node.target.slice)
        if not isinstance(base, (Memory, Handle)):
            raise self.b.error(f"an element of {kind_of(base)} is assigned; wanted: one of an array", "keep what changes in gpu.local(...)")
        base.check_written()
        left = base.get(index)
        if isinstance(left, Memory):
            raise self.b.error(f"'{symbol}=' of {left.describe()}; wanted: an element", "write a loop over the elements")
        base.set(index, binary(self.b, symbol, left, self.evaluate(node.value)))

    # Control.
    def _if(self, node: ast.If) -> None:
        condition = truth(self.b, self.evaluate(node.test), "the condition of 'if'")
        if not isinstance(condition, Value):
            self.run(node.body if condition else node.orelse)
            return
        self.branch(condition, lambda: self.run(node.body), lambda: self.run(node.orelse), assigned(node.body) | assigned(node.orelse))

    def _stopped(self, flags: list[str]) -> Any:
        """Whether the thread has left a loop: a bool of Python's, or a value."""
        found: Any = False
        for one in flags:
            value = self.env[one]
            if isinstance(value, Value):
                found = value if found is False else binary(self.b, "|", found, value)
            elif value:
                return True
        return found

    def _going(self, flags: list[str]) -> Any:
        stopped = self._stopped(flags)
        return binary(self.b, "^", stopped, True) if isinstance(stopped, Value) else not stopped

    def _for(self, node: ast.For) -> None:
        if node.orelse:
            raise self.b.error("'else' of a for loop is not supported", "set a variable before 'break' and ask for it behind the loop")
        over, flags = self.evaluate(node.iter), getattr(node, "stops", [])
        names = assigned(node.body) | assigned([node.target])
        place = self.b.place
        if not isinstance(over, Range):
            for item in self.items(over, "a for loop"):
                going = self._going(flags)
                if going is False:
                    break

                self.b.place = place
                self.turns += 1
                if self.turns > _MOST_TURNS:
                    raise self.b.error(f"more than {_MOST_TURNS} turns of loops are written out", "write for ... in range(...)")

                def turn(item: Any = item) -> None:
                    self.b.place = place
                    self.assign(node.target, item)
                    self.run(node.body)

                if isinstance(going, Value):
                    self.branch(going, turn, lambda: None, names)
                else:
                    turn()
            return
        if not isinstance(node.target, ast.Name):
            raise self.b.error("a range is assigned to several variables; wanted: one")
        name = node.target.id
        self.env.pop(name, None)

        def body(index: Value) -> None:
            self.env[name] = index
            self.run(node.body)

        if not flags:
            self.count(over.start, over.stop, over.step, names - {name}, body)
        else:
            self._for_with_exits(over, names - {name}, flags, body)
        self.b.place = place
        self.env[name] = Unbound(f"'{name}' counts the loop of line {place.line if place else 0} and has no value behind it",
                                 "keep it in another variable, set before the loop")

    def _for_with_exits(self, over: Range, names: set[str], flags: list[str], body: Any) -> None:
        """A loop that may stop early: counted by a variable of its own."""
        b, own = self.b, f"$count{len(self.env)}"
        start, stop = (implicit(b, one, i64, "a bound") for one in (over.start, over.stop))
        self.env[own] = start
        goes_up = isinstance(over.step, Value) or over.step > 0
        low, high = (start.bounds[0], stop.bounds[1] - 1) if goes_up else (stop.bounds[0] + 1, start.bounds[1])

        def test() -> Value:
            inside = compare(b, "<" if goes_up else ">", self.env[own], stop)
            going = self._going(flags)
            return as_value(b, binary(b, "&", inside, going) if isinstance(going, Value) else inside if going else False)

        def turn() -> None:
            counter = self.env[own]
            body(bounded(counter.name, counter.type, low, max(low, high)))
            self.env[own] = binary(b, "+", counter, over.step)

        self.repeat(names | {own}, test, turn)
        self.env.pop(own, None)

    def _while(self, node: ast.While) -> None:
        b, flags, place = self.b, getattr(node, "stops", []), self.b.place
        if node.orelse:
            raise b.error("'else' of a while loop is not supported", "set a variable before 'break' and ask for it behind the loop")

        def test() -> Value:
            b.place = place
            going = self._going(flags)
            if going is False:
                return as_value(b, False)
            if isinstance(going, Value):
                return as_value(b, self.both(going, lambda: truth(b, self.evaluate(node.test), "the condition of 'while'"), True))
            held = truth(b, self.evaluate(node.test), "the condition of 'while'")
            if held is True:
                raise b.error("the condition of 'while' is always true, and nothing in the loop leaves it")
            return as_value(b, held)

        self.repeat(assigned(node.body), test, lambda: self.run(node.body))

    # Functions.
    def call_function(self, function: types.FunctionType, arguments: list[Any], named: dict[str, Any]) -> Any:
        """A function of Python's stands where it is called."""
        b = self.b
        if self.depth >= _DEEPEST:
            raise b.error(f"{function.__name__} calls itself, or functions are called {_DEEPEST} deep; a kernel has no stack")
        called_at = b.place
        try:
            bound = inspect.signature(function).bind(*arguments, **named)
        except TypeError as error:
            raise b.error(f"{function.__name__}: {error}") from None
        bound.apply_defaults()
        inner = Source.of(function)
        if returns_in_a_loop(inner.tree) and not always_returns(inner.tree):
            raise b.error(f"{function.__name__} may end without a value", "return one at its end")
        outer = (self.source, self.names, self.env, self.local_names)
        self.source, self.names, self.local_names = inner, names_of(function), assigned(inner.body)
        self.env = dict(bound.arguments)
        self.depth += 1
        try:
            self.run(inner.body)
            found = self.env.get(VALUE)
        finally:
            self.source, self.names, self.env, self.local_names = outer
            self.depth -= 1
            b.place = called_at
        if isinstance(found, Unbound):
            raise b.error(f"{function.__name__} gives no value on some of its ways: {found.why}", "return a value at the end of each way")
        return found
