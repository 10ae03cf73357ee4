#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs_reference.py --bin=DIR... --out=DIR [--native=FILE]: the reference pages of docs/, made from the sources.

  tools.md    each tool's own --help=markdown; the tools are in one of the folders of --bin
  mlir.md     attributes, types and operations of compiler/dialect/*/*.td, each with examples out of tests/lit, which the
              suite lit reads, compiles or runs
  schemas.md  abi/format/schemas
  c_api.md    abi/include/tenon
  python.md, python_gpu.md
              what the Python package says of itself: python/tenon, and FILE, its extension as it is built
  errors.md   the rules of abi/kernel_abi.md with what the suite abi-conformance expects where one is broken, and the
              codes of tenon/status.h

Fails where something that belongs into a page has no summary, no example or no cure.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ["tenon-link", "tenon-dump", "tenon-compile", "tenon-run", "tenon-check", "tenon-check-kernel", "tenon-benchmark",
         "tenon-tune", "tenon-opt", "tenon-lsp"]
# What to do about a status whose message alone does not say it.
CURES = {
    "TENON_OK": "nothing to do",
    "TENON_INVALID_ARGUMENT": "the message names the argument, what was found and what is wanted: mend the call",
    "TENON_NOT_FOUND": "the message lists what there is, or the places tried: name one of them, or put the file there",
    "TENON_OUT_OF_RANGE": "the message has the index or range and its limit: ask for less",
    "TENON_FAILED_PRECONDITION": "the message says which state or device is in the way, and what to do first",
    "TENON_RESOURCE_EXHAUSTED": "release memory, raise the limit of the pool or device, or split the work",
    "TENON_UNIMPLEMENTED": "the message names what is not supported and what to do instead",
    "TENON_UNAVAILABLE": "install the NVIDIA driver, or take the device `emulator`; the message lists the libraries tried",
    "TENON_DATA_LOSS": "the file is damaged or no file of Tenon's: build it again; `tenon-dump FILE` says where it ends",
    "TENON_DEADLINE_EXCEEDED": "wait longer, or look for what the work waits for",
    "TENON_ABORTED": "work before this one failed: its own status says why; open the device anew after a fault of it",
    "TENON_INTERNAL": "report it, with the message and the file",
}
problems = []


def read(path):
    return (ROOT / path).read_text()


def tools_page(folders):
    text = ["# The tools\n\nEvery tool takes options as `--name=VALUE` or `--name VALUE`, `-` for standard input or output, and `--` "
            "before arguments that begin with a dash. Findings go to standard error, with colours on a terminal unless `NO_COLOR` "
            "is set. `man TOOL` shows these pages where Tenon is installed.\n"]
    for tool in TOOLS:
        path = next((path for path in (pathlib.Path(folder, tool) for folder in folders) if path.exists()), None)
        if path is None:
            problems.append(f"there is no {tool} in {' '.join(folders)}")
            continue
        done = subprocess.run([path, "--help=markdown"], capture_output=True, text=True, check=True)
        text.append(f"## {tool}\n\n{done.stdout}")
    return "\n".join(text)


# ---- MLIR ----

DEFINITION = re.compile(r'^def (?P<def>\w+)\s*:\s*(?P<class>\w+)<(?P<arguments>[^{]*?)>\s*(?:\{(?P<body>.*?)^\}|;)',
                        re.DOTALL | re.MULTILINE)


def field(body, name):
    match = re.search(rf'let {name} =\s*(?:\[\{{(.*?)\}}\]|((?:"(?:[^"\\]|\\.)*"\s*)+));', body or "", re.DOTALL)
    if not match:
        return ""
    if match[1] is not None:
        lines = match[1].strip("\n").splitlines()
        indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        return "\n".join(line[indent:] for line in lines).strip()
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match[2])).replace('\\"', '"')


def definitions(path):
    """(kind, name, summary, description) of what a .td file defines, kind `#`, `!` or an operation's ''."""
    text = path.read_text()
    if path.name == "HalOps.td":
        text = read("compiler/dialect/hal/HalAttrs.td") + text
    dialect = {"linalg_ext": "iree_linalg_ext"}.get(path.parent.name, path.parent.name)
    bases = {match["name"]: match["body"] for match in re.finditer(
        r'^class (?P<name>\w+)<[^{;]*\{(?P<body>.*?)^\}', text, re.DOTALL | re.MULTILINE)}
    for match in DEFINITION.finditer(text):
        body = match["body"] or ""
        strings = re.findall(r'"([^"]*)"', match["arguments"])
        kind = {"TypeDef": "!", "AttrDef": "#"}.get(match["class"])
        if kind is None:
            kind = "!" if match["class"].endswith("Type") else "#" if match["class"].endswith("Attr") else ""
        # Passes and constraints are no part of the text.
        if not (kind or match["class"] == "Op" or re.search(r"Op$|OpBase$|Base$", match["class"])) or not strings:
            continue
        name = field(body, "mnemonic") or strings[1 if kind and len(strings) > 1 and strings[1][:1].islower() else 0]
        summary = field(body, "summary") or field(bases.get(match["class"], ""), "summary")
        if not summary:  # handed on to the class of the class
            handed = re.search(rf'class {match["class"]}<[^>]*>\s*:\s*\w+<\w+, "([^"]*)"', text)
            summary = handed[1] if handed else ""
        if not summary and re.search(r"let summary = \w+;", bases.get(match["class"], "")):  # its last argument is the summary
            summary = strings[-1]
        description = field(body, "description") or field(bases.get(match["class"], ""), "description")
        if match["class"].startswith("TypedArray"):
            continue
        yield kind, f"{dialect}.{name}", summary, description


def balance(text):
    text = re.sub(r'"[^"]*"|->', "", re.sub(r"//.*", "", text))
    return sum(text.count(one) for one in "([{<") - sum(text.count(one) for one in ")]}>")


def examples():
    """Lines of the files that tests read, without comments, best first."""
    files = sorted((ROOT / "tests/lit/dialect").glob("*.mlir")) + sorted((ROOT / "samples").rglob("*.mlir"))
    files += sorted((ROOT / "tests/lit").rglob("*.mlir"))
    for path in files:
        if "invalid" not in path.name and "Inputs" not in path.parts and "refused" not in path.name:
            yield path.relative_to(ROOT), [line for line in path.read_text().splitlines() if not line.lstrip().startswith("//")]


EXAMPLES = list(examples())


def spellings(kind, name, most=6):
    """Statements, or values of attributes, that begin with the name."""
    head = re.compile(r"(?<![\w.#!\"@])" + re.escape(kind + name) + r"(?![\w.])")
    found = []
    for path, lines in EXAMPLES:
        at = 0
        while at < len(lines) and len(found) < most:
            match = head.search(lines[at])
            if not match:
                at += 1
                continue
            start = at
            text = lines[at][match.start():] if kind else lines[at].strip()
            while balance(text) > 0 and at + 1 < len(lines):
                at += 1
                text += "\n" + lines[at]
            if kind:  # as far as the value goes
                depth, end = 0, len(text)
                for offset, character in enumerate(text):
                    depth += (character in "<([{") - (character in ">)]}" and text[offset - 1:offset + 1] != "->")
                    if depth < 0 or (depth == 0 and offset >= len(kind + name) and character in ", )\n"):
                        end = offset
                        break
                text = text[:end]
            else:  # what goes on below is indented deeper
                indent = len(lines[start]) - len(lines[start].lstrip())
                while at + 1 < len(lines) and lines[at + 1].strip() and \
                        len(lines[at + 1]) - len(lines[at + 1].lstrip()) > indent and not lines[start].rstrip().endswith("{"):
                    at += 1
                    text += "\n" + lines[at]
                dedented = [line[indent:] if line[:indent].isspace() else line for line in text.splitlines()]
                text = "\n".join(dedented)
            text = text.rstrip(" ,")
            if len(text) < 1500 and text not in found:
                found.append(text)
            at += 1
            if not kind and found:
                return found
    return found


def mlir_page():
    text = ["# The MLIR text\n\nWhat Tenon reads besides MLIR's own dialects (func, arith, math, tensor, linalg, scf, cf, affine, tosa). Every form is "
            "read that IREE prints, the present one and older ones, and the present one is printed. Examples are from files that the "
            "project's tests read.\n"]
    for path in ["hal/HalOps.td", "flow/FlowOps.td", "util/UtilOps.td", "check/CheckOps.td", "linalg_ext/LinalgExtOps.td"]:
        source = ROOT / "compiler/dialect" / path
        everything = list(definitions(source))
        title = {"linalg_ext": "iree_linalg_ext"}.get(source.parent.name, source.parent.name)
        text.append(f"## {title}\n")
        for kind, what in (("#", "Attributes"), ("!", "Types"), ("", "Operations")):
            part = [entry for entry in everything if entry[0] == kind]
            if part:
                text.append(f"### {what} of {title}\n")
            for _, name, summary, description in part:
                if not summary:
                    problems.append(f"{path}: '{kind}{name}' has no summary")
                shown = spellings(kind, name)
                if not shown:
                    problems.append(f"{path}: no test or sample has an example of '{kind}{name}'")
                text.append(f"#### {kind}{name} {{ #{'attr-' if kind == '#' else 'type-' if kind else ''}{name} }}\n")
                sentence = re.sub(r"([#!][a-z_.]+<.*|(?:flow|hal|util)\.[a-z_.]+ .*)$", r"`\1`", summary)
                text.append(f"{sentence[:1].upper()}{sentence[1:]}.\n")
                if description:
                    text.append(description + "\n")
                text.append("```mlir\n" + "\n".join(shown) + "\n```\n")
    return "\n".join(text)


# ---- files and C ----

def prose(comment, marker):
    return "\n".join(re.sub(rf"^\s*{marker}\s?", "", line) for line in comment.splitlines()).strip()


def schemas_page():
    text = ["# The schemas\n\nFlatBuffers schemas of the files; `meson install` puts them into `share/tenon/schemas`. What must hold beyond them is "
            "[the file format](executable_format.md).\n"]
    for name in ("layout", "executable", "program", "manifest"):
        lines = read(f"abi/format/schemas/{name}.fbs").splitlines()[1:]
        head = []
        while lines and lines[0].startswith("//"):
            head.append(lines.pop(0))
        text.append(f"## {name}.fbs\n\n{prose(chr(10).join(head), '//')}\n\n```text\n" + "\n".join(lines).strip() + "\n```\n")
    return "\n".join(text)


def c_api_page():
    text = ["# The C API\n"]
    headers = ["status.h", "runtime.h"] + sorted(
        path.relative_to(ROOT / "abi/include/tenon").as_posix() for path in (ROOT / "abi/include/tenon/runtime").glob("*.h"))
    functions = 0
    for name in headers:
        source = read(f"abi/include/tenon/{name}")
        comment = re.search(r"/\*(.*?)\*/", source, re.DOTALL)
        text.append(f"## tenon/{name}\n\n```text\n{prose(comment[1], '[*]?').strip() if comment else ''}\n```\n")
        body = source[comment.end():] if comment else source
        body = re.sub(r"#if(n?def| defined).*?\n|#endif.*?\n|#define TENON_\w+_H\n|#include.*?\n|extern \"C\" \{\n|^\}\n(?=#endif)", "", body,
                      flags=re.MULTILINE)
        # A group: comments and what they stand before, up to an empty line.
        for group in re.split(r"\n\s*\n", body):
            group = group.strip("\n")
            declared = re.findall(r"\b(tenon_\w+)\(", group)
            if not declared and "typedef" not in group and "#define" not in group and "enum" not in group:
                continue
            functions += len(declared)
            text.append(f"```c\n{group}\n```\n")
    if functions < 50:
        problems.append(f"the C API has {functions} functions: its headers are not read right")
    return "\n".join(text)


