# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is wrong with a kernel, at a line of Python."""
from __future__ import annotations

import dataclasses
import linecache

from .._core.native import Error


@dataclasses.dataclass(frozen=True)
class Place:
    """A place of a Python file. `line` and `column` count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class KernelError(Error):
    """A kernel says what tenon.gpu does not take: `place`, `found` (with what was wanted), and `fix`.

    The text is laid out as the tools lay out theirs: place, found and wanted, the line of Python, the fix.
    """

    def __init__(self, place: Place | None, found: str, fix: str = "") -> None:
        lines = [f"{place}: error: {found}" if place else f"error: {found}"]
        source = linecache.getline(place.file, place.line).rstrip() if place else ""
        if place and source:
            lines += [f"  {source}", " " * (place.column + 1) + "^"]
        if fix:
            lines.append(f"  fix: {fix}")
        super().__init__("\n".join(lines))
        self.code = "failed precondition"
        self.place, self.found, self.fix = place, found, fix
