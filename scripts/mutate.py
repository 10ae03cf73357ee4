#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many small mistakes in a folder would its tests notice? Makes mutants of its sources (mutation/cpp_mutants.py),
builds all of them into one set of programs, and runs the folder's suites once for each. A mutant is noticed when a
suite fails, crashes or takes too long; the share of those is printed, and each one that survived.

What a mutant means the same as the source, no test can notice. Those are listed in mutation/equivalent.json, each with
its reason, and are not counted; an entry that matches nothing any more is an error.

Results are kept (build-mutate/results.json), so a run that was stopped goes on, and a second one runs only what survived.
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
from mutation import cpp_mutants  # noqa: E402

# What a folder's sources are judged by, the quickest first: name, ninja targets, command in the build folder.
LINKER = ("unit-linker", ["tests/unit/linker/tenon-linker-test"],
          ["tests/unit/linker/tenon-linker-test", "--gtest_fail_fast", "--gtest_brief=1",
           "--gtest_filter=-*Speed*:KernelTracerFuzz*"])
LINKER_TOOLS = ("unit-linker-tools", ["tests/unit/linker/tenon-linker-tools-test"],
                ["tests/unit/linker/tenon-linker-tools-test", "--gtest_fail_fast", "--gtest_brief=1"])
RULES = ("abi-conformance", ["linker/tools/tenon-link", "tests/abi_conformance/tenon-pack-case"],
         [sys.executable, "{root}/tests/abi_conformance/run.py", "--build={build}", "--rules"])
JUDGE = ("proof-seeds", ["tests/proof/tenon-prove-fuzz"],
         ["tests/proof/tenon-prove-fuzz", "--count=1500", "--most=1"])
ABI = ("unit-abi", ["tests/unit/abi/tenon-abi-test"],
       ["tests/unit/abi/tenon-abi-test", "--gtest_fail_fast", "--gtest_brief=1"])
RUNTIME = ("unit-runtime", ["tests/unit/runtime/tenon-runtime-test", "tests/unit/runtime/libtenon_fake_driver.so",
                            "tests/unit/runtime/libtenon_incomplete_driver.so"],
           ["tests/unit/runtime/tenon-runtime-test", "--gtest_fail_fast", "--gtest_brief=1"])
PTX = ("unit-ptx", ["tests/unit/ptx/tenon-ptx-test"], ["tests/unit/ptx/tenon-ptx-test", "--gtest_fail_fast", "--gtest_brief=1"])
FOLDERS = {
    "linker/access": [LINKER, RULES, JUDGE],
    "linker/passes": [LINKER, LINKER_TOOLS, RULES],
    "linker": [LINKER, LINKER_TOOLS, RULES],
    "abi": [ABI, LINKER, RULES, RUNTIME],
    "ptx": [PTX, LINKER],
}
# Sources elsewhere that belong to a folder's subject: what the proof knows of each opcode.
ALSO = {"linker/access": ["ptx/opcode_table.cpp"]}
SLOWER, SPARE_SECONDS = 4, 20  # a suite may take so much more processor time than without a mutant
WAITING = 10  # ... and by the clock so many times that
FIRST_SECONDS = 1800  # by the clock, without a mutant
MOST_MEMORY = 16 << 30  # bytes of address space of one process


def sources_of(folders):
    return sorted({name for folder in folders for name in sources_of_one(folder)})


def sources_of_one(folder):
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, text=True, check=True,
                           stdout=subprocess.PIPE).stdout.split("\n")
    return [name for name in names if (name.startswith(folder.rstrip("/") + "/") and name.endswith((".cpp", ".h")))
            or name in ALSO.get(folder, ())]


def suites_of(folder):
    while folder:
        if folder in FOLDERS:
            return FOLDERS[folder]
        folder = folder.rpartition("/")[0]
    return []


def suites_of_source(path, folders):
    """Of the folder that it is looked at for, which need not hold it."""
    return next(suites_of(folder) for folder in folders if path in sources_of_one(folder))


