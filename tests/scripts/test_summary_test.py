#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/test_summary.py: what each kind of report counts as, and that every skipped test says why."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # nothing is written into the source tree
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import test_summary

REPORT = """<?xml version="1.0"?>
<testsuites tests="5">
  <testsuite name="tenon">
    <testcase name="passes" classname="tenon"/>
    <testcase name="script" classname="tenon"><skipped /><system-out>skipped: there is no nvcc</system-out></testcase>
    <testcase name="googletest" classname="tenon"><skipped message="a_test.cpp:7&#10;this device has no tensor cores"/></testcase>
    <testcase name="quiet" classname="tenon"><skipped /></testcase>
    {last}
  </testsuite>
</testsuites>
"""


def summary(last):
    """The exit status and the lines of a build folder whose one report ends with `last`."""
    with tempfile.TemporaryDirectory() as folder:
        logs = pathlib.Path(folder) / "meson-logs"
        logs.mkdir()
        (logs / "testlog.junit.xml").write_text(REPORT.format(last=last))
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            status = test_summary.main(pathlib.Path(folder), True)
        return status, text.getvalue().splitlines()


class TestSummary(unittest.TestCase):
    def test_skipped_tests_say_why(self):
        status, lines = summary("")
        self.assertFalse(status)
        self.assertEqual(lines, ["skipped: tenon: script: there is no nvcc",
                                 "skipped: tenon: googletest: this device has no tensor cores",
                                 "skipped: tenon: quiet: no reason given",
                                 "1 passed, 0 failed, 3 skipped"])

    def test_a_failure_is_named_and_fails(self):
        status, lines = summary('<testcase name="breaks" classname="tenon"><failure message="rc 1"/></testcase>')
        self.assertTrue(status)
        self.assertIn("failed: tenon: breaks", lines)
        self.assertEqual(lines[-1], "1 passed, 1 failed, 3 skipped")

    def test_a_failure_tells_what_was_said_last(self):
        said = "\n\n".join(f"case {number}" for number in range(100)) + "\nwrong: " + "x" * 1000
        _, lines = summary(f'<testcase name="breaks" classname="tenon"><failure /><system-out>{said}</system-out></testcase>')
        begin = lines.index("failed: tenon: breaks")
        self.assertEqual(lines[begin + 1:-1], [f"    case {number}" for number in range(86, 100)] + ["    wrong: " + "x" * 393])


if __name__ == "__main__":
    unittest.main()
