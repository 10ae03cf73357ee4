// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What there is to race: the distinct contractions of a program, and each of them as a program of its own with one
// choice or another. For tuners, which see no MLIR.
#pragma once

#include "compiler/codegen/tuning/tile_choice.h"
#include "compiler/pipeline.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenon::compiler {

/// A contraction on one target.
struct Contraction {
  std::string key;                          // compiler/codegen/tuning/contraction_key.h
  std::string place;                        // of the first that is such
  std::string program;                      // computes it alone (tunable_contraction.h)
  std::vector<codegen::TileChoice> choices; // all there are
  std::optional<codegen::TileChoice>
      chosen;            // that of the compiler's model; nothing: several kernels, one of which runs
  bool isPinned = false; // by an attribute: nobody else decides
};

/// Those of the module in `path`, each once, in the order of the program. `options.targets` has one.
/// @return nothing where the module does not compile: what is wrong is on stderr
std::optional<std::vector<Contraction>> listContractions(const std::string &path, const CompileOptions &options);

/// The bytes of a program that computes the contraction by `choice`; null: as the compiler would.
/// @param why filled where there is none
std::optional<std::vector<uint8_t>> compileAlone(const Contraction &contraction, const codegen::TileChoice *choice,
                                                 const CompileOptions &options, std::string &why);

} // namespace tenon::compiler
