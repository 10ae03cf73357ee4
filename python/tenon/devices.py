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
    key = name or ""
    if key not in _open:
        _open[key] = Device(key)
    return _open[key]


def default_device() -> Device:
    """A GPU if there is one, else the emulator."""
    return device()


def empty(shape: int | tuple[int, ...], dtype: str = "float32", device_: str | Device | None = None) -> Array:
    """An array with undefined contents."""
    return Array(device(device_), shape, dtype)


def array(values: Any, device_: str | Device | None = None) -> Array:
    """A NumPy array, or what NumPy takes for one, copied to a device."""
    import numpy

    given = numpy.ascontiguousarray(values)
    made = Array(device(device_), given.shape, given.dtype.name)
    made.write_from(given)
    return made