def collect(folders):
    headers = [path.read_text(encoding="utf-8") for top in ("support", "abi", "ptx", "linker")
               for path in sorted((ROOT / top).rglob("*.h"))]
    enumerators = cpp_mutants.enumerators_of(headers + [(ROOT / name).read_text(encoding="utf-8") for name in sources_of(folders)])
    found = []
    for name in sources_of(folders):
        found += cpp_mutants.Source(name, (ROOT / name).read_text(encoding="utf-8"), enumerators).mutants()
    return found


def read_equivalent(mutants, folders):
    """{identity: reason}; entries of the folders that name no mutant are an error."""
    path = ROOT / "scripts" / "mutation" / "equivalent.json"
    entries = json.loads(path.read_text(encoding="utf-8"))
    names = set(sources_of(folders))
    reasons, stale = {}, []
    for entry in entries:
        if entry["path"] not in names:
            continue
        matches = [m for m in mutants if m.path == entry["path"] and m.source == entry["line"] and m.operator == entry["operator"]
                   and m.before == entry.get("before", m.before) and m.replacement == entry.get("replacement", m.replacement)
                   and m.nth == entry.get("nth", m.nth)]
        if not matches:
            stale.append(f"{entry['path']}: {entry['operator']} in '{entry['line']}'")
        for match in matches:
            reasons[match.identity()] = entry["reason"]
    if stale:
        sys.exit("mutate: entries of scripts/mutation/equivalent.json name no mutant:\n  " + "\n  ".join(stale))
    return reasons


