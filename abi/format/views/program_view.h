// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A typed, read-only view of a verified program.
#pragma once

#include "abi/format/program_generated.h"
#include "abi/format/views/executable_view.h"
#include "support/result.h"

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tenon::abi {

class ProgramView {
public:
  /// Verifies and wraps; `bytes` is borrowed and outlives the view. Errors of verifyProgram.
  static Result<ProgramView> create(std::span<const uint8_t> bytes, std::string_view name);

  const fb::Program &raw() const { return *root_; }
  size_t functionCount() const;
  /// Of the edition.
  const fb::Function &functionAt(size_t index) const;
  /// Of the edition; null: there is none.
  const fb::Function *initializer() const;
  /// How many editions there are beside the program's own functions.
  size_t editionCount() const;
  const fb::Edition &editionAt(size_t index) const;
  /// Functions are those of this edition from now on; nothing: the program's own, as they are to begin with.
  void setEdition(std::optional<uint32_t> index) { edition_ = index; }
  std::optional<uint32_t> edition() const { return edition_; }
  /// A copy with that edition's functions.
  ProgramView withEdition(std::optional<uint32_t> index) const;
  /// "sm_80, sm_89"; empty: functions are the program's own.
  std::string editionTargets() const;
  /// Whether the device runs code for one of the edition's targets, by PTX or a cubin.
  bool isEditionFor(size_t index, const DeviceTraits &device) const;
  using LaunchedExports = std::set<std::pair<uint32_t, uint32_t>>; // executable, ordinal
  /// By the functions of the edition.
  LaunchedExports launchedExports() const;
  /// Executables that other functions launch, and those of the edition do not.
  std::set<uint32_t> executablesOfOthers() const;
  /// NotFound lists the functions there are.
  Result<uint32_t> findFunction(std::string_view name) const;
  size_t executableCount() const { return executables_.size(); }
  const ExecutableView &executableAt(size_t index) const { return executables_[index]; }

private:
  const fb::Program *root_ = nullptr;
  std::optional<uint32_t> edition_;
  std::vector<ExecutableView> executables_;
};

} // namespace tenon::abi
