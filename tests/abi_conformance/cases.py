# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A case of a rule: one text file, rules/K-N/pass_*.case or fail_*.case.

  # what it shows
  # run: tenon-link job.json --images=ptx -o job.tnx  (this is the default; any command line; {root} is the source tree)
  # requires: ptxas                            (a program; skipped with that reason where there is none)
  # says: P-4                                  (a failing case: the rule printed, where it is not K-N itself)
  #--- job.json
  ...                                          (sections become files of a fresh folder, in which the command runs)
  #--- expect
  ...                                          (all that is printed, to the letter; absent: nothing)

A passing case exits with 0. A failing one does not, and an error with the rule's number is among what it prints. Lines
before the first section that begin with `#` and hold no field are comments.
"""
import concurrent.futures
import dataclasses
import pathlib
import re
import shlex
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEFAULT_RUN = "tenon-link job.json --images=ptx -o job.tnx"
TIMEOUT_S = 120


@dataclasses.dataclass
class Result:
    group: str
    name: str
    kind: str  # pass, fail (a rule); good, twin (the corpus)
    outcome: str  # passed, failed, skipped
    detail: str = ""


def split(text):
    """(fields, {section: content}) of a case file."""
    head, *parts = re.split(r"^#--- (.+)\n", text, flags=re.MULTILINE)
    fields = dict(re.findall(r"^# (run|requires|says): (.*)$", head, re.MULTILINE))
    return fields, dict(zip(parts[::2], parts[1::2]))


def first_difference(found, wanted):
    found, wanted = found.splitlines(), wanted.splitlines()
    for line, (a, b) in enumerate(zip(found + ["<end>"], wanted + ["<end>"]), 1):
        if a != b:
            return f"line {line}: found `{a}`, wanted `{b}`"
    return "they differ in the end of the line"


def run_case(path, folder, update):
    kind = path.stem.split("_")[0]
    result = Result(path.parent.name, path.stem, kind, "failed")
    text = path.read_text()
    fields, sections = split(text)
    for program in fields.get("requires", "").split():
        if not shutil.which(program):
            result.outcome, result.detail = "skipped", f"{program} is not there"
            return result
    expect = sections.pop("expect", "")
    folder.mkdir(parents=True)
    for name, content in sections.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    command = fields.get("run", DEFAULT_RUN).replace("{root}", str(ROOT))
    try:
        ran = subprocess.run(["sh", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        result.detail = f"`{command}` ran for more than {TIMEOUT_S} s"
        return result
    printed = ran.stdout.decode(errors="replace")
    # The architectures are listed by abi/arch_table.cpp, and not again by a case.
    printed = re.sub(r"([Kk]nown): sm_\w+(, sm_\w+)+", r"\1: ALL", printed)
    if update and printed != expect:
        head = re.sub(r"^#--- expect\n[\s\S]*", "", text, flags=re.MULTILINE)
        path.write_text(head + (f"#--- expect\n{printed}" if printed else ""))
        expect = printed
    if kind not in ("pass", "fail"):
        result.detail = "the name of a case begins with pass_ or fail_"
    elif ran.returncode < 0:
        result.detail = f"`{command}` was ended by signal {-ran.returncode}"
    elif (ran.returncode == 0) != (kind == "pass"):
        result.detail = f"exit status {ran.returncode}: {printed.strip()[:300] or 'nothing printed'}"
    elif kind == "fail" and f"[{fields.get('says', result.group)}]" not in printed:
        result.detail = f"no [{fields.get('says', result.group)}] in: {printed.strip()[:300]}"
    elif printed != expect:
        result.detail = first_difference(printed, expect)
    else:
        result.outcome = "passed"
    return result


def run_all(folder, scratch, wanted, update):
    paths = sorted(path for path in folder.glob("K-*/*.case") if wanted in f"{path.parent.name}/{path.stem}")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda path: run_case(path, scratch / path.parent.name / path.stem, update), paths))
