# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The corpus: real kernels, compiled by nvcc for every target, linked into one executable. Each NAME.cu has a NAME.json:

  {
    "about": "what it holds",
    "targets": ["sm_75", ...],               absent: all of ALL_TARGETS
    "exports": [...],                        as in a manifest (linker/README.md)
    "flags": ["-rdc=true"],                  for nvcc, besides -ptx -arch=compute_N
    "warns": ["[K-4] ..."],                  warnings that are right, in part; no other may be printed
    "refused": {"rule": ..., "says": ...},   only where the source is not supported: there is no good link
    "twins": [{
      "name": "one binding too many",
      "change": {"exports/0/layout/bindings": [...]},     JSON of the manifest, by path; null takes a member out
      "define": "TWIN_WIDTH", "in": ["sm_90"],            or source compiled with -D, for these targets (absent: all),
      "flags": ["-rdc=true"],                             with flags of its own
      "targets": ["sm_80", ...],                          fewer targets, for speed
      "rule": "K-11", "says": "part of the message", "errors": 9      (errors absent: one or more; of that rule)
    }, ...]
  }

A good kernel links with --strict, without an error or a warning, and every export is there for every target. A twin is
refused, and no rule but the one named is among its errors, except K-15 (variants agree) where only some targets are
broken. What nvcc made is kept in the cache, by content and version.
"""
import concurrent.futures
import copy
import hashlib
import json
import pathlib
import re
import subprocess

from cases import Result

ALL_TARGETS = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_120"]
NVCC_FLAGS = ["-ptx", "-std=c++17", "-lineinfo"]


class Compiler:
    def __init__(self, nvcc, cache):
        self.nvcc, self.cache = nvcc, cache
        self.version = subprocess.run([nvcc, "--version"], capture_output=True, check=True).stdout
        cache.mkdir(parents=True, exist_ok=True)

    def compile(self, source, target, flags):
        """PTX of `source`; raises RuntimeError with what nvcc printed."""
        command = [self.nvcc, *NVCC_FLAGS, f"-arch=compute_{target[3:]}", *flags]
        key = hashlib.sha256(self.version + repr(command).encode() + source.read_bytes()).hexdigest()[:16]
        ptx = self.cache / f"{source.stem}_{target}_{key}.ptx"
        if not ptx.exists():
            partial = ptx.with_suffix(".part")
            ran = subprocess.run([*command, str(source), "-o", str(partial)], capture_output=True, check=False)
            if ran.returncode:
                raise RuntimeError(f"nvcc refuses {source.name} for {target}: {ran.stderr.decode()[:400]}")
            partial.rename(ptx)
        return ptx


def apply_change(manifest, path, value):
    *parents, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    at = manifest
    for step in parents:
        at = at[step]
    if value is None:
        del at[last]
    elif isinstance(at, list) and last == len(at):
        at.append(value)
    else:
        at[last] = value


def link(folder, name, exports, objects, *flags):
    """(exit status, printed) of tenon-link over `objects`, [(target, ptx)]."""
    folder.mkdir(parents=True)
    manifest = {"name": name, "exports": exports,
                "objects": [{"path": str(ptx), "target": target} for target, ptx in objects]}
    (folder / "job.json").write_text(json.dumps(manifest, indent=1))
    command = ["tenon-link", "job.json", "-o", "job.tnx", *flags]
    ran = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=300)
    return ran.returncode, ran.stderr.decode(errors="replace")


def judge_refusal(status, printed, rule, says, errors=None, also=()):
    """'' when it was refused as it should be, else what is wrong."""
    found = re.findall(r"error: \[([A-Z]-\d+)\]", printed)
    if status == 0:
        return "it links"
    if status < 0:
        return f"ended by signal {-status}"
    if rule not in found or set(found) - {rule, *also}:
        return f"found errors of {sorted(set(found)) or 'no rule'}, wanted {rule}: {printed[:300]}"
    if says not in printed:
        return f"wanted `{says}` in: {printed[:400]}"
    if errors is not None and found.count(rule) != errors:
        return f"found {found.count(rule)} errors of {rule}, wanted {errors}: {printed[:400]}"
    return ""


def run_good(name, entry, folder, objects):
    result = Result(name, "good", "good", "failed")
    status, printed = link(folder / "good", name, entry["exports"], objects, "--strict")
    unwanted = [line for line in printed.splitlines()
                if re.search(r"(error|warning): ", line) and not any(text in line for text in entry.get("warns", []))]
    if status or unwanted:
        result.detail = f"exit status {status}: {' / '.join(unwanted) or printed[:300]}"
        return result
    dumped = subprocess.run(["tenon-dump", "job.tnx", "--json"], cwd=folder / "good", capture_output=True, check=False)
    variants = json.loads(dumped.stdout)["variants"] if dumped.returncode == 0 else []
    missing = [target for target, _ in objects
               if not any(v["target"] == target and len(v["kernels"]) == len(entry["exports"]) for v in variants)]
    if missing:
        result.detail = f"not whole in the executable: {' '.join(missing)}"
        return result
    result.outcome = "passed"
    result.detail = f"{len(entry['exports'])} kernels, {len(objects)} targets: {entry['about']}"
    return result


def run_twin(name, entry, twin, folder, objects, compile_one):
    result = Result(name, twin["name"], "twin", "failed")
    exports = copy.deepcopy(entry["exports"])
    for path, value in twin.get("change", {}).items():
        apply_change({"exports": exports}, path, value)
    targets = twin.get("targets", [target for target, _ in objects])
    broken = twin.get("in", targets) if "define" in twin else []
    mine = [(target, compile_one(target, ["-D" + twin["define"], *twin.get("flags", [])]) if target in broken else ptx)
            for target, ptx in objects if target in targets]
    status, printed = link(folder / re.sub(r"\W+", "_", twin["name"]), name, exports, mine)
    result.detail = judge_refusal(status, printed, twin["rule"], twin["says"], twin.get("errors"),
                                  also=["K-15"] if "in" in twin else [])
    result.outcome = "failed" if result.detail else "passed"
    return result


def run_entry(source, folder, compiler, wanted):
    name = source.stem
    entry = json.loads(source.with_suffix(".json").read_text())

    def compile_one(target, more=()):
        return compiler.compile(source, target, [*entry.get("flags", []), *more])

    try:
        objects = [(target, compile_one(target)) for target in entry.get("targets", ALL_TARGETS)]
    except RuntimeError as error:
        return [Result(name, "compile", "good", "failed", str(error))]
    results = []
    if "refused" in entry:
        result = Result(name, "refused", "twin", "failed")
        refused = entry["refused"]
        result.detail = judge_refusal(*link(folder / "refused", name, entry["exports"], objects),
                                      refused["rule"], refused["says"])
        result.outcome = "failed" if result.detail else "passed"
        result.detail = result.detail or entry["about"]
        results.append(result)
    else:
        results.append(run_good(name, entry, folder, objects))
    for twin in entry.get("twins", []):
        if wanted in f"{name}/{twin['name']}":
            try:
                results.append(run_twin(name, entry, twin, folder, objects, compile_one))
            except RuntimeError as error:
                results.append(Result(name, twin["name"], "twin", "failed", str(error)))
    return results


def run_all(folder, scratch, cache, nvcc, wanted):
    sources = sorted(source for source in folder.glob("*.cu") if wanted.split("/")[0] in source.stem)
    if not nvcc:
        return [Result(source.stem, "compile", "good", "skipped", "nvcc is not there") for source in sources]
    if not sources:
        return []
    compiler = Compiler(nvcc, cache)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        groups = pool.map(lambda source: run_entry(source, scratch / "corpus" / source.stem, compiler, wanted), sources)
        return [result for group in groups for result in group]
