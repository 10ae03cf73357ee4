# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tools and devices say, so that it reads well: as text in a terminal, as tables in a notebook.

    program.explain()                        # text that a notebook shows with what was chosen in bold
    with tenon.trace() as t:                 # what ran when, on host and device
        program.f(a, b)
    t                                        # a table; t.save("trace.json") for Perfetto
    error.findings                           # of a tenon.ToolError: place, severity and text of each
"""
from __future__ import annotations

import dataclasses
import html
import json
import os
import pathlib
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ._core.native import Device
from .devices import device as _device


def table_html(header: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """An HTML table; what is in it is escaped."""
    head = "".join(f"<th style='text-align:left'>{html.escape(one)}</th>" for one in header)
    body = "".join("<tr>" + "".join(f"<td style='text-align:left'>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
                   for row in rows)
    return f"<table>{f'<caption>{html.escape(caption)}</caption>' if caption else ''}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def table_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """The same in columns."""
    lines = [list(header), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


class Text(str):
    """What a tool prints. At the prompt it is shown as it is, and not as a string with quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str.__str__(self)

    def _repr_html_(self) -> str:
        lines = []
        for line in self.splitlines():
            shown = html.escape(line)
            if line.startswith("*"):
                shown = f"<b>{shown}</b>"
            elif re.search(r"\berror:", line):
                shown = f"<span style='color:#b00020'>{shown}</span>"
            elif re.search(r"\bwarning:", line):
                shown = f"<span style='color:#8a6d00'>{shown}</span>"
            lines.append(shown)
        return "<pre>" + "\n".join(lines) + "</pre>"


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that a tool has to say: `severity` is error, warning, remark or note. `line` and `column` count from 1; 0: none."""

    severity: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0

    @property
    def place(self) -> str:
        return ":".join(str(one) for one in (self.file, self.line, self.column) if one)

    def __str__(self) -> str:
        return f"{self.place}: {self.severity}: {self.message}" if self.place else f"{self.severity}: {self.message}"


class Findings(tuple[Finding, ...]):
    """All of a tool's findings, in its order."""

    _START = re.compile(r"^(?:(?P<file>[^\s:][^:\n]*?):(?:(?P<line>\d+):)?(?:(?P<column>\d+):)? )?"
                        r"(?P<severity>error|warning|remark|note): (?P<message>.*)$")

    @classmethod
    def of(cls, text: str) -> Findings:
        """Reads a tool's text. Lines that begin no finding belong to the one before them."""
        found: list[dict[str, Any]] = []
        for line in text.splitlines():
            start = cls._START.match(line)
            if start:
                found.append(start.groupdict())
            elif found and line.strip():
                found[-1]["message"] += "\n" + line
        return cls(Finding(one["severity"], one["message"], one["file"] or "", int(one["line"] or 0), int(one["column"] or 0))
                   for one in found)

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or "no findings"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td style='text-align:left'><code>{html.escape(one.place)}</code></td><td>{html.escape(one.severity)}</td>"
            f"<td style='text-align:left'><pre>{html.escape(one.message)}</pre></td></tr>" for one in self)
        return f"<table><thead><tr><th>place</th><th>severity</th><th>finding</th></tr></thead><tbody>{rows}</tbody></table>"


@dataclasses.dataclass(frozen=True)
class Event:
    """A stretch of time, in microseconds since tracing began. `where` is the host or the device; `kind` is call, load, dispatch,
    copy, fill or the like; `details` what else is known."""

    where: str
    kind: str
    name: str
    begin_us: float
    duration_us: float
    details: dict[str, Any]


_traced: set[str] = set()


class Trace:
    """What ran in a `with tenon.trace()` block. While it records, a call waits for its commands and uses no CUDA graph."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.events: tuple[Event, ...] = ()
        self._json = ""

    def __enter__(self) -> Trace:
        if self.device.name in _traced:
            raise RuntimeError(f"{self.device.name} is traced already: a trace within a trace would end the one around it")
        self.device.trace_begin()
        _traced.add(self.device.name)
        return self

    def __exit__(self, *_: Any) -> None:
        try:
            with tempfile.TemporaryDirectory(prefix="tenon-trace-") as folder:
                path = pathlib.Path(folder) / "trace.json"
                self.device.wait()
                self.device.trace_write(str(path))
                self._json = path.read_text()
        finally:
            _traced.discard(self.device.name)
            self.device.trace_end()
        records = json.loads(self._json)
        places = {one["pid"]: one["args"]["name"] for one in records if one.get("name") == "process_name"}
        self.events = tuple(sorted(
            (Event(places.get(one["pid"], ""), one.get("cat", ""), one["name"], one["ts"], one["dur"], one.get("args", {}))
             for one in records if one.get("ph") == "X"), key=lambda event: event.begin_us))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file for Perfetto or chrome://tracing."""
        pathlib.Path(path).write_text(self._json)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def __repr__(self) -> str:
        if not self.events:
            return "an empty trace"
        return table_text(("begin us", "us", "where", "kind", "name"), (
            (f"{one.begin_us:.1f}", f"{one.duration_us:.1f}", one.where, one.kind, one.name) for one in self.events))

    def _repr_html_(self) -> str:
        begin = min((one.begin_us for one in self.events), default=0.0)
        whole = max((one.begin_us + one.duration_us for one in self.events), default=0.0) - begin or 1.0
        rows = []
        for one in self.events:
            left, width = 100 * (one.begin_us - begin) / whole, max(100 * one.duration_us / whole, 0.5)
            bar = (f"<div style='width:300px'><div style='margin-left:{min(left, 99.5):.1f}%;width:{min(width, 100 - min(left, 99.5)):.1f}%;"
                   f"height:10px;background:#4a7ebb'></div></div>")
            title = html.escape(", ".join(f"{name}: {value}" for name, value in one.details.items() if value != ""), quote=True)
            rows.append(f'<tr title="{title}"><td>{bar}</td><td>{one.duration_us:.1f} us</td><td>{html.escape(one.where)}</td>'
                        f"<td>{html.escape(one.kind)}</td><td style='text-align:left'><code>{html.escape(one.name)}</code></td></tr>")
        return f"<table><thead><tr><th>{whole:.1f} us</th><th>took</th><th>where</th><th>kind</th><th>name</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"


def trace(device: str | Device | None = None) -> Trace:
    """Records what runs in a `with` block on a device; left out: the one that is used by default."""
    return Trace(_device(device))
