# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of one kernel: operations of MLIR, line by line, each with its place in Python.

Values are strings, what MLIR calls them. Constants, thread numbers, arrays of registers and shared memory stand in front of the
body, whatever line asks for them.
"""
from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from .errors import KernelError, Place
from .kinds import Scalar, encode

STATIC_SHARED_BYTES = 48 * 1024  # more is dynamic: what a launch asks for
_MOST_OPERATIONS = 500_000  # tried ones among them
_PURE = ("arith.", "math.", "vector.", "llvm.getelementptr", "llvm.bitcast", "llvm.ptrtoint", "llvm.extractvalue", 'llvm.call_intrinsic "llvm.fptosi')


@dataclasses.dataclass(frozen=True)
class Needed:
    """The architecture that something needs, and where it stands. `is_only`: sm_NNa alone has it, no later one."""

    architecture: int = 0
    what: str = ""
    is_only: bool = False
    place: Place | None = None


@dataclasses.dataclass(frozen=True)
class Mapped:
    """A tensor map, which is a parameter behind those of the signature: of which array, for which tiles."""

    name: str
    array: str
    element: Scalar
    box: tuple[int, ...]
    swizzle: int
    rounds_to_tf32: bool


@dataclasses.dataclass
class Shared:
    """A block's array: `bytes`, and where it begins (`align`)."""

    name: str
    bytes: int
    align: int


