# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`return`, `break` and `continue`, written without them.

MLIR's loops and branches have one way in and one way out. What follows an `if` that leaves goes into its other branch:

    if i >= n:          if i >= n:
        return              pass
    y[i] = 0            else:
                            y[i] = 0

Where that is not enough, a flag says that the thread has left, and what follows asks for it.
"""
from __future__ import annotations

import ast
import copy
from collections.abc import Iterable

VALUE = "$value"  # what a function returns
_LEAVES = (ast.Return, ast.Break, ast.Continue)


def _leaves(statements: list[ast.stmt]) -> bool:
    """Whether no way leads behind these."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.If):
        return _leaves(last.body) and _leaves(last.orelse)
    return isinstance(last, _LEAVES)


class _Rewriter:
    def __init__(self) -> None:
        self.count = 0

    def flag(self, name: str, value: bool, at: ast.AST) -> ast.stmt:
        made = ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=ast.Constant(value=value))
        return _placed(made, at)

    def guard(self, flags: Iterable[str], body: list[ast.stmt], at: ast.AST) -> ast.stmt:
        unset: list[ast.expr] = [ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=one, ctx=ast.Load())) for one in sorted(flags)]
        test = unset[0] if len(unset) == 1 else ast.BoolOp(op=ast.And(), values=unset)
        return _placed(ast.If(test=test, body=body, orelse=[]), at)

    def block(self, statements: list[ast.stmt], stop: str, skip: str) -> tuple[list[ast.stmt], set[str]]:
        """The statements, and the flags that may be set behind them."""
        out: list[ast.stmt] = []
        for number, one in enumerate(statements):
            rest = statements[number + 1:]
            if isinstance(one, ast.Return):
                if one.value is not None:
                    out.append(_placed(ast.Assign(targets=[ast.Name(id=VALUE, ctx=ast.Store())], value=one.value), one))
                return out + [self.flag("$return", True, one)], {"$return"}
            if isinstance(one, ast.Break):
                return out + [self.flag(stop, True, one)], {stop}
            if isinstance(one, ast.Continue):
                return out + [self.flag(skip, True, one)], {skip}
            if isinstance(one, ast.If):
                leaves_then, leaves_else = _leaves(one.body), _leaves(one.orelse)
                body, first = self.block(one.body + ([] if leaves_then or not leaves_else else rest), stop, skip)
                orelse, second = self.block(one.orelse + (rest if leaves_then else []), stop, skip)
                out.append(_placed(ast.If(test=one.test, body=body, orelse=orelse), one))
                if leaves_then or leaves_else:
                    return out, first | second
                flags = first | second
            elif isinstance(one, (ast.For, ast.While)):
                made, flags = self.loop(one, out)
                out.append(made)
            else:
                out.append(one)
                continue
            if flags:
                if rest:
                    following, more = self.block(rest, stop, skip)
                    out.append(self.guard(flags, following, rest[0]))
                    flags = flags | more
                return out, flags
        return out, set()

    def loop(self, one: ast.For | ast.While, before: list[ast.stmt]) -> tuple[ast.stmt, set[str]]:
        self.count += 1
        stop, skip = f"$break{self.count}", f"$continue{self.count}"
        body, flags = self.block(one.body, stop, skip)
        made = copy.copy(one)
        if skip in flags:
            body.insert(0, self.flag(skip, False, one))
        made.body = body
        made.stops = sorted(flags - {skip})  # type: ignore[union-attr] # the flags that end it
        if stop in flags:
            before.append(self.flag(stop, False, one))
        return made, flags & {"$return"}


def _placed(node: ast.stmt, at: ast.AST) -> ast.stmt:
    for one in ast.walk(node):
        if not hasattr(one, "lineno") and isinstance(one, (ast.stmt, ast.expr)):
            ast.copy_location(one, at)
    return node


def _read(statements: list[ast.stmt]) -> set[str]:
    found = {one.id for statement in statements for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    return found | {flag for statement in statements for one in ast.walk(statement) for flag in getattr(one, "stops", ())}


def _without(statements: list[ast.stmt], names: set[str]) -> list[ast.stmt]:
    """Without assignments to flags that nobody asks for."""
    out = []
    for one in statements:
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and one.targets[0].id in names:
            continue
        for field in ("body", "orelse"):
            if isinstance(one, (ast.If, ast.For, ast.While)):
                setattr(one, field, _without(getattr(one, field), names))
        out.append(one)
    return out


def returns_in_a_loop(function: ast.FunctionDef) -> bool:
    """Whether a value is returned from within a loop."""
    return any(isinstance(one, ast.Return) and one.value is not None for loop in ast.walk(function) if isinstance(loop, (ast.For, ast.While))
               for one in ast.walk(loop))


def always_returns(function: ast.FunctionDef) -> bool:
    """Whether every way through a function ends with `return`."""
    return _leaves(function.body)


def without_exits(function: ast.FunctionDef) -> list[ast.stmt]:
    """The body of a function, without `return`, `break` and `continue`."""
    body, flags = _Rewriter().block(function.body, "$break", "$continue")
    if returns_in_a_loop(function):  # the loop hands it on: something stands there before the first turn, which nobody reads
        body.insert(0, _placed(ast.Assign(targets=[ast.Name(id=VALUE, ctx=ast.Store())], value=ast.Constant(value=0)), function.body[0]))
    if flags:
        body.insert(0, _Rewriter().flag("$return", False, function.body[0]))
    return _without(body, {"$return"} - _read(body))
