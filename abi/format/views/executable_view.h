// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A typed, read-only view of a verified executable.
#pragma once

#include "abi/format/executable_generated.h"
#include "abi/layout.h"
#include "abi/target_arch.h"
#include "support/result.h"

#include <span>
#include <vector>

namespace tenon::abi {

class ExecutableView {
public:
  /// Verifies and wraps; `bytes` is borrowed and outlives the view. Errors of verifyExecutable.
  static Result<ExecutableView> create(std::span<const uint8_t> bytes, std::string_view name);

  const fb::Executable &raw() const { return *root_; }
  std::string_view name() const;
  size_t exportCount() const { return exports_.size(); }
  /// An export, without its declaredAt.
  const Export &exportAt(uint32_t ordinal) const { return exports_[ordinal]; }
  /// Where an export is declared; unknown where the file does not say. Decoded each time: for messages.
  SourceLocation declaredAt(uint32_t ordinal) const;
  /// Ordinal of an export by name. NotFound lists the exports there are.
  Result<uint32_t> findExport(std::string_view name) const;

  /// Every image that holds the export, in file order: what rankCandidates takes. variantIndex and imageIndex are set.
  std::vector<Candidate> candidates(uint32_t ordinal) const;
  /// The kernel of an export in a variant, or null.
  const fb::Kernel *findKernel(uint32_t variantIndex, uint32_t ordinal) const;
  /// The entry point of a kernel in its images.
  std::string_view symbolOf(const fb::Kernel &kernel) const;
  /// The image's bytes, decompressed. DataLoss: they do not decompress to the declared size.
  Result<std::vector<uint8_t>> imageBytes(uint32_t imageIndex) const;

private:
  friend class ProgramView; // its executables are verified with it
  static ExecutableView wrapVerified(const uint8_t *bytes);

  const fb::Executable *root_ = nullptr;
  std::vector<Export> exports_;
};

} // namespace tenon::abi
