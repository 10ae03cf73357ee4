#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of scripts/check_transcripts.py."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import check_transcripts


def check(text, *options):
    """Exit status, what was printed, and the file behind it."""
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "page.md")
        page.write_text(text)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            status = check_transcripts.main([str(page), *options])
        return status, printed.getvalue(), page.read_text()


class Transcripts(unittest.TestCase):
    def test_output_is_compared(self):
        self.assertEqual(check("```console\n$ echo a; echo b\na\nb\n$ true\n```\n")[0], 0)
        status, printed, _ = check("```console\n$ echo a\nb\n```\n")
        self.assertEqual(status, 1)
        self.assertIn("stale", printed)

    def test_dots_stand_for_text_and_for_lines(self):
        self.assertEqual(check("```console\n$ seq 1 5\n1\n...\n5\n```\n")[0], 0)
        self.assertEqual(check("```console\n$ echo took 12 ms.\ntook ... ms.\n```\n")[0], 0)
        self.assertEqual(check("```console\n$ seq 1 5\n1\n...\n6\n```\n")[0], 1)
        self.assertEqual(check("```console\n$ echo took 12 s\ntook ... ms\n```\n")[0], 1)

    def test_a_command_that_fails(self):
        self.assertEqual(check("```console\n$ false\n```\n")[0], 1)
        self.assertEqual(check("```console fails\n$ echo wrong >&2; false\nwrong\n```\n")[0], 0)
        self.assertEqual(check("```console fails\n$ true\n```\n")[0], 1)

    def test_files_and_long_commands(self):
        self.assertEqual(check('```c title="a/b.txt"\nhello\n```\n```console\n$ cat \\\n  a/b.txt\nhello\n```\n')[0], 0)

    def test_what_is_missing_is_said(self):
        status, printed, _ = check('```console needs="no-such-program"\n$ no-such-program\n```\n')
        self.assertEqual(status, 0)
        self.assertIn("skipped, there is no no-such-program", printed)
        self.assertEqual(check('```console needs="sh"\n$ false\n```\n')[0], 1)
        self.assertEqual(check('```console needs="python3:json"\n$ false\n```\n')[0], 1)

    def test_strict_wants_every_block_tried(self):
        self.assertEqual(check("```c\nint x;\n```\n")[0], 0)
        self.assertEqual(check("```c\nint x;\n```\n", "--strict")[0], 1)
        self.assertEqual(check("```text\nx\n```\n", "--strict")[0], 0)

    def test_write_puts_the_output_in_and_keeps_dots_that_match(self):
        self.assertEqual(check("```console\n$ echo a\nb\n$ echo 12 ms\n... ms\n```\n", "--write")[2],
                         "```console\n$ echo a\na\n$ echo 12 ms\n... ms\n```\n")


if __name__ == "__main__":
    unittest.main()
