# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of kernels that need no GPU: every case runs under tenon-check-kernel, between guards, with the emulator looking for
races, accesses out of bounds and memory that nobody wrote, and its outputs are compared with a NumPy function.

    @tenon.check(saxpy, sizes={"n": [1, 31, 32, 1000]}, values={"a": 2.5})
    def test_saxpy(x, y, a, n):
        return y + a * x

A size is a constant of that name, and an extent in `shapes`. Bindings that the function takes by name are inputs; it
returns what the written ones must hold, in the kernel's order.
"""
from __future__ import annotations

import inspect
import itertools
import operator
import os
import pathlib
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ._core.native import Kernel
from .devices import device as _device
from .reflection import KernelInfo
from .toolchain import run_tool

_TYPES = {"i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "f16": "float16", "f32": "float32",
          "f64": "float64"}
_EXPRESSION = re.compile(r"[A-Za-z0-9_+\-*/() ,]*")


def _evaluate(expression: str, sizes: Mapping[str, int]) -> int:
    """An extent: a number, a size, or arithmetic with ceildiv, min and max, as the tool has it."""
    if not _EXPRESSION.fullmatch(expression):
        raise ValueError(f"{expression!r} is no expression of sizes")
    names: dict[str, Any] = {**sizes, "ceildiv": lambda a, b: -(-a // b), "min": min, "max": max}
    try:
        return int(eval(re.sub("/+", "//", expression), {"__builtins__": {}}, names))
    except Exception as error:
        said = error.msg if isinstance(error, SyntaxError) else error
        raise ValueError(f"{expression!r} is no expression of the sizes {', '.join(sizes) or '(there are none)'}: {said}") from None


def _listed(sizes: Any) -> dict[str, list[int]]:
    """The numbers to try for each size."""
    if not isinstance(sizes, Mapping):
        raise ValueError(f"sizes is {sizes!r}; wanted: a dict, as in sizes={{'n': [1, 31, 1000]}}")
    out: dict[str, list[int]] = {}
    for name, given in sizes.items():
        try:
            out[name] = [operator.index(one) for one in given]
        except TypeError:
            raise ValueError(f"sizes: '{name}' is {given!r}; wanted: the numbers to try, as in sizes={{'{name}': [1, 31, 1000]}}") from None
    return out


class _Check:
    """What every case of one test shares."""

    def __init__(self, kernel: Kernel, reference: Callable[..., Any] | None, shapes: Mapping[str, Any],
                 values: Mapping[str, Any], sizes: Mapping[str, Iterable[int]], grid: str | None, tolerance: float | None,
                 partial: Iterable[str], seed: int) -> None:
        if kernel.meta is None:
            raise ValueError("tenon.check takes a kernel of tenon.cuda_kernel or tenon.gpu, which knows its elements")
        self.kernel, self.reference, self.shapes, self.values = kernel, reference, shapes, values
        self.grid, self.tolerance, self.partial, self.seed = grid, tolerance, set(partial), seed
        self.info = KernelInfo.of(kernel)
        self.sizes = _listed(sizes)
        names = {one.name for one in self.info.parameters}
        for what, given in (("shapes", shapes), ("values", values), ("partial", self.partial)):
            if set(given) - names:
                raise ValueError(f"{what}: kernel '{self.info.name}' has no parameter {', '.join(sorted(set(given) - names))}; "
                                 f"there are {', '.join(sorted(names))}")
        self.taken = set(inspect.signature(reference).parameters) if reference else set()
        if self.taken - names - set(sizes):
            raise ValueError(f"the reference takes {', '.join(sorted(self.taken - names - set(sizes)))}, which is no parameter "
                             f"of kernel '{self.info.name}' and no size")

    def extents(self, name: str, sizes: Mapping[str, int]) -> tuple[list[str], tuple[int, ...]]:
        given = self.shapes.get(name, getattr(self.kernel.meta, "shapes", {}).get(name))
        if given is None:
            if not sizes:
                raise ValueError(f"shapes: what is the shape of '{name}'? There are no sizes: sizes={{'n': [1, 32, 1000]}}")
            if len(sizes) != 1:
                raise ValueError(f"shapes: what is the shape of '{name}'? There are several sizes: {', '.join(sizes)}")
            given = (next(iter(sizes)),)
        listed = [str(one) for one in (given if isinstance(given, (tuple, list)) else (given,))]
        shape = tuple(_evaluate(one, sizes) for one in listed)
        if any(one < 0 for one in shape):
            where = ", ".join(f"{size}={value}" for size, value in sizes.items())
            raise ValueError(f"the shape of '{name}' is {shape} with {where}; wanted: numbers from 0 on")
        return listed, shape

    def run(self, sizes: Mapping[str, int], device: str, architecture: str | None) -> str:
        """Runs a case; gives the tool's table. AssertionError with it: a check failed."""
        __tracebackhide__ = True
        import numpy

        random = numpy.random.default_rng(self.seed)
        inputs: dict[str, Any] = {}
        arguments: list[str] = []
        written: list[tuple[str, Any, tuple[int, ...]]] = []
        with tempfile.TemporaryDirectory(prefix="tenon-check-") as folder:
            for one in self.info.parameters:
                if one.kind != "binding":
                    arguments.append(f"--constant={self._constant(one, sizes, inputs)}")
                    continue
                listed, shape = self.extents(one.name, sizes)
                if one.element not in _TYPES:
                    raise ValueError(f"NumPy has no elements for '{one.name}' ({one.element})")
                kind = numpy.dtype(_TYPES[one.element])
                spelled = "".join(f"({text})x" if not text.isalnum() else f"{text}x" for text in listed) + one.element
                is_input = one.read_only or one.name in self.taken
                if not one.read_only:
                    written.append((one.name, kind, shape))
                    spelled = f"{'inout ' if is_input else ''}{'partial ' if one.name in self.partial else ''}{spelled}"
                if is_input:
                    inputs[one.name] = self._contents(random, one.name, kind, shape, sizes)
                    numpy.save(pathlib.Path(folder) / f"{one.name}.npy", inputs[one.name])
                    spelled += f"=@{folder}/{one.name}.npy"
                arguments.append(f"--binding={spelled}")
            arguments += [f"--size={name}={value}" for name, value in sizes.items()]
            if self.reference is not None:
                arguments.append("--reference=" + ", ".join(self._expected(folder, inputs, sizes, written)))
            if self.tolerance is not None:
                for element in {one.element for one in self.info.parameters if one.element in ("f16", "f32", "f64")}:
                    arguments.append(f"--tolerance={element}={self.tolerance}")
            own = getattr(self.kernel.meta, "grid", None)
            if self.grid is not None:
                arguments.append(f"--grid={self.grid}")
            elif own is not None:
                arguments.append(f"--grid={','.join(map(str, own))}")
            environment = {"TENON_EMULATOR_QUIET": "1"}
            if architecture is not None:
                environment["TENON_EMULATOR_SM"] = architecture
            done = run_tool("tenon-check-kernel", [self.kernel.meta.executable, f"--export={self.info.name}", f"--device={device}",
                                                   *arguments], environment=environment, allowed=(0, 1))
        if done.returncode:
            said = done.stdout.strip() or done.stderr.strip()
            where = ", ".join(f"{name}={value}" for name, value in sizes.items())
            raise AssertionError(f"kernel '{self.info.name}' with {where} on {device}:\n{said}")
        return done.stdout

    def _constant(self, one: Any, sizes: Mapping[str, int], inputs: dict[str, Any]) -> str:
        value = self.values.get(one.name, sizes.get(one.name))
        if value is None:
            raise ValueError(f"values: what is '{one.name}' of kernel '{self.info.name}'?")
        if isinstance(value, str):
            value = _evaluate(value, sizes)
        inputs[one.name] = value
        return str(int(value) if isinstance(value, bool) else value)

    def _contents(self, random: Any, name: str, kind: Any, shape: tuple[int, ...], sizes: Mapping[str, int]) -> Any:
        import numpy

        given = self.values.get(name)
        if callable(given):
            made = numpy.asarray(given(shape), kind)
        elif given is not None:
            array = numpy.asarray(given, kind)
            try:
                made = numpy.broadcast_to(array, shape)
            except ValueError:
                raise ValueError(f"values: '{name}' has the shape {array.shape}, which is not made into {shape}") from None
        elif kind.kind == "f":
            made = random.uniform(-1, 1, shape).astype(kind)
        elif kind.kind == "b":
            made = random.integers(0, 2, shape).astype(kind)
        else:
            made = random.integers(-100, 100, shape).astype(kind)
        if made.shape != shape:
            raise ValueError(f"values: '{name}' has shape {made.shape}, expected {shape}")
        return numpy.ascontiguousarray(made)

    def _expected(self, folder: str, inputs: dict[str, Any], sizes: Mapping[str, int], written: Sequence[Any]) -> list[str]:
        import numpy

        assert self.reference is not None
        known = {**sizes, **{name: value.copy() if hasattr(value, "copy") else value for name, value in inputs.items()}}
        given = self.reference(**{name: known[name] for name in self.taken})
        if given is None and written:
            raise ValueError(f"the reference returns None; wanted: what {', '.join(name for name, _, _ in written)} must hold")
        results = given if isinstance(given, tuple) else (given,)
        if len(results) != len(written):
            raise ValueError(f"the reference returns {len(results)} arrays, kernel '{self.info.name}' writes {len(written)}: "
                             f"{', '.join(name for name, _, _ in written)}")
        files = []
        for (name, kind, shape), result in zip(written, results):
            array = numpy.ascontiguousarray(numpy.asarray(result).astype(kind))
            if array.shape != shape:
                raise ValueError(f"the reference's '{name}' has shape {array.shape}, the kernel's {shape}")
            path = pathlib.Path(folder) / f"{name}-expected.npy"
            numpy.save(path, array)
            files.append(f"@{path}")
        return files


