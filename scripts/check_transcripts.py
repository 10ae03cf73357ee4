#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does what Markdown files tell a reader to do, in an empty folder, and compares what comes out.

  ```console            commands (lines that begin with `$ `; a backslash at the end goes on) and their standard output.
                        In what is written, `...` stands for any text, and on a line of its own for any lines.
  ```console fails      the last command ends with a status other than 0; standard error is compared, too
  ```LANG title="FILE"  the block is written to FILE
  needs="WORD"          behind either: without the program WORD (or the module of `python3:WORD`) the block is left out,
                        and that is printed

Blocks run in order, in one folder that holds `samples` (the project's) and nothing else, so each must work as a reader
would type it. With --strict every other block must be of the language `text`. --write puts real output into the file.
Exit status 1 where a command fails or prints something else. Paths of --hide=DIR are shown as `/opt/tenon`.
"""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^(?P<open>```(?P<language>\S+)?(?P<rest>[^\n]*)\n)(?P<body>.*?)(?P<close>^```)$", re.DOTALL | re.MULTILINE)
ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')


def matches(written, real):
    """Whether `real` is what was written, where `...` is any text, alone on a line any lines."""
    pattern = "".join(r"(?:.*\n)*" if line.strip() == "..." else r"[^\n]*".join(map(re.escape, line.split("..."))) + r"\n"
                      for line in written.splitlines())
    return re.fullmatch(pattern, real) is not None


def commands_of(body):
    """(the lines of a command, the command, the output that is written below it) of each."""
    found, lines = [], body.splitlines()
    at = 0
    while at < len(lines):
        if not lines[at].startswith("$ "):
            at += 1
            continue
        shown = [lines[at]]
        while shown[-1].endswith("\\"):
            at += 1
            shown.append(lines[at])
        at += 1
        output = []
        while at < len(lines) and not lines[at].startswith("$ "):
            output.append(lines[at])
            at += 1
        found.append((shown, "\n".join(shown)[2:], "".join(line + "\n" for line in output)))
    return found


def is_there(need):
    if need.startswith("python3:"):
        return importlib.util.find_spec(need.split(":")[1]) is not None
    return shutil.which(need) is not None


class Page:
    def __init__(self, path, folder, strict, hidden):
        self.path, self.folder, self.strict, self.hidden = path, folder, strict, hidden
        self.failures = []

    def replay(self, body, fails):
        """The block as it really comes out, where it is not as written; `...` stays where it matches."""
        commands, lines = commands_of(body), []
        for number, (shown, command, written) in enumerate(commands, 1):
            expect_failure = fails and number == len(commands)
            done = subprocess.run(["bash", "-c", command], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT if expect_failure else subprocess.PIPE)
            if (done.returncode != 0) != expect_failure:
                self.failures.append(f"the command {'succeeded' if expect_failure else 'failed'}: {command}\n{done.stderr or ''}")
            real = done.stdout
            for folder in self.hidden:
                real = real.replace(folder, "/opt/tenon")
            real = "".join(line.rstrip() + "\n" for line in real.splitlines())
            lines += [*shown, *(written if matches(written, real) else real).splitlines()]
        return "".join(line + "\n" for line in lines)

    def run(self, match, write):
        attributes = dict(ATTRIBUTE.findall(match["rest"]))
        words = ATTRIBUTE.sub("", match["rest"]).split()
        body = match["body"]
        need = attributes.get("needs")
        if need and not is_there(need):
            print(f"{self.path}: skipped, there is no {need}: {body.splitlines()[0] if body else ''}")
        elif "title" in attributes:
            target = pathlib.Path(self.folder, attributes["title"])
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(body)
        elif match["language"] == "console":
            real = self.replay(body, "fails" in words)
            if real != body and not write:
                self.failures.append(f"the transcript is stale.\n--- written\n{body}--- real\n{real}")
            body = real
        elif self.strict and match["language"] != "text":
            self.failures.append(f"a block that nobody tries: ```{match['language'] or ''}: give it a title, or make it console or text")
        return match["open"] + body + match["close"]


def main(arguments):
    write, strict = "--write" in arguments, "--strict" in arguments
    hidden = [argument.split("=", 1)[1] for argument in arguments if argument.startswith("--hide=")]
    status = 0
    root = pathlib.Path(__file__).resolve().parent.parent
    for name in (argument for argument in arguments if not argument.startswith("--")):
        path = pathlib.Path(name)
        text = path.read_text()
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(root / "samples", os.path.join(folder, "samples"))
            os.makedirs(os.path.join(folder, "build", "samples"))
            page = Page(path, folder, strict, hidden)
            updated = BLOCK.sub(lambda match: page.run(match, write), text)
        for failure in page.failures:
            print(f"{path}: {failure}")
            status = 1
        if write and updated != text and not page.failures:
            path.write_text(updated)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
