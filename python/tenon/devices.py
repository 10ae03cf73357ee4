# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices by name, each opened once, and arrays on them."""
from __future__ import annotations

from typing import Any

from ._core.native import Array, Device

_open: dict[str, Device] = {}


def device(name: str | Device | None = None) -> Device:
    """The device of a name: "cuda", "cuda:1", "emulator"; None or "": a GPU if there is one, else the emulator."""
    if isinstance(name, Device):
        return name
    if not (name is None or isinstance(name, str)):
        raise TypeError(f"a device is {name!r}; wanted: a name, as 'cuda', 'cuda:1' or 'emulator', a tenon.Device, or None")
    key = name or ""
    if key not in _open:
        _open[key] = Device(key)
    return _open[key]


_device = device  # whose name is a parameter's below


def default_device() -> Device:
    """A GPU if there is one, else the emulator."""
    return device()


_SPELLED = {"i16": "int16", "i32": "int32", "i64": "int64", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
_NAMES = {"bool", "int8", "bfloat16", *_SPELLED.values()}


def _element_name(dtype: Any) -> str:
    """A type of elements by its name in Python: of that name, of a program's, or of whatever NumPy takes for a type."""
    if isinstance(dtype, str) and dtype in ("i1", "i8"):
        raise TypeError(f"'{dtype}' counts bits in a program's text and bytes in NumPy: write bool, int8 or int64")
    if isinstance(dtype, str) and (dtype in _SPELLED or dtype in _NAMES):
        return _SPELLED.get(dtype, dtype)
    import numpy

    try:
        return str(numpy.dtype(dtype).name).replace("uint", "int")  # integers have no sign
    except TypeError:
        raise TypeError(f"{dtype!r} is no element type: expected bool, int8 to int64, float16, bfloat16, float32 or float64") from None


def empty(shape: int | tuple[int, ...], dtype: Any = "float32", device: str | Device | None = None) -> Array:
    """An array with undefined contents. `dtype`: a name, as "float32" or "bfloat16", or a type of NumPy's."""
    return Array(_device(device), shape, _element_name(dtype))


def array(values: Any, device: str | Device | None = None, *, dtype: Any = None) -> Array:
    """A NumPy array, or what NumPy takes for one, copied to a device. Numbers of Python's are float64 and int64, as in NumPy, unless
    `dtype` says otherwise."""
    import numpy

    from ._interop import numpy_type

    given = numpy.asarray(values, None if dtype is None else numpy_type(_element_name(dtype)), order="C")
    made = Array(_device(device), given.shape, _element_name(given.dtype))
    made.write_from(given)
    return made