class Builder:
    """A copy of the sources with the mutants in it, and its build."""

    HEADER = """#pragma once
#ifdef __cplusplus
#include <cstdlib>
inline bool tenonMutant(int number) {
  static const int chosen = [] { const char *text = std::getenv("TENON_MUTANT"); return text ? std::atoi(text) : 0; }();
  return chosen == number;
}
#define TENON_MUTANT(number) tenonMutant(number)
// Of a header, which others need when they compile constants: those have no mutants.
constexpr bool tenonHeaderMutant(int number) { return __builtin_is_constant_evaluated() ? false : tenonMutant(number); }
#define TENON_HEADER_MUTANT(number) tenonHeaderMutant(number)
#endif
"""

    # A choice is no constant, which matters to warnings and to narrowing alone.
    ARGUMENTS = ["-w", "-Wno-c++11-narrowing", "-Wno-narrowing", "-Wno-invalid-constexpr", "-ferror-limit=0",
                 "-fno-color-diagnostics"]

    def __init__(self, folders, work, jobs):
        self.jobs = jobs
        self.work, self.copy, self.build = work, work / "source", work / "build"
        # As they were when the mutants were found: they may be edited while this builds.
        self.texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in sources_of(folders)}

    def mirror(self):
        """The working tree; a file that is the same keeps its time, so that little is built again. Sources that `compile`
        writes with their mutants stay as they are, once they are there for the folder to be configured with."""
        names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], cwd=ROOT, text=True,
                               check=True, stdout=subprocess.PIPE).stdout.split("\0")
        for name in filter(None, names):
            if (ROOT / name).is_file() and not (name in self.texts and (self.copy / name).exists()):
                self.write(name, (ROOT / name).read_bytes())
                shutil.copymode(ROOT / name, self.copy / name)

    def write(self, name, content):
        path = self.copy / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def configure(self):
        self.work.mkdir(parents=True, exist_ok=True)
        header = self.work / "mutant.h"
        if not header.exists() or header.read_text() != self.HEADER:
            header.write_text(self.HEADER)
        if (self.build / "build.ninja").exists():
            return
        subprocess.run(["meson", "setup", str(self.build), str(self.copy), "-Dbuildtype=plain", "-Doptimization=1",
                        "-Dcompiler=false", f"-Dcpp_args={self.ARGUMENTS}", *os.environ.get("TENON_MESON_ARGUMENTS", "").split()],
                       check=True, stdout=subprocess.DEVNULL)

    def make_headers(self):
        """Those that are generated: the sources are looked at before anything is built."""
        listed = subprocess.run(["ninja", "-C", str(self.build), "-t", "targets", "all"], text=True, check=True,
                                stdout=subprocess.PIPE).stdout
        headers = [line.partition(":")[0] for line in listed.split("\n") if re.search(r"\.h: CUSTOM_COMMAND", line)]
        subprocess.run(["ninja", "-C", str(self.build), f"-j{self.jobs}", *headers], check=True, stdout=subprocess.DEVNULL)

    def compile(self, mutants, targets):
        """Builds with as many of the mutants as compile, and returns those."""
        left = list(mutants)
        for attempt in range(20):
            by_path = {}
            for mutant in left:
                by_path.setdefault(mutant.path, []).append(mutant)
            for name, text in self.texts.items():
                if name in by_path:
                    text = self.prepared(cpp_mutants.instrumented(text, by_path[name]))
                    if name.endswith(".h"):
                        text = text.replace("TENON_MUTANT(", "TENON_HEADER_MUTANT(")
                    text = f'#include "{self.work}/mutant.h"\n#line 1 "{name}"\n{text}'
                self.write(name, text.encode())
            printed = self.check(by_path)
            if not re.search(r": (?:fatal )?error: ", printed):
                done = subprocess.run(["ninja", "-C", str(self.build), f"-j{self.jobs}", "-k", "0", *targets], text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                if done.returncode == 0:
                    return left
                printed = done.stdout
            printed = re.sub(r"\x1b\[[0-9;]*m", "", printed)
            bad = {int(n) for n in re.findall(r"^mutant:(\d+):\d+: (?:fatal )?error", printed, flags=re.M)}
            for path, line in set(re.findall(r"^([\w/.]+):(\d+):\d+: (?:fatal )?error", printed, flags=re.M)):
                for mutant in by_path.get(path.removeprefix("../source/"), ()):
                    text = self.texts[mutant.path]
                    first = text.count("\n", 0, mutant.place[1]) + 1
                    last = text.count("\n", 0, mutant.place[2]) + 1
                    if first <= int(line) <= last:
                        bad.add(mutant.number)
            if not bad:  # a template of the library stumbles over what a mutant hands it
                bad = {int(n) for n in re.findall(r"^mutant:(\d+):\d+: note: ", printed, flags=re.M)}
            if not bad:  # where a file without mutants stumbles over one of a header
                bad = {int(n) for n in re.findall(r"TENON_(?:HEADER_)?MUTANT\((\d+)\)", printed)}
            if not bad:  # nothing tells which: those of the files that do not compile
                files = set(re.findall(r"^([\w/.]+):\d+:\d+: (?:fatal )?error", printed, flags=re.M))
                bad = {m.number for m in left if m.path in files}
            if not bad:
                wrong = re.findall(r"^.*(?:error|FAILED|undefined).*$", printed, flags=re.M)
                sys.exit("mutate: the sources do not build:\n" + "\n".join(wrong[:40] or [printed[-6000:]]))
            print(f"mutate: {len(bad)} mutants do not compile", flush=True)
            left = [m for m in left if m.number not in bad]
        sys.exit("mutate: still not everything compiles")

    def check(self, by_path):
        """What the compiler says of the sources with mutants, without making objects: a change of a header that does not
        compile would else cost a build of everything."""
        commands = {}
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            source = os.path.relpath(os.path.join(entry["directory"], entry["file"]), self.copy)
            commands.setdefault(source, (entry["directory"], shlex.split(entry["command"])))

        def run(path):
            directory, command = commands[path]
            kept, skip = [], 0
            for i, part in enumerate(command):
                if skip:
                    skip -= 1
                elif part in ("-o", "-MQ", "-MF"):
                    skip = 1
                elif part == "-include-pch" or (part == "-Xclang" and command[i + 1:i + 2] == ["-include-pch"]):
                    skip = 1 if part == "-include-pch" else 3
                elif part != "-MD" and os.path.basename(part) != "cached_compiler":
                    kept.append(part)
            return subprocess.run([*kept, "-fsyntax-only"], cwd=directory, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT).stdout

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return "".join(pool.map(run, sorted(path for path in by_path if path in commands)))

    @staticmethod
    def prepared(text):
        """Tables that are constant when compiled become constant when the program starts, so that rows can be chosen."""
        text = re.sub(r"^((?:static )?)constexpr ([\w:<>, ]+ \w+\[\w*\] = \{)", r"\1const \2", text, flags=re.M)
        return re.sub(r"^static_assert\(.*?\);", lambda m: "\n" * m.group().count("\n"), text, flags=re.M | re.S)


def limited(processor_seconds):
    """What a child does before it becomes the suite: a mutant that runs for ever, or asks for all memory, ends alone."""
    def apply():
        if processor_seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(processor_seconds), math.ceil(processor_seconds) + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return apply


def run_suite(suite, build, number, limit):
    """None where it passes, else how it failed; and the processor time that it took with its children. The limit is of
    that time, so that other work on the machine makes no mutant look noticed; something that waits ends by the clock."""
    environment = {**os.environ, "TENON_MUTANT": str(number), "TENON_EMULATOR_QUIET": "1"}
    command = [part.format(root=ROOT, build=build) for part in suite[2]]
    if not command[0].startswith("/"):
        command[0] = str(build / command[0])
    with tempfile.TemporaryFile() as output:
        running = subprocess.Popen(command, cwd=build, env=environment, stdout=output, stderr=subprocess.STDOUT,
                                   start_new_session=True, preexec_fn=limited(limit))
        ended = threading.Event()
        late = threading.Timer(WAITING * limit if limit else FIRST_SECONDS, lambda: (ended.set(), end_group(running.pid)))
        late.start()
        _, status, usage = os.wait4(running.pid, 0)
        late.cancel()
        running.returncode = os.waitstatus_to_exitcode(status)
        end_group(running.pid)  # what it started and did not wait for
    seconds = usage.ru_utime + usage.ru_stime
    if ended.is_set() or running.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "timeout", seconds
    if running.returncode < 0:
        return f"signal {-running.returncode}", seconds
    return (None if running.returncode == 0 else "failed"), seconds


def end_group(leader):
    """The processes of a suite that ran in a session of its own."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


def judge(suites, limits, build, mutant):
    for suite in suites:
        failure, _ = run_suite(suite, build, mutant.number, limits[suite[0]])
        if failure:
            return {"noticed": suite[0], "how": failure}
    return {"noticed": ""}


def report(mutants, results, reasons, not_compiled):
    rows = {}
    survivors = []
    for mutant in mutants:
        folder = str(pathlib.PurePosixPath(mutant.path).parent)
        row = rows.setdefault(folder, [0, 0, 0])
        if mutant.identity() in reasons:
            row[2] += 1
            continue
        result = results.get(mutant.identity())
        if not result:
            continue
        row[0] += 1
        row[1] += bool(result["noticed"])
        if not result["noticed"]:
            survivors.append(mutant)
    for mutant in survivors:
        print(f"survived: {mutant.describe()}\n    {mutant.source}")
    total = [sum(row[i] for row in rows.values()) for i in range(3)]
    print(f"\n{'folder':32}{'mutants':>9}{'noticed':>9}{'share':>9}{'equivalent':>12}")
    for folder, row in [*sorted(rows.items()), ("all", total)]:
        share = f"{100 * row[1] / row[0]:.1f} %" if row[0] else "-"
        print(f"{folder:32}{row[0]:9}{row[1]:9}{share:>9}{row[2]:12}")
    print(f"not compiled, not counted: {not_compiled}")
    return total[1] / total[0] if total[0] else 1.0


def main():
    parser = argparse.ArgumentParser(prog="dev mutate", description=__doc__.split("\n\n")[0])
    parser.add_argument("folders", nargs="*", default=["linker/access", "linker/passes", "abi"],
                        help="linker/access, linker/passes and abi by default; any folder of these floors")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (1)")
    parser.add_argument("--count", type=int, default=300, help="mutants in the sample (300); 0: all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="suites that run, and files that compile, at once (one per core)")
    parser.add_argument("--again", action="store_true", help="run what survived before once more")
    parser.add_argument("--only", default="", help="mutants whose description holds this text")
    parser.add_argument("--without", default="", help="suites that are not run, with commas")
    parser.add_argument("--list", action="store_true", help="print the mutants of the sample and stop")
    parser.add_argument("--goal", type=float, default=0, help="exit status 1 below this percentage")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build-mutate", help="where it builds")
    options = parser.parse_args()
    folders = [folder.rstrip("/") for folder in options.folders]
    for folder in folders:
        if not suites_of(folder) or not sources_of_one(folder):
            sys.exit(f"mutate: no suites or no sources for '{folder}'; folders: {', '.join(FOLDERS)}")
    suites = list({suite[0]: suite for folder in folders for suite in suites_of(folder)
                   if suite[0] not in options.without.split(",")}.values())

    mutants = collect(folders)
    reasons = read_equivalent(mutants, folders)
    random.Random(options.seed).shuffle(mutants)
    mutants = [m for m in mutants if options.only in m.describe()]
    everything = len(mutants)
    if options.count:
        mutants = mutants[:options.count]
    order = {m.identity(): i for i, m in enumerate(mutants)}  # a run that is stopped has looked at a smaller sample
    mutants.sort(key=lambda m: (m.path, m.begin, m.operator))
    for number, mutant in enumerate(mutants, 1):
        mutant.number = number
    print(f"mutate: {len(mutants)} of {everything} mutants of {', '.join(folders)}", flush=True)
    if options.list:
        for mutant in mutants:
            print(mutant.describe())
        return 0

    builder = Builder(folders, options.work, options.jobs)
    builder.mirror()
    builder.configure()
    builder.make_headers()
    compiled = builder.compile([m for m in mutants if m.identity() not in reasons], [t for suite in suites for t in suite[1]])
    limits, usable = {}, []
    for suite in suites:
        failure, seconds = run_suite(suite, builder.build, 0, 0)
        if failure:
            print(f"mutate: {suite[0]} is left out: it fails without a mutant ({failure})", flush=True)
            continue
        usable.append(suite)
        limits[suite[0]] = SLOWER * seconds + SPARE_SECONDS
    if not usable:
        sys.exit("mutate: no suite passes without a mutant")

    kept = options.work / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    todo = [m for m in compiled if m.identity() not in results or (options.again and not results[m.identity()]["noticed"])]
    todo.sort(key=lambda m: order[m.identity()])
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        names = {m.path: {suite[0] for suite in suites_of_source(m.path, folders)} for m in todo}
        running = {pool.submit(judge, [s for s in usable if s[0] in names[m.path]], limits, builder.build, m): m for m in todo}
        for done, future in enumerate(concurrent.futures.as_completed(running), 1):
            results[running[future].identity()] = future.result()
            if done % 20 == 0 or done == len(todo):
                kept.write_text(json.dumps(results, indent=0, sort_keys=True))
                print(f"mutate: {done} of {len(todo)} after {time.monotonic() - begin:.0f} s", flush=True)
    share = report([m for m in mutants if m in compiled or m.identity() in reasons], results, reasons,
                   len(mutants) - len(compiled) - sum(m.identity() in reasons for m in mutants))
    return int(100 * share < options.goal)


if __name__ == "__main__":
    sys.exit(main())
