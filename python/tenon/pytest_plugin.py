# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pytest plugin: `--tenon-devices=emulator,cuda` says where tenon.check runs, a fixture gives tests a device, and the
report's head says which devices there are."""
from __future__ import annotations

import os
from typing import Any

import pytest


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("tenon")
    group.addoption("--tenon-devices", default="", help="where tenon.check runs kernels: emulator, cuda, or both with a comma "
                    "(default: the emulator, and the GPU where there is one)")


def pytest_configure(config: Any) -> None:
    given = config.getoption("--tenon-devices", default="")
    if given:
        os.environ["TENON_CHECK_DEVICES"] = given


def pytest_report_header(config: Any) -> str:
    from . import __version__, default_device

    return f"tenon: {__version__}, {default_device().name}"


@pytest.fixture(scope="session")
def tenon_device() -> Any:
    """A GPU if there is one, else the emulator."""
    from . import default_device

    return default_device()
