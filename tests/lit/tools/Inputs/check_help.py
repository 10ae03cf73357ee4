#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_help.py TOOL...: each tool's --help has examples and exit statuses, and its examples use options that it has."""
import re
import shlex
import subprocess
import sys

wrong = []
for tool in sys.argv[1:]:
    text = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout
    parts = re.split(r"^([a-z ]+):$", text, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2]))
    known = set(re.findall(r"^  (--?[A-Za-z0-9_-]+)", sections.get("options", ""), re.MULTILINE))
    examples = re.findall(r"^  (\S.*)$", sections.get("examples", ""), re.MULTILINE)
    if not examples:
        wrong.append(f"{tool}: no examples")
    for example in examples:
        words = [word for word in shlex.split(example) if not re.match(r"[A-Z_]+=", word)]
        if words[0] != tool:
            wrong.append(f"{tool}: the example '{example}' calls '{words[0]}'")
        for word in words[1:]:
            if word.startswith("-") and not word.startswith("--benchmark_") and word.split("=")[0] not in known:
                wrong.append(f"{tool}: the example '{example}' has '{word}', which is none of its options")
    statuses = re.findall(r"^  ([0-9]+) ", sections.get("exit status", ""), re.MULTILINE)
    if statuses[:3] != ["0", "1", "2"]:
        wrong.append(f"{tool}: exit statuses {statuses}")
    if max(map(len, text.splitlines())) > 132:
        wrong.append(f"{tool}: a line of --help is longer than 132")
print("\n".join(wrong))
sys.exit(bool(wrong))
