# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches and loops whose course is known only when the kernel runs, as scf.if, scf.for and scf.while.

What runs in them is given as functions, which the interpreter runs once for each region; variables are those of its `env`.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .arithmetic import as_value, binary, widen
from .builder import Builder
from .carried import Carried, as_type, joined, parts, rebuild, same
from .kinds import Type, i64
from .value import Unbound, Value, bounded

Run = Callable[[], Any]
_UNSET = Unbound("")


def _either(one: dict[int, int], other: dict[int, int]) -> dict[int, int]:
    """Products that may be on their way (`Builder.flying`) where two ways meet: those of both, the later begun of each."""
    return {number: min(given[number] for given in (one, other) if number in given) for number in {**one, **other}}


class Flow:
    """Part of the interpreter: `b` writes, `env` holds the variables."""

    b: Builder
    env: dict[str, Any]
    leaving: dict[int, int]

    def _line(self) -> int:
        return self.b.place.line if self.b.place else 0

    def _yield(self, values: list[Value]) -> None:
        if values:
            self.b.line(f"scf.yield {', '.join(one.name for one in values)} : {', '.join(one.type.mlir for one in values)}")

    def _results(self, text: str, types: list[Type]) -> list[str]:
        """The begin of an operation with regions, and what its results are called."""
        if not types:
            self.b.line(f"{text} {{", placed=False)
            return []
        name = self.b.fresh()
        self.b.line(f"{name}:{len(types)} = {text} {{", placed=False)
        return [f"{name}#{at}" for at in range(len(types))]

    def branch(self, condition: Value, then: Run, otherwise: Run, names: set[str]) -> Any:
        """An `if`. Both ways may give a value, which `if` as an expression is."""
        b, line, place, outer = self.b, self._line(), self.b.place, self.env
        ways: list[tuple[dict[str, Any], Any, list[str]]] = []
        flying, behind = b.flying, []
        for way in (then, otherwise):
            b.flying = dict(flying)
            with b.region() as lines:
                self.env = dict(outer)
                try:
                    given = way()
                    ways.append((self.env, given, lines))
                    behind.append(b.flying)
                finally:
                    self.env = outer
        b.place, b.flying = place, _either(*behind)
        (first, left, _), (second, right, _) = ways
        names_set = sorted(one for one in names if one in first or one in second)
        both = {name: (first.get(name, _UNSET), second.get(name, _UNSET)) for name in names_set}
        both["$given"] = (left, right)
        found: dict[str, Any] = {}
        carried: list[tuple[str, Any, list[Any], list[Any], list[Type]]] = []
        for name, (x, y) in both.items():
            if same(x, y):
                found[name] = x
                continue
            types = joined(name, line, x, y)
            if isinstance(types, Unbound):
                if name == "$given":
                    raise b.error(types.why.replace("'$given'", "the value"), types.fix)
                found[name] = types
            else:
                carried.append((name, x, parts(x) or [], parts(y) or [], types))
        all_types = [one for *_, types in carried for one in types]
        for number, (_, _, lines) in enumerate(ways):
            with b.region() as tail:
                self._yield([as_type(b, part, kind) for one in carried for part, kind in zip(one[2 + number], one[4])])
            lines += tail
        text = f"scf.if {condition.name}" + (f" -> ({', '.join(one.mlir for one in all_types)})" if all_types else "")
        results = self._results(text, all_types)
        b.lines += ways[0][2]
        if ways[1][2] or all_types:
            b.line("} else {", placed=False)
            b.lines += ways[1][2]
        b.line("}")
        at = 0
        for name, x, left_parts, right_parts, types in carried:
            values = []
            for l, r, kind in zip(left_parts, right_parts, types):
                (l0, h0), (l1, h1) = (one.bounds if isinstance(one, Value) else (int(one), int(one)) for one in (l, r)) if getattr(
                    kind, "kind", "") == "int" else ((0, 0), (0, 0))
                values.append(bounded(results[at], kind, min(l0, l1), max(h0, h1)) if getattr(kind, "kind", "") == "int" else Value(results[at], kind))
                at += 1
            found[name] = rebuild(x, values)
        given = found.pop("$given")
        self.env.update(found)
        return given

    def _carry(self, names: set[str], poisoned: dict[str, Unbound]) -> list[Carried]:
        """The variables that a loop hands on; what else it sets has no value at its begin."""
        carried = []
        for name in sorted(names):
            if name not in self.env or name in poisoned or isinstance(self.env[name], Unbound):
                continue
            one = Carried.of(name, self.env[name])
            if one is not None:
                carried.append(one)
        return carried

    def _loop(self, names: set[str], write: Callable[[list[Carried], list[Value], dict[str, Unbound]], tuple[list[str], dict[str, Any]] | None]) -> None:
        """Tries a loop until the types of what it hands on hold, then sets the variables behind it. `write` leaves in `b.flying` what may be on
        its way at a turn's end, and in `leaving` what may be where the loop ends."""
        b, line, before = self.b, self._line(), self.env
        place = b.place
        poisoned: dict[str, Unbound] = {}
        carried = self._carry(names, poisoned)
        flying, tries = b.flying, 4 * len(names) + 4
        while True:
            state = b.snapshot()
            b.flying = dict(flying)
            b.place = place
            carried = [one for one in carried if one.name not in poisoned]
            initial: list[Value] = []
            for one in carried:
                values = one.initial(b)
                assert values is not None
                initial += values
            try:
                self.env = dict(before)
                self.env.update(poisoned)
                results = write(carried, initial, poisoned)
            finally:
                self.env = before
            begin = flying
            if results is not None:  # a turn also begins with what is on its way at a turn's end: more each time, and never much
                flying = _either(flying, b.flying)
                if flying == begin:
                    break
            b.restore(state)
            tries -= results is None
            if not tries:
                raise b.error("the types of the loop's variables do not settle", "say them before the loop, as in x = f32(0)")
        b.place, b.flying = place, self.leaving
        names_of_results, last = results
        after: dict[str, Any] = {}
        at = 0
        for one in carried:
            count = len(one.types)
            after[one.name] = rebuild(one.before, [Value(name, kind) for name, kind in zip(names_of_results[at:at + count], one.types)])
            at += count
        for name in names:
            if name in after:
                continue
            if name in poisoned:
                after[name] = poisoned[name]
            elif name in before and name in last and same(before[name], last[name]):
                continue
            else:
                after[name] = Unbound(f"'{name}' is set in the loop of line {line} only, which may have no turn", "set it before the loop")
        self.env.update(after)

    def _enter(self, carried: list[Carried], prefix: str) -> list[str]:
        """Gives each variable that is handed on a name of this turn; the names."""
        number = self.b.fresh()[1:]
        made: list[str] = []
        for one in carried:
            values = []
            for kind in one.types:
                made.append(f"%{prefix}.{number}.{len(made)}")
                values.append(Value(made[-1], kind))
            self.env[one.name] = rebuild(one.before, values)
        return made

    def _hand_on(self, carried: list[Carried], poisoned: dict[str, Unbound], before: dict[str, Any], names: set[str], line: int) -> list[Value] | None:
        """What a turn leaves; None: other types are to be tried."""
        out: list[Value] = []
        is_other = False
        for one in carried:
            found = one.after(self.env.get(one.name, _UNSET), line)
            if isinstance(found, Unbound):
                poisoned[one.name] = found
                is_other = True
            elif found is None:
                is_other = True
            elif not is_other:
                out += [as_type(self.b, part, kind) for part, kind in zip(found, one.types)]
        kept = {one.name for one in carried}
        for name in names - kept - set(poisoned):
            # An array, a function or the like, which the turn makes another one: the next turn does not begin with the first.
            if name in before and not isinstance(before[name], Unbound) and not same(before[name], self.env.get(name, _UNSET)):
                poisoned[name] = Unbound(f"'{name}' is another array or object after a turn of the loop of line {line} than before it",
                                         "set it in the loop, before it is used there")
                is_other = True
        return None if is_other else out

    def count(self, start: Any, stop: Any, step: Any, names: set[str], body: Callable[[Value], None]) -> None:
        """`for i in range(start, stop, step)`: a counter of 64 bits, whatever start and stop have."""
        b, before, line = self.b, self.env, self._line()
        begin, end = (widen(b, as_value(b, one), i64) for one in (start, stop))
        goes_up = isinstance(step, Value) or step > 0
        low, high = (begin.bounds[0], end.bounds[1] - 1) if goes_up else (end.bounds[0] + 1, begin.bounds[1])
        if goes_up:
            bounds = (begin, end, widen(b, step, i64).name if isinstance(step, Value) else b.constant(step, i64))
        else:  # scf.for counts up: turns are counted
            span = binary(b, "-", begin, end)
            turns = binary(b, "//", binary(b, "+", span, -step - 1), -step)
            bounds = (as_value(b, 0), turns, b.constant(1, i64))
            bounds = (widen(b, bounds[0], i64), bounds[1], bounds[2])

        def write(carried: list[Carried], initial: list[Value], poisoned: dict[str, Unbound]) -> Any:
            made = self._enter(carried, "a")
            counter = f"%i.{b.fresh()[1:]}"
            place, at_begin = b.place, dict(b.flying)
            with b.region() as lines:
                if goes_up:
                    index = bounded(counter, i64, low, max(low, high))
                else:
                    moved = binary(b, "*", Value(counter, i64), step)
                    index = bounded(binary(b, "+", begin, moved).name, i64, min(low, high), high)
                body(index)
                b.place = place
                last = self.env
                following = self._hand_on(carried, poisoned, before, names, line)
                if following is None:
                    return None
                self._yield(following)
            types = [kind for one in carried for kind in one.types]
            given = ", ".join(f"{name} = {value.name}" for name, value in zip(made, initial))
            text = f"scf.for {counter} = {bounds[0].name} to {bounds[1].name} step {bounds[2]}"
            if types:
                text += f" iter_args({given}) -> ({', '.join(one.mlir for one in types)})"
            results = self._results(text + " : i64", types)
            b.lines += lines
            b.line("}")
            self.leaving = at_begin  # a turn's end is the next one's begin
            return results, last

        self._loop(names, write)

    def repeat(self, names: set[str], test: Callable[[], Value], body: Run) -> None:
        """`while test: body`."""
        b, before, line = self.b, self.env, self._line()

        def write(carried: list[Carried], initial: list[Value], poisoned: dict[str, Unbound]) -> Any:
            place = b.place
            types = [kind for one in carried for kind in one.types]
            listed = ", ".join(one.mlir for one in types)
            heads = self._enter(carried, "a")
            with b.region() as asked:
                condition = test()
                b.place = place
                b.line(f"scf.condition({condition.name})" + (f" {', '.join(heads)} : {listed}" if types else ""))
            leaving = dict(b.flying)
            made = self._enter(carried, "b")
            with b.region() as lines:
                body()
                b.place = place
                last = self.env
                following = self._hand_on(carried, poisoned, before, names, line)
                if following is None:
                    return None
                if following:
                    self._yield(following)
                else:
                    b.line("scf.yield")
            given = ", ".join(f"{name} = {value.name}" for name, value in zip(heads, initial))
            text = (f"scf.while ({given}) : ({listed}) -> ({listed})" if types else "scf.while : () -> ()")
            results = self._results(text, types)
            b.lines += asked
            b.line("} do {", placed=False)
            if types:
                b.line(f"^bb0({', '.join(f'{name}: {kind.mlir}' for name, kind in zip(made, types))}):", placed=False)
            b.lines += lines
            b.line("}")
            self.leaving = leaving
            return results, last

        self._loop(names, write)

    def both(self, first: Value, second: Callable[[], Any], is_and: bool) -> Any:
        """`first and second()`, or with `or`: the second is asked only where the first does not decide."""
        other: Run = lambda: not is_and  # noqa: E731
        return self.branch(first, second, other, set()) if is_and else self.branch(first, other, second, set())
