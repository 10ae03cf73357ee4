#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/mutate.py: which mutants a source has, that the text with all of them compiles, and that one at a time runs."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True  # nothing is written into the source tree
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import mutate
from mutation import cpp_mutants

PROGRAM = """
#include <cstdio>
#include <vector>
enum class Color { Red, Green, Blue };
static const int kTable[] = {1, 2};
static int sum(const std::vector<int> &values, int limit) {
  int total = 0;
  for (int value : values) {
    if (value < limit && value != 3) // the limit is not in it
      total += value;
    else
      total -= 1;
  }
  auto twice = [&](int x) {
    return x * 2;
  };
  int extra = twice(limit) + kTable[1];
  return total + extra;
}
static int apart(int a, int b) { return 10 * a + b; }
int main() {
  Color color = Color::Green;
  int a = 1, b = 2;
  std::printf("%d %d %d\\n", sum({1, 2, 3, 4, 9}, 9), apart(a, b), int(color));
  return 0;
}
"""


class Mutants(unittest.TestCase):
    def mutants(self, text, path="a.cpp"):
        return cpp_mutants.Source(path, text, cpp_mutants.enumerators_of([text])).mutants()

    def changes(self, text):
        return {(m.operator, m.before, m.replacement) for m in self.mutants(text)}

    def test_each_kind_of_change(self):
        found = self.changes(PROGRAM)
        for change in [("relation", "<", "<="), ("relation", "!=", "=="), ("logic", "&&", "||"), ("assignment", "+=", "-="),
                       ("arithmetic", "*", "+"), ("constant", "0", "1"), ("removal", "total += value;", ";"),
                       ("enumerator", "Color::Green", "Color::Blue"), ("swap", "a, b", "b, a"),
                       ("negation", "value < limit && value != 3", "!(value < limit && value != 3)")]:
            self.assertIn(change, found)

    def test_what_is_no_operator_is_left_alone(self):
        text = "void f(std::vector<int> &&x, int *p) { g<int>(x); /* a < b */ h(\"a < b\"); }\n"
        self.assertEqual({change[0] for change in self.changes(text)}, {"removal"})

    def test_constants_of_headers_are_left_alone(self):
        text = "inline constexpr int kMost = 7;\nstruct S {\n  int size = 7;\n  static constexpr bool kIs = true;\n};\n"
        self.assertEqual([m.line for m in self.mutants(text, "a.h")], [3])
        self.assertEqual([m.line for m in self.mutants(text, "a.cpp")], [1, 3, 4])
        for text in ("typedef enum tenon_code {\n  TENON_OK = 7,\n} tenon_code_t;\n", "struct S {\n  char name[256];\n};\n",
                     "enum class Kind : uint8_t {\n  First = 7,\n};\n"):
            self.assertEqual(self.mutants(text, "a.h"), [], text)
        text = "inline int f(int *p) {\n  return p[3];\n}\n"
        self.assertEqual([m.before for m in self.mutants(text, "a.h") if m.operator == "constant"], ["3"])

    def test_a_declaration_is_not_removed(self):
        self.assertEqual({m.operator for m in self.mutants("void f() {\n  const int n = g();\n  T t(n);\n"
                                                             "  R<std::vector<T>> r = g(t);\n}\n")}, set())

    def test_identity_follows_a_line_that_moves(self):
        before, after = self.mutants("void f() { g(); }\n"), self.mutants("\n\nvoid f() { g(); }\n")
        self.assertEqual(before[0].identity(), after[0].identity())
        self.assertNotEqual(before[0].line, after[0].line)
        self.assertNotEqual(before[0].identity(), self.mutants("void f() { h(); }\n")[0].identity())

    def test_lines_that_read_the_same_are_told_apart(self):
        found = [m for m in self.mutants("void f() {\n  g();\n  h();\n  g();\n}\n") if m.before == "g();"]
        self.assertEqual([m.nth for m in found], [1, 2])
        self.assertNotEqual(found[0].identity(), found[1].identity())

    @unittest.skipUnless(shutil.which("c++") or shutil.which("clang++-22"), "no C++ compiler")
    def test_every_mutant_is_chosen_when_the_program_runs(self):
        mutants = self.mutants(PROGRAM)
        for number, mutant in enumerate(mutants, 1):
            mutant.number = number
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            (work / "mutant.h").write_text(mutate.Builder.HEADER)
            (work / "a.cpp").write_text('#include "mutant.h"\n' + cpp_mutants.instrumented(PROGRAM, mutants))
            compiler = shutil.which("c++") or shutil.which("clang++-22")
            subprocess.run([compiler, "-std=c++20", "-w", str(work / "a.cpp"), "-o", str(work / "a")], check=True)

            def run(number):
                return subprocess.run([str(work / "a")], env={**os.environ, "TENON_MUTANT": str(number)}, text=True,
                                      stdout=subprocess.PIPE, timeout=10).stdout

            plain = run(0)
            self.assertEqual(plain, "25 12 1\n")
            different = {m.describe() for m in mutants if run(m.number) != plain}
            for part in ("'<' -> '<='", "'&&' -> '||'", "without 'total += value;'", "'a, b' -> 'b, a'", "'Color::Green' -> 'Color::Blue'",
                         "'*' -> '+'", "constant: '2' -> '3'"):
                self.assertTrue(any(part in text for text in different), f"{part} changed nothing: {sorted(different)}")

    def test_results_become_shares_and_survivors(self):
        mutants = self.mutants("void f() { g(); h(); }\n", "linker/access/a.cpp")
        results = {mutants[0].identity(): {"noticed": "unit-linker", "how": "failed"}, mutants[1].identity(): {"noticed": ""}}
        self.assertEqual(mutate.report(mutants, results, {}, 0), 0.5)
        self.assertEqual(mutate.report(mutants, results, {mutants[1].identity(): "no matter"}, 0), 1.0)

    def judged(self, code, limit, number=0):
        """What a suite of this Python text comes to."""
        return mutate.run_suite(("a", [], [sys.executable, "-c", code]), mutate.ROOT, number, limit)[0]

    def test_a_suite_passes_fails_crashes_or_does_not_end(self):
        self.assertIsNone(self.judged("pass", 5))
        self.assertIsNone(self.judged("import os; assert os.environ['TENON_MUTANT'] == '7'", 5, 7))
        self.assertEqual(self.judged("raise SystemExit(1)", 5), "failed")
        self.assertEqual(self.judged("import os; os.abort()", 5), "signal 6")
        self.assertEqual(self.judged("while True: pass", 1), "timeout", "by its processor time")
        self.assertEqual(self.judged(f"bytearray({2 * mutate.MOST_MEMORY})", 5), "failed", "asks for too much memory")

    def test_what_waits_ends_by_the_clock_with_what_it_started(self):
        mutate.WAITING, before = 1, mutate.WAITING
        try:
            with tempfile.TemporaryDirectory() as folder:
                child = pathlib.Path(folder) / "child"
                code = ("import subprocess, time; c = subprocess.Popen(['sleep', '600']); "
                        f"open('{child}', 'w').write(str(c.pid)); time.sleep(600)")
                self.assertEqual(self.judged(code, 2), "timeout")
                self.assertFalse(self.is_running(int(child.read_text())))
        finally:
            mutate.WAITING = before

    @staticmethod
    def is_running(process):
        for _ in range(50):  # what is ended is gone a moment later
            try:
                with open(f"/proc/{process}/stat") as stat:
                    if stat.read().rpartition(")")[2].split()[0] == "Z":
                        return False
            except OSError:
                return False
            time.sleep(0.1)
        return True

    def test_folders_have_suites(self):
        self.assertEqual(mutate.suites_of("linker/access/plan"), mutate.FOLDERS["linker/access"])
        self.assertEqual(mutate.suites_of("linker/object"), mutate.FOLDERS["linker"])
        self.assertEqual(mutate.suites_of("runtime"), [])
        self.assertIn("ptx/opcode_table.cpp", mutate.sources_of(["linker/access"]))

    def test_the_list_of_equivalents_names_mutants(self):
        paths = {entry["path"] for entry in json.loads((mutate.ROOT / "scripts/mutation/equivalent.json").read_text())}
        folders = sorted({str(pathlib.PurePosixPath(path).parent) for path in paths})
        if folders:
            mutate.read_equivalent(mutate.collect(folders), folders)  # exits where one names none


if __name__ == "__main__":
    unittest.main()