# ---- errors ----

def errors_page():
    rules = re.findall(r"^\| (K-\d+) \| (.*?) \| (.*?) \|$", read("abi/kernel_abi.md"), re.MULTILINE)
    text = ["# Errors\n\n## Rules of the kernel ABI\n\nA finding of the linker, compiler or runtime about a kernel quotes the number of the rule that "
            "it breaks, says where, what was found and what is wanted, and most say how to mend it. Below are messages as the "
            "tests expect them, and what to do. The rules in full are [the kernel ABI](kernel_abi.md).\n"]
    for rule, holds, by in rules:
        text.append(f"### {rule}\n\n**Holds:** {holds}\n\n**Checked by:** {by}\n")
        shown, fixes = "", []
        for case in sorted((ROOT / "tests/abi_conformance/rules" / rule).glob("fail_*.case")):
            parts = case.read_text().split("#--- expect\n")
            if len(parts) != 2 or f"[{rule}]" not in parts[1]:
                continue
            found = [line for line in parts[1].strip().splitlines() if not line.startswith("tenon-link:")]
            if not shown:
                shown = "\n".join(found[:6])
            fixes += [line[5:] for line in found if line.startswith("fix: ") and line[5:] not in fixes]
        if shown:
            text.append(f"```text\n{shown}\n```\n")
        if fixes:
            text.append("**Cures:**\n\n" + "\n".join(f"- {fix}" for fix in fixes[:6]) + "\n")
        elif not shown:
            text.append("**Cure:** what is declared and what is there must agree: mend the one that is wrong.\n")
    text.append("## Status codes\n\nWhat functions of the C API return, besides a message, and what `code` of Python's tenon.Error says. "
                "Numbers never change.\n\n| code | in Python | number | cause | cure |\n|---|---|---|---|---|")
    codes = re.findall(r"(TENON_\w+) = (\d+),?\s*(?:/\* (.*?) \*/)?", re.search(r"enum tenon_status_code \{(.*?)\}", read(
        "abi/include/tenon/status.h"), re.DOTALL)[1])
    for code, number, cause in codes:
        if code not in CURES:
            problems.append(f"'{code}' has no cure: scripts/docs_reference.py, CURES")
        spelled = "" if code == "TENON_OK" else f"`{code.removeprefix('TENON_').lower().replace('_', ' ')}`"
        text.append(f"| `{code}` | {spelled} | {number} | {cause or 'success'} | {CURES.get(code, '')} |")
    return "\n".join(text) + "\n"


