#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""object_schema.py OUT NAMESPACE FILE...: joins schemas into one, in NAMESPACE. From it flatc makes classes that can
be changed and written again (--gen-object-api), beside the read-only ones that everything else uses."""
import re
import sys

out, namespace, *files = sys.argv[1:]
text = f"namespace {namespace};\n"
for file in files:
    for line in open(file, encoding="utf-8"):
        # The last file's root is the joined schema's.
        if re.match(r"(include|namespace)\b", line) or (file != files[-1] and re.match(r"(root_type|file_)", line)):
            continue
        text += line
open(out, "w", encoding="utf-8").write(text)
