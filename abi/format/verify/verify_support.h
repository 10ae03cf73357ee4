// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Private to abi/format/verify*.cpp: how a broken rule is said, and how a path like "variants[2]: images[0]" is built
// only once something is broken. A check returns its Status without a place; each caller on the way out puts its own in
// front.
#pragma once

#include "abi/format/executable_generated.h"
#include "abi/format/program_generated.h"
#include "support/result.h"

#include <set>
#include <span>
#include <string_view>
#include <vector>

namespace tenon::abi::verify {

/// DataLoss: "[F-9] ..."; `rule` is one of abi/executable_format.md.
template <typename... Args> Status broken(std::string_view rule, const Args &...args) {
  return makeError(StatusCode::DataLoss, '[', rule, "] ", args...);
}

/// The bytes under verification. The budget bounds the work: FlatBuffers may share a table or vector any number of
/// times, so a small file could otherwise ask for 10^12 checks (F-2).
class VerifiedBytes {
public:
  explicit VerifiedBytes(std::span<const uint8_t> bytes) : bytes_(bytes), budget_(4 * uint64_t(bytes.size()) + 1024) {}
  std::span<const uint8_t> bytes() const { return bytes_; }
  /// Accounts for `count` elements about to be visited.
  Status spend(uint64_t count) {
    if (count > budget_)
      return broken("F-2", "tables are shared so often that the content is larger than any file of ", bytes_.size(),
                    " bytes needs");
    budget_ -= count;
    return okStatus();
  }

private:
  std::span<const uint8_t> bytes_;
  uint64_t budget_;
};

/// Elements of a vector that may be absent.
template <typename T> uint32_t sizeOf(const flatbuffers::Vector<T> *vector) {
  return vector ? vector->size() : 0;
}

/// Calls check(index, element) for every element; the first failure comes back as "field[index]: ...".
template <typename T, typename Check>
Status forEach(VerifiedBytes &file, const flatbuffers::Vector<T> *vector, std::string_view field, Check check) {
  TENON_RETURN_IF_ERROR(file.spend(sizeOf(vector)));
  for (uint32_t i = 0; i < sizeOf(vector); ++i)
    if (Status status = check(i, vector->Get(i)); !status.ok())
      return std::move(status).withContext(concat(field, '[', i, ']'));
  return okStatus();
}

/// A failure with "context: " in front.
inline Status within(std::string_view context, Status status) {
  return std::move(status).withContext(context);
}

/// F-5: `value` is an enumerator of E, whose values are dense.
template <typename E> Status checkEnum(std::string_view field, E value) {
  if (value < E::MIN || value > E::MAX)
    return broken("F-5", field, " has the unknown value ", static_cast<unsigned>(value));
  return okStatus();
}

/// `index` is below `count`; `what` names the things counted.
inline Status checkIndex(std::string_view rule, std::string_view field, uint64_t index, uint64_t count,
                         std::string_view what) {
  if (index >= count)
    return broken(rule, field, " is ", index, ", there are ", count, ' ', what);
  return okStatus();
}

/// F-4: a name is not empty and has no control characters.
Status checkName(VerifiedBytes &file, std::string_view field, const flatbuffers::String *name);
/// F-4: such a name that is also new in `seen`.
Status checkUniqueName(VerifiedBytes &file, std::string_view field, const flatbuffers::String *name,
                       std::set<std::string_view> &seen);

/// F-2: element data lies at a multiple of `alignment` from the start of the buffer. The FlatBuffers verifier checks
/// the alignment of a vector's length only.
template <typename T>
Status checkAlignment(const VerifiedBytes &file, const flatbuffers::Vector<T> *vector, size_t alignment,
                      std::string_view field) {
  if (sizeOf(vector) == 0)
    return okStatus();
  size_t offset = static_cast<size_t>(vector->Data() - file.bytes().data());
  if (offset % alignment != 0)
    return broken("F-2", field, " starts at byte ", offset, ", not at a multiple of ", alignment);
  return okStatus();
}

/// F-3: kFormatVersion, or a later one up to `newest`.
Status checkFormatVersion(uint32_t version, uint32_t newest);

/// F-1 and F-2: `bytes` hold a buffer with identifier "TNX1"; then every rule F-3 to F-12.
Status checkExecutableBytes(std::span<const uint8_t> bytes);
/// F-3 to F-12 over a buffer that passed F-1 and F-2.
Status checkExecutable(VerifiedBytes &file, const fb::Executable &executable);

/// What the dispatches of a function must match of one export.
struct ExportShape {
  std::vector<bool> readOnly; // [bindings]
  uint32_t constantWords = 0; // that a dispatch passes
};
/// Everything of a program that its functions refer to.
struct ProgramScope {
  uint32_t constantCount = 0;
  const flatbuffers::Vector<flatbuffers::Offset<fb::Global>> *globals = nullptr; // verified
  std::vector<std::vector<ExportShape>> executables;                             // [executable][ordinal]
};
/// F-3 to F-22 over a buffer that passed F-1 and F-2; VerifiedBytes::bytes() is the whole file, since constants may lie
/// behind the FlatBuffer in it.
Status checkProgram(VerifiedBytes &file, const fb::Program &program);
/// F-4, F-5, F-15 to F-22 and F-24 to F-30 over one function.
Status checkFunction(VerifiedBytes &file, const fb::Function &function, const ProgramScope &scope);
/// The same over one that is a block, less what blocks have with each other.
Status checkBlockBody(VerifiedBytes &file, const fb::Function &block, const ProgramScope &scope);
/// Of a function or a block: F-30, but for what blocks have with each other.
Status checkDonated(VerifiedBytes &file, const fb::Function &function);
/// Of numbers that ascend.
bool isDonated(const fb::Function &function, uint32_t input);
/// F-15.
Status checkType(VerifiedBytes &file, const fb::ValueType &type);
Status checkInputType(VerifiedBytes &file, const fb::ValueType &type);
/// F-26 to F-28 over a function with blocks.
Status checkBlocks(VerifiedBytes &file, const fb::Function &function, const ProgramScope &scope);
/// The same kind, element and extents: a dynamic extent is not a static one.
Status checkSameType(VerifiedBytes &file, std::string_view rule, std::string_view what, const fb::ValueType &found,
                     const fb::ValueType &wanted);
/// F-31 over all of the program's editions; its functions are verified.
Status checkEditions(VerifiedBytes &file, const fb::Program &program, const ProgramScope &scope);
/// F-28.
Status checkInitializer(VerifiedBytes &file, const fb::Function &initializer, const ProgramScope &scope);
/// F-28.
Status checkGlobal(VerifiedBytes &file, const fb::Global &global, const fb::Program &program);
/// No block anywhere, and no global.
bool needsBlocksFormat(const fb::Program &program);

} // namespace tenon::abi::verify
