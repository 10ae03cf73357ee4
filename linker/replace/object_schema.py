#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""object_schema.py OUT NAMESPACE FILE...: joins schemas into one, in NAMESPACE. From it flatc makes classes that can
be changed and written again (--gen-object-api), beside the read-only ones that everything else uses. An alignment of 64
becomes 32: what flatc generates asserts that there is none larger, and abi/format/aligned_bytes.h writes those."""
import re
import sys

out, namespace, *files = sys.argv[1:]
text = f"namespace {namespace};\n"
for file in files:
    for line in open(file, encoding="utf-8"):
        # The last file's root is the joined schema's.
        if re.match(r"(include|namespace)\b", line) or (file != files[-1] and re.match(r"(root_type|file_)", line)):
            continue
        text += re.sub(r"force_align: *64", "force_align: 32", line)
open(out, "w", encoding="utf-8").write(text)
