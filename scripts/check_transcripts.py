#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the commands of a Markdown file's ```console blocks in an empty folder and compares what they print.

A line that starts with `$ ` is a command; the lines up to the next one are its standard output. Commands run in order, in
one folder that holds `samples` (the project's) and nothing else, so each must work as a reader would type it.
--write puts the real output into the file instead. Exit status 1 where a command fails or prints something else.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(```console\n)(.*?)(```)", re.DOTALL)


def replay(block, folder):
    """The block as it really comes out, and the commands that failed."""
    lines, failures = [], []
    for line in block.splitlines():
        if not line.startswith("$ "):
            continue
        done = subprocess.run(["bash", "-c", line[2:]], cwd=folder, capture_output=True, text=True)
        lines += [line, *done.stdout.splitlines()]
        if done.returncode:
            failures.append(f"{line}\n{done.stderr}")
    return "".join(line + "\n" for line in lines), failures


def main(arguments):
    write = "--write" in arguments
    status = 0
    root = pathlib.Path(__file__).resolve().parent.parent
    for name in (argument for argument in arguments if not argument.startswith("--")):
        path = pathlib.Path(name)
        text = path.read_text()
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(root / "samples", os.path.join(folder, "samples"))
            os.makedirs(os.path.join(folder, "build", "samples"))

            def check(match):
                nonlocal status
                real, failures = replay(match.group(2), folder)
                for failure in failures:
                    print(f"{path}: the command failed: {failure}")
                    status = 1
                if real != match.group(2) and not write:
                    print(f"{path}: the transcript is stale.\n--- written\n{match.group(2)}--- real\n{real}")
                    status = 1
                return match.group(1) + real + match.group(3)

            updated = BLOCK.sub(check, text)
        if write and updated != text and not status:
            path.write_text(updated)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
