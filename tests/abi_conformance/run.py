#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every rule of abi/kernel_abi.md, held against kernels that keep it and kernels that break it.

  run.py --build=build            all; exit status 0 when every case did what it says
  run.py --build=build --rules    the rules alone: rules/K-N/*.case, which cases.py describes
  run.py --build=build --corpus   the corpus alone: corpus/*.cu compiled by nvcc, which corpus.py describes

The rules come from the table of abi/kernel_abi.md: one without a passing or without a failing case is a failure.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import sys
import tempfile
import textwrap
import time
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True  # nothing is written into the source tree
import cases
import corpus

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def rules_of(specification):
    """[(rule, title)] of the table that begins `| rule | what holds |`, in its order."""
    rows = re.findall(r"^\| (K-\d+) \| (.*?) \|", specification.read_text(), re.MULTILINE)
    return [(rule, textwrap.shorten(text, 72, placeholder=" ...")) for rule, text in rows]


def find_tools(build):
    """Puts the build's tools, ptxas and nvcc on PATH; returns nvcc or None."""
    cuda = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    folders = [build / "linker" / "tools", build / "compiler" / "tools", build / "tests" / "abi_conformance"]
    os.environ["PATH"] = os.pathsep.join([*map(str, folders), os.environ["PATH"], f"{cuda}/bin"])
    return shutil.which("nvcc")


def print_rules(rules, results):
    """One line per rule; returns the rules that lack a case."""
    gaps = []
    for rule, title in rules:
        mine = [result for result in results if result.group == rule]
        counts = collections.Counter(result.kind for result in mine if result.outcome == "passed")
        bad = sum(result.outcome == "failed" for result in mine)
        skipped = sum(result.outcome == "skipped" for result in mine)
        state = "ok" if not bad else f"{bad} WRONG"
        if not all(any(result.kind == kind for result in mine) for kind in ("pass", "fail")):
            gaps.append(rule)
            state = "NO CASE"
        print(f"{rule:5} {counts['pass']:3} accepted {counts['fail']:3} refused {skipped:3} skipped  {state:8} {title}")
    return gaps


def print_corpus(results):
    groups = sorted({result.group for result in results})
    for group in groups:
        mine = [result for result in results if result.group == group]
        counts = collections.Counter((result.kind, result.outcome) for result in mine)
        bad = sum(result.outcome == "failed" for result in mine)
        note = next((result.detail for result in mine if result.name in ("good", "refused")), "")
        print(f"{group:20} {counts['good', 'passed']:2} good {counts['twin', 'passed']:2} broken twins refused"
              f"  {'ok' if not bad else f'{bad} WRONG':8} {note if not bad else ''}")


def write_junit(path, results, gaps):
    suite = ElementTree.Element("testsuite", name="abi-conformance", tests=str(len(results) + len(gaps)))
    for result in results:
        case = ElementTree.SubElement(suite, "testcase", classname=result.group, name=f"{result.group}/{result.name}")
        if result.outcome != "passed":
            ElementTree.SubElement(case, {"failed": "failure"}.get(result.outcome, result.outcome), message=result.detail)
    for rule in gaps:
        case = ElementTree.SubElement(suite, "testcase", classname=rule, name=f"{rule}/covered")
        ElementTree.SubElement(case, "failure", message="no passing or no failing case")
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="folder with the built tools")
    parser.add_argument("--cache", type=pathlib.Path, help="keeps what nvcc made, by content (default: BUILD/tests/...)")
    parser.add_argument("--rules", action="store_true", help="only the rules")
    parser.add_argument("--corpus", action="store_true", help="only the corpus")
    parser.add_argument("--filter", default="", help="only cases whose group or name contains this")
    parser.add_argument("--junit", type=pathlib.Path, help="write a JUnit report")
    parser.add_argument("--update", action="store_true", help="write what was printed into the cases; read the diff")
    options = parser.parse_args()
    both = options.rules == options.corpus
    build = options.build.resolve()
    nvcc = find_tools(build)
    if not shutil.which("tenon-link"):
        sys.exit(f"run.py: no tenon-link in '{build}': build it, or name the folder with --build=DIR")

    start = time.monotonic()
    results, gaps = [], []
    with tempfile.TemporaryDirectory(prefix="tenon-abi-") as scratch:
        if both or options.rules:
            rules = rules_of(ROOT / "abi" / "kernel_abi.md")
            results += cases.run_all(HERE / "rules", pathlib.Path(scratch), options.filter, options.update)
            known = {rule for rule, _ in rules}
            results += [cases.Result(group, "known", "fail", "failed", "abi/kernel_abi.md has no such rule")
                        for group in sorted({result.group for result in results} - known)]
            gaps = print_rules(rules, results)
            if options.filter:
                gaps = []
        if both or options.corpus:
            cache = options.cache or build / "tests" / "abi_conformance" / "cache"
            found = corpus.run_all(HERE / "corpus", pathlib.Path(scratch), cache, nvcc, options.filter)
            print_corpus(found)
            results += found

    for result in results:
        if result.outcome != "passed":
            print(f"{result.outcome}: {result.group}/{result.name}: {result.detail}")
    for rule in gaps:
        print(f"failed: {rule}: tests/abi_conformance/rules/{rule} needs a passing and a failing case")
    count = collections.Counter((result.kind, result.outcome) for result in results)
    total = collections.Counter(result.outcome for result in results)
    print(f"rules: {count['pass', 'passed']} accepted, {count['fail', 'passed']} refused as they should be; "
          f"corpus: {count['good', 'passed']} good links, {count['twin', 'passed']} broken twins refused; "
          f"{total['failed'] + len(gaps)} failed, {total['skipped']} skipped; {time.monotonic() - start:.0f} s")
    if options.junit:
        write_junit(options.junit, results, gaps)
    return 1 if total["failed"] or gaps or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