# Prints each name of the package with its signature and what is said of it.
DESCRIBE = """
import importlib, inspect, sys
module = importlib.import_module(sys.argv[1])
def signature(thing, name):
    try:
        return name + str(inspect.signature(thing))
    except (TypeError, ValueError):
        return name + ("(...)" if callable(thing) and not inspect.isclass(thing) else "")
for name in module.__all__:
    thing = getattr(module, name)
    # What is of a class of the package is said where the class is: types of numbers, and who a thread is.
    if not inspect.isclass(thing) and not inspect.isroutine(thing) and type(thing).__module__.startswith(sys.argv[1]):
        continue
    kind = "class " if inspect.isclass(thing) else ""
    print(f"## {kind}{name}\\n\\n```python\\n{signature(thing, sys.argv[1].split('.')[-1] + '.' + name)}\\n```\\n\\n{inspect.getdoc(thing) or ''}\\n")
    if not inspect.isclass(thing) or issubclass(thing, BaseException):
        continue
    for member, value in vars(thing).items():
        if member.startswith("_") or not inspect.getdoc(value) or inspect.getdoc(value) == inspect.getdoc(type(value)):
            continue
        shown = signature(value, member) if callable(value) else member
        print(f"- `{shown}`: {' '.join(inspect.getdoc(value).split())}")
    print()
"""


