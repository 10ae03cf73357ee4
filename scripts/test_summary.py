#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds up what `meson test` and lit reported and prints one closing line: N passed, N failed, N skipped.

--one-suite behind the folder: only some suites ran, so a missing report is none too few.

Every GoogleTest case, lit file and conformance case counts as one test; a program that ended without a report counts
as one failure. Skipped tests are listed with their reasons, and below them, where the end of a long log is all that
is seen, failed ones with what they said last. Exit status 1 when anything failed or nothing ran.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

LAST_LINES, LINE_WIDTH = 15, 400  # of what a failed test said
REPORTING_SUITES = ("lit", "e2e", "abi-conformance", "python")  # tests/meson.build: each leaves its own report


def case_outcome(case):
    """'passed', 'failed' or 'skipped', and the reason or message, of a JUnit <testcase>."""
    for tag, outcome in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        found = case.find(tag)
        if found is not None:
            message = (found.get("message") or found.text or "").strip()
            if not message and tag == "skipped":  # a test of Meson's that is a script: it printed why
                message = (case.findtext("system-out") or "").strip().removeprefix("skipped: ")
            return outcome, message
    if case.get("result") == "skipped" or case.get("status") == "notrun":
        return "skipped", "disabled"
    return "passed", ""


def gtest_skip_reason(text):
    # GoogleTest writes "file:line\nreason".
    lines = [line for line in text.splitlines() if line and not re.match(r"^\S+:\d+$", line)]
    return " ".join(lines) or "no reason given"


def last_words(case, message):
    """What a failed test said last, in short lines."""
    said = [message, case.findtext("system-out") or "", case.findtext("system-err") or ""]
    lines = [line[:LINE_WIDTH] for text in said for line in text.splitlines() if line.strip()]
    return lines[-LAST_LINES:]


def main(folder, one_suite):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    failed, skipped = [], []
    reports = [folder / "meson-logs" / "testlog.junit.xml",
               *(folder / "tests" / f"{suite}.xml" for suite in REPORTING_SUITES)]
    for report in reports:
        if not report.exists():
            if not one_suite:
                print(f"test_summary: no report {report}", file=sys.stderr)
            continue
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):
            for case in suite.iter("testcase"):
                name = f"{suite.get('name')}: {case.get('name')}"
                # Such a run is one meson test; its own report has the cases.
                if report is reports[0] and case.get("name") in REPORTING_SUITES and case_outcome(case)[0] == "passed":
                    continue
                outcome, message = case_outcome(case)
                if message.startswith("Test not selected"):  # lit's word for what --filter leaves out
                    continue
                counts[outcome] += 1
                if outcome == "failed":
                    failed.append((name, last_words(case, message)))
                elif outcome == "skipped":
                    skipped.append((name, gtest_skip_reason(message)))
    for name, reason in skipped:
        print(f"skipped: {name}: {reason}")
    for name, lines in failed:
        print("\n    ".join([f"failed: {name}", *lines]))
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), one_suite="--one-suite" in sys.argv[2:]))
