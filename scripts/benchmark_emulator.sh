#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# In a bundle: measures the emulator on this machine, with 1, 2, 4, ... threads up to its cores, short launches
# and long ones, and as many processes at once for comparison. Writes
# emulator_DATE.csv and .md beside this script. Arguments go to the program.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
export TENON_EMULATOR_LIBRARY=$PWD/bin/libtenon_emulator.so
threads=1
for ((n = 2; n <= $(nproc); n *= 2)); do threads+=,$n; done
name=emulator_$(date -u +%Y_%m_%d)
benchmarks/tenon-emulator-benchmark --scaling --threads="$threads" --csv="$name.csv" --md="$name.md" "$@"
cat "$name.md"