PYTHON_PAGES = {
    "python.md": ("tenon", "# The Python API\n\n`import tenon`: programs and kernels as callables on arrays of NumPy, PyTorch, CuPy and JAX. "
                  "[Ten minutes](../tutorial.md) shows it; below is what each name says of itself.\n\n"),
    "python_gpu.md": ("tenon.gpu", "# tenon.gpu\n\n`from tenon import gpu`: kernels written in Python. [The guide](../guides/python_kernels.md) shows "
                      "it, with the types of numbers and who a thread is; below is what each name says of itself.\n\n"),
}


def python_page(native, page):
    module, head = PYTHON_PAGES[page]
    if not native:
        return head + "This site was built without the package's extension.\n"
    with tempfile.TemporaryDirectory() as folder:
        package = pathlib.Path(folder, "tenon")
        shutil.copytree(ROOT / "python/tenon", package)
        shutil.copy(native, package / "_core")
        done = subprocess.run([sys.executable, "-c", DESCRIBE, module], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": folder})
    if done.returncode:
        problems.append(f"the Python package cannot be imported: {done.stderr}")
    if done.stdout.count("\n## ") < 15:
        problems.append(f"{module} says of fewer than 15 names what they are")
    # `k[8](x)` is no link.
    return head + re.sub(r"\]\(", r"]\\(", re.sub(r" at 0x[0-9a-f]+", "", done.stdout))


def specification(path, title):
    """A document of the project as a page: links into the project's tree become plain text."""
    text = read(path)
    text = re.sub(r"\[([^]]*)\]\((?:\.\./)*abi/kernel_abi\.md(#[^)]*)?\)|\[([^]]*)\]\(kernel_abi\.md(#[^)]*)?\)",
                  lambda m: f"[{m[1] or m[3]}](kernel_abi.md{m[2] or m[4] or ''})", text)
    return re.sub(r"\[([^]]*)\]\((?!https?:|kernel_abi\.md|executable_format\.md|#)[^)]*\)", r"\1", text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, action="append")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--native")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    pages = {"tools.md": tools_page(arguments.bin), "mlir.md": mlir_page(), "schemas.md": schemas_page(), "c_api.md": c_api_page(),
             "errors.md": errors_page(), **{page: python_page(arguments.native, page) for page in PYTHON_PAGES}, "kernel_abi.md": specification("abi/kernel_abi.md", "The kernel ABI"),
             "executable_format.md": specification("abi/executable_format.md", "The file format")}
    for name, text in pages.items():
        (arguments.out / name).write_text(text)
    for problem in problems:
        print(f"docs_reference: error: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