class Builder:
    """What is written so far. `place` is where the interpreter stands."""

    def __init__(self, name: str, block: tuple[int, int, int], cluster: tuple[int, int, int] = (1, 1, 1),
                 min_blocks: int | None = None) -> None:
        self.name, self.block, self.cluster, self.min_blocks = name, block, cluster, min_blocks
        self.place: Place | None = None
        self.lines: list[str] = []
        self.depth = 2
        self.count = 0
        self.front: dict[str, tuple[str, str]] = {}  # operation -> (name, line)
        self.known: list[dict[str, str]] = [{}]  # of each region around: operations that give the same again
        self.locals: list[str] = []
        self.shared: list[Shared] = []
        self.alignments: dict[str, int] = {}  # bytes that a parameter must be a multiple of
        self.needed = Needed()
        self.maps: list[Mapped] = []
        self.sums: list[Any] = []  # what wgmma adds to
        # Sums that a wgmma may still be adding to, by their number: at least so many wgmmas were begun behind the last of them.
        self.flying: dict[int, int] = {}

    def error(self, found: str, fix: str = "") -> KernelError:
        return KernelError(self.place, found, fix)

    def need(self, architecture: int, what: str, is_only: bool = False) -> None:
        """Something needs sm_NN or later; `is_only`: sm_NNa and no other."""
        if (architecture, is_only) > (self.needed.architecture, self.needed.is_only):
            self.needed = Needed(architecture, what, is_only, self.place)

    def _where(self) -> str:
        if self.place is None:
            return ""
        name = pathlib.PurePath(self.place.file).name.replace("\\", "\\\\").replace('"', '\\"')
        return f' loc("{name}":{self.place.line}:{self.place.column})'

    def fresh(self) -> str:
        self.count += 1
        if self.count > _MOST_OPERATIONS:
            raise self.error(f"the kernel has more than {_MOST_OPERATIONS} operations", "write loops with range(...), which are the kernel's own")
        return f"%{self.count}"

    def line(self, text: str, placed: bool = True) -> None:
        self.lines.append("  " * self.depth + text + (self._where() if placed else ""))

    def op(self, text: str) -> str:
        """An operation with one result. Asked for again, what only computes is what it was."""
        is_pure = text.startswith(_PURE)
        if is_pure:
            for region in self.known:
                if text in region:
                    return region[text]
        name = self.fresh()
        self.line(f"{name} = {text}")
        if is_pure:
            self.known[-1][text] = name
        return name

    def assembly(self, text: str, operands: Sequence[tuple[str, str, str]] = (), results: Sequence[tuple[str, str]] = (),
                 tied: Sequence[str] = ()) -> list[str]:
        """PTX as it stands, in which $0, $1 ... are the results, then the operands: (name, type, constraint) each, results
        (type, constraint). `tied`: values that the first results are made of, in their registers. The names of the results.

        It has effects, so it stays where it is; memory is another behind it.
        """
        constraints = [f"={constraint}" for _, constraint in results] + [constraint for *_, constraint in operands] + [str(at) for at in range(len(tied))]
        names = [name for name, *_ in operands] + list(tied)
        types = [kind for _, kind, _ in operands] + [kind for (kind, _), _ in zip(results, tied)]
        made = [kind for kind, _ in results]
        given = "()" if not made else made[0] if len(made) == 1 else f"!llvm.struct<({', '.join(made)})>"
        text = text.replace("\n", "\\0A")
        written = (f'llvm.inline_asm has_side_effects asm_dialect = att "{text}", "{",".join([*constraints, "~{memory}"])}" '
                   f"{', '.join(names)}{' ' if names else ''}: ({', '.join(types)}) -> {given}")
        if not made:
            self.line(written)
            return []
        name = self.fresh()
        self.line(f"{name} = {written}")
        return [name] if len(made) == 1 else [self.op(f"llvm.extractvalue {name}[{at}] : {given}") for at in range(len(made))]

    def map_tensor(self, one: Mapped) -> str:
        """The parameter of a tensor map; asked for again, the same."""
        if one not in self.maps:
            self.maps.append(one)
        return f"%map.{one.name}"  # which no parameter is called

    def once(self, text: str) -> str:
        """An operation that stands in front of the body, once."""
        if text not in self.front:
            name = self.fresh()
            self.front[text] = (name, f"    {name} = {text}")
        return self.front[text][0]

    def constant(self, number: Any, type: Scalar) -> str:
        if type.kind == "float":
            return self.once(f"arith.constant 0x{encode(type, number):0{type.bits // 4}X} : {type.mlir}")
        if type.kind == "bool":
            return self.once(f"arith.constant {'true' if number else 'false'}")
        return self.once(f"arith.constant {int(number)} : {type.mlir}")

    def local(self, bytes: int, align: int) -> str:
        """Memory of one thread, which LLVM keeps in registers where every index is a constant."""
        count, name = self.constant_name(bytes), self.fresh()
        self.locals.append(f"    {name} = llvm.alloca {count} x i8 {{alignment = {align} : i64}} : (i64) -> !llvm.ptr")
        return name

    def constant_name(self, number: int) -> str:
        return self.once(f"arith.constant {number} : i64")

    def share(self, bytes: int, align: int) -> str:
        one = Shared(f"{self.name}_shared_{len(self.shared)}", bytes, align)
        self.shared.append(one)
        return f"%at.{one.name}"

    def align_shared(self, pointer: str, align: int) -> None:
        """A block's array begins at a multiple of this as well."""
        for one in self.shared:
            if f"%at.{one.name}" == pointer:
                one.align = max(one.align, align)

    @contextlib.contextmanager
    def region(self) -> Iterator[list[str]]:
        """What is written within stands in the list, not in the body."""
        outer, self.lines = self.lines, []
        self.depth += 1
        self.known.append({})
        try:
            yield self.lines
        finally:
            self.lines = outer
            self.known.pop()
            self.depth -= 1

    def snapshot(self) -> Any:
        return (len(self.lines), [dict(one) for one in self.known],
                dict(self.front), list(self.locals), list(self.shared), dict(self.alignments), list(self.maps), list(self.sums),
                dict(self.flying))

    def restore(self, state: Any) -> None:
        """Takes back what was written since: a loop's body is tried again with other types."""
        length, self.known, self.front, self.locals, self.shared, self.alignments, self.maps, self.sums, self.flying = state
        del self.lines[length:]

    # The function around it.
    def dynamic_shared_bytes(self) -> int:
        """Bytes that a launch asks for: 0 while everything fits what is static."""
        total = 0
        for one in self.shared:
            total = -(-total // one.align) * one.align + one.bytes
        return total if total > STATIC_SHARED_BYTES else 0

    def function(self, parameters: str) -> str:
        """The kernel and its globals, as they stand in a gpu.module."""
        dynamic = self.dynamic_shared_bytes()
        out, addresses, offset = [], [], 0
        if dynamic:
            align = max([128, *(one.align for one in self.shared)])
            out.append(f"  llvm.mlir.global external @{self.name}_shared() {{addr_space = 3 : i32, alignment = {align} : i64}} : "
                       "!llvm.array<0 x i8>")
        for one in self.shared:
            if dynamic:
                offset = -(-offset // one.align) * one.align
                addresses += [f"    %base.{one.name} = llvm.mlir.addressof @{self.name}_shared : !llvm.ptr<3>",
                              f"    %at.{one.name} = llvm.getelementptr %base.{one.name}[{offset}] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8"]
                offset += one.bytes
            else:
                out.append(f"  llvm.mlir.global internal @{one.name}() {{addr_space = 3 : i32, alignment = {one.align} : i64}} : "
                           f"!llvm.array<{one.bytes} x i8>")
                addresses.append(f"    %at.{one.name} = llvm.mlir.addressof @{one.name} : !llvm.ptr<3>")
        sizes = ", ".join(map(str, self.block))
        # A gpu.func passes no struct by value and knows of no clusters.
        is_plain = not self.maps and self.cluster == (1, 1, 1)
        bounds = f", nvvm.minctasm = {self.min_blocks} : i32" if self.min_blocks else ""
        if is_plain:
            out.append(f"  gpu.func @{self.name}({parameters}) kernel attributes {{known_block_size = array<i32: {sizes}>{bounds}}} {{")
        else:
            cluster = f", nvvm.cluster_dim = array<i32: {', '.join(map(str, self.cluster))}>" if self.cluster != (1, 1, 1) else ""
            passed = "!llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}"
            parameters = ", ".join([*([parameters] if parameters else []), *(f"%map.{one.name}: {passed}" for one in self.maps)])
            out.append(f"  llvm.func @{self.name}({parameters}) attributes {{nvvm.kernel, nvvm.reqntid = array<i32: {sizes}>{bounds}{cluster}}} {{")
        out += addresses + [line for _, line in self.front.values()] + self.locals + self.lines
        out += ["    gpu.return" if is_plain else "    llvm.return", "  }"]
        return "\n".join(out)


class _Active(threading.local):
    def __init__(self) -> None:
        self.interpreters: list[Any] = []


_active = _Active()


def current(what: str = "this") -> Any:
    """The interpreter that runs a kernel's body in this thread. TypeError: none does."""
    if not _active.interpreters:
        raise TypeError(f"{what} means something in the body of a @gpu.kernel only")
    return _active.interpreters[-1]


@contextlib.contextmanager
def active(interpreter: Any) -> Iterator[None]:
    _active.interpreters.append(interpreter)
    try:
        yield
    finally:
        _active.interpreters.pop()