def _devices(kernel: Kernel, architectures: Iterable[str] | None, devices: Iterable[str] | None) -> list[tuple[str, str | None]]:
    chosen = list(devices) if devices is not None else os.environ.get("TENON_CHECK_DEVICES", "").split(",")
    if not any(chosen):
        chosen = ["emulator"] + ([] if _device().is_emulator else ["cuda"])
    targets = list(architectures) if architectures is not None else list(kernel.meta.targets)
    numbers = [re.sub(r"^(sm_|compute_)", "", target).rstrip("af") for target in targets]
    return [(one, number) for one in chosen for number in (dict.fromkeys(numbers) if one == "emulator" else [None])]


def check(kernel: Any, *, sizes: Mapping[str, Iterable[int]] | None = None, shapes: Mapping[str, Any] | None = None,
          values: Mapping[str, Any] | None = None, reference: Callable[..., Any] | None = None, grid: str | None = None,
          architectures: Iterable[str] | None = None, devices: Iterable[str] | None = None,
          tolerance: float | None = None, partial: Iterable[str] = (), seed: int = 1) -> Callable[[Callable[..., Any]], Any]:
    """Makes a pytest test of a kernel (of tenon.cuda_kernel, or one of tenon.gpu whose sizes are known): one case for every combination of sizes, on each emulated architecture (those that
    the kernel is built for) and on the GPU where there is one.

    The decorated function is the reference, unless `reference` is one; then it runs behind the checks. `shapes`: extents of
    each binding, "n" or ("m", "2*n"); left out where there is one size. `values`: constants, and contents of bindings
    (a number, an array or a function of the shape); left out: a size of that name, random contents. `grid`: workgroups,
    "ceildiv(n, 128)"; left out: a thread for each element of the first output. `partial`: bindings of which only some
    elements are written. A kernel of tenon.gpu says its own shapes and grid; `architectures` are then those that it is compiled for.
    $TENON_CHECK_DEVICES: "emulator", "cuda" or both.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        extents = _listed(sizes or {})
        listed = list(architectures) if architectures is not None else None
        built = kernel.load(listed and [one if one.startswith(("sm_", "compute_")) else f"sm_{one}" for one in listed]) if hasattr(
            kernel, "load") else kernel
        shared = _Check(built, reference or function, shapes or {}, values or {}, extents, grid, tolerance, partial, seed)
        combined = [dict(zip(extents, chosen)) for chosen in itertools.product(*(list(one) for one in extents.values()))]
        cases = [(one, device, number) for device, number in _devices(built, listed, devices) for one in combined]

        def run(case: tuple[Mapping[str, int], str, str | None]) -> None:
            __tracebackhide__ = True
            print(shared.run(*case), end="")
            if reference is not None:
                function()

        try:
            import pytest
        except ImportError:
            def test() -> None:
                for case in cases:
                    run(case)
        else:
            def label(case: tuple[Mapping[str, int], str, str | None]) -> str:
                where = f"{case[1]}-sm_{case[2]}" if case[2] else case[1]
                return "-".join([where, *(f"{name}={value}" for name, value in case[0].items())])

            @pytest.mark.parametrize("case", [pytest.param(case, id=label(case)) for case in cases])
            def test(case: Any) -> None:
                __tracebackhide__ = True
                run(case)
        test.__name__ = function.__name__
        test.__qualname__ = function.__qualname__
        test.__module__ = function.__module__
        test.__doc__ = function.__doc__
        return test

    return decorate
