#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""complete_in_bash.py TOOL: prints what bash would offer behind some words, as TOOL's completions say."""
import os
import subprocess
import sys
import tempfile

tool = sys.argv[1]
# As bash splits a line: '=' is a word of its own, unless a user took it from COMP_WORDBREAKS.
LINES = [["--ta"], ["--target", "=", "sm_80,sm_90"], ["--target=sm_90"], ["--images", "="],
         ["--object-search-path", "=", "fol"], ["-o", "f"], ["--strict", "f"]]
script = subprocess.run([tool, "--help=bash"], capture_output=True, text=True, check=True).stdout
script += "compopt() { :; }\n"
for words in LINES:
    quoted = " ".join(f"'{word}'" for word in words)
    script += (f"COMP_WORDS=({tool} {quoted}); COMP_CWORD={len(words)}; COMPREPLY=()\n"
               f"_{tool.replace('-', '_')}; mapfile -t found < <(printf '%s\\n' \"${{COMPREPLY[@]}}\")\n"
               f"echo {quoted} '->' \"${{found[@]}}\"\n")
with tempfile.TemporaryDirectory() as folder:
    os.mkdir(os.path.join(folder, "folder"))
    open(os.path.join(folder, "file"), "w").close()
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True)
print(done.stdout, done.stderr)
sys.exit(done.returncode or bool(done.stderr))
