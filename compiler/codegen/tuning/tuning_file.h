// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tuning file: choices for contractions, which tenon-tune measures and writes, and tenon-compile --tuning reads.
//
//   {
//     "tenon_tuning": 1,
//     "choices": [
//       {
//         "target": "sm_90a",
//         "contraction": "4096x4096x4096 ppr: bf16(d0, d2), bf16(d2, d1), extf, extf, mulf, addf -> f32",
//         "choice": {"by": "wgmma", "rows": 128, "columns": 256},
//         "measured": {...}
//       }
//     ]
//   }
//
// `contraction` is that of contraction_key.h, `choice` that of tile_choice.h. `measured` is for people, and may be left
// out. What else stands in the file is a mistake, so that a slip is not read as if it were not there.
#pragma once

#include "compiler/codegen/tuning/tile_choice.h"
#include "support/diagnostics.h"
#include "support/files/source_file.h"

#include <functional>

namespace tenon::compiler::codegen {

struct TuningEntry {
  abi::TargetArch target;
  std::string contraction;
  TileChoice choice;
  std::string measured;      // JSON as it stands in the file; empty: there is none
  SourceLocation place = {}; // of the entry
};

/// A mistake, at its place.
using TuningMistake = std::function<void(const SourceLocation &place, const std::string &message)>;

/// Reads all of the file. Mistakes of JSON end it, others are all reported.
/// @return nothing where there was one
std::optional<std::vector<TuningEntry>> readTuningFile(const SourceFile &file, const TuningMistake &report);
/// The file, its entries in the order of targets and contractions.
std::string writeTuningFile(std::vector<TuningEntry> entries);

} // namespace tenon::compiler::codegen
