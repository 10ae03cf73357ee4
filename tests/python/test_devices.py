# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices by name, and arrays of Tenon's own."""
import numpy
import pytest
import tenon


@pytest.mark.parametrize("name, error, text", [
    ("gpu", tenon.Error, "unknown device 'gpu': expected cuda, cuda:ORDINAL, emulator or emulator:ORDINAL"),
    ("emulator:1", tenon.Error, "no device 1"),
    (0, TypeError, "a device is 0; wanted: a name, as 'cuda', 'cuda:1' or 'emulator'"),
])
def test_names(name, error, text):
    with pytest.raises(error) as raised:
        tenon.device(name)
    assert text in str(raised.value)


@pytest.mark.parametrize("given, name", [
    ("float32", "float32"), ("f32", "float32"), ("f4", "float32"), (numpy.float32, "float32"), (numpy.dtype("f8"), "float64"), (float, "float64"),
    (int, "int64"), (bool, "bool"), ("uint8", "int8"), ("bfloat16", "bfloat16"), ("bf16", "bfloat16"), ("f16", "float16"), ("i64", "int64"),
])
def test_types_of_elements(given, name):
    assert tenon.empty((2, 3), given).dtype == name
    assert tenon.empty(3, given, device="emulator").shape == (3,)


@pytest.mark.parametrize("given, text", [
    ("i8", "'i8' counts bits in a program's text and bytes in NumPy: write bool, int8 or int64"),
    ("complex64", "'complex64' is no element type: expected bool, int8 to int64"),
    ("banana", "'banana' is no element type"),
])
def test_types_that_are_none(given, text):
    with pytest.raises(TypeError) as raised:
        tenon.empty(3, given)
    assert text in str(raised.value)


def test_values():
    assert tenon.array([[1, 2], [3, 4.5]]).numpy().tolist() == [[1, 2], [3, 4.5]]
    assert tenon.array(numpy.arange(6).reshape(2, 3).T[::-1]).numpy().tolist() == [[2, 5], [1, 4], [0, 3]]
    assert tenon.array([1, 2], dtype="f32", device="emulator").dtype == "float32"
    assert tenon.array(numpy.arange(3, dtype="u4")).numpy().tolist() == [0, 1, 2]
    assert tenon.array(2.5).shape == () and tenon.array(2.5).numpy() == 2.5
    assert tenon.array([]).numpy().tolist() == []
    for wrong in ("text", 1j, [object()]):
        with pytest.raises(TypeError, match="is no element type"):
            tenon.array(wrong)


@pytest.mark.parametrize("given, text", [
    (numpy.zeros(4, "f4"), "an array of float32 (4,) in the host's memory; wanted: float32 (3,) in the host's"),
    (numpy.zeros((3, 1), "f4"), "an array of float32 (3, 1)"),
    (numpy.zeros(3, "i4"), "an array of int32 (3,)"),  # as many bytes, and other numbers
    (numpy.zeros(6, "f4")[::2], "not dense in row-major order"),
])
def test_what_is_written_is_alike(given, text):
    array = tenon.array(numpy.ones(3, "f4"))
    for copy in (array.write_from, array.read_into):
        with pytest.raises(ValueError) as raised:
            copy(given)
        assert text in str(raised.value)
    assert array.numpy().tolist() == [1, 1, 1]


def test_dlpack_says_no_to_other_devices():
    array = tenon.empty(3)
    if array.device.is_emulator:
        assert array.__dlpack__(dl_device=(1, 0))
        with pytest.raises(BufferError, match=r"on DLPack's device \(1, 0\) is not copied to \(2, 0\)"):
            array.__dlpack__(dl_device=(2, 0))


def test_types_are_named_without_numpy(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "numpy", None)  # its import fails
    for name in ("bool", "int8", "int64", "float16", "bfloat16", "float32", "f32"):
        assert tenon.empty(3, name).shape == (3,)
