// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The two entries of verification and what executables and programs share: the bytes as a FlatBuffer (F-1, F-2), the
// format's version (F-3) and names (F-4). The rules of each kind of file are in verify_executable.cpp,
// verify_program.cpp and verify_function.cpp.
#include "abi/format/verify/verify.h"

#include "abi/format/file_kind.h"
#include "abi/format/verify/verify_support.h"

#include <algorithm>

namespace tenon::abi {

namespace verify {

// F-2. Depth: a program nests 6 tables, an executable 4.
static constexpr flatbuffers::uoffset_t kMaxDepth = 16;
static constexpr flatbuffers::uoffset_t kMaxTables = 1000000;
static constexpr size_t kSmallestBuffer = 16;

/// F-1 and F-2 with the generated code of root type T. A file past 2 GiB may hold constants there, never tables.
template <typename T> static Status checkStructure(std::span<const uint8_t> bytes, const char *identifier) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kBufferAlignment != 0)
    return makeError(StatusCode::InvalidArgument, "[F-1] the buffer is not at a multiple of ", kBufferAlignment,
                     " bytes in memory");
  if (bytes.size() < kSmallestBuffer || !flatbuffers::BufferHasIdentifier(bytes.data(), identifier)) {
    const std::string_view found(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    const bool wantsProgram = std::string_view(identifier) == fb::ProgramIdentifier();
    const std::string text = wantsProgram ? explainProgramWanted(found) : explainExecutableWanted(found);
    return broken("F-1", text, bytes.size() < kSmallestBuffer ? concat(" (", bytes.size(), " bytes)") : std::string());
  }
  size_t tables = std::min<size_t>(bytes.size(), FLATBUFFERS_MAX_BUFFER_SIZE - 1);
  flatbuffers::Verifier verifier(bytes.data(), tables, kMaxDepth, kMaxTables);
  if (!verifier.VerifyBuffer<T>(identifier))
    return broken("F-2", "an offset, size or required field is wrong, or there are more than ", kMaxTables,
                  " tables: the file (", bytes.size(), " bytes) was cut short or damaged, write it again");
  return okStatus();
}

Status checkFormatVersion(uint32_t version, uint32_t newest) {
  if (version >= kFormatVersion && version <= newest)
    return okStatus();
  return broken("F-3", "format version ", version, ", this build reads ", kFormatVersion,
                newest == kFormatVersion ? std::string() : concat(" and ", newest),
                version > newest ? ": update Tenon" : ": build the file again");
}

Status checkName(VerifiedBytes &file, std::string_view field, const flatbuffers::String *name) {
  if (!name || name->size() == 0)
    return broken("F-4", field, " is empty");
  TENON_RETURN_IF_ERROR(file.spend(name->size()));
  auto isControl = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::any_of(name->begin(), name->end(), isControl))
    return broken("F-4", field, " has a control character");
  return okStatus();
}

Status checkUniqueName(VerifiedBytes &file, std::string_view field, const flatbuffers::String *name,
                       std::set<std::string_view> &seen) {
  TENON_RETURN_IF_ERROR(checkName(file, field, name));
  if (!seen.insert(name->string_view()).second)
    return broken("F-4", field, " '", name->string_view(), "' is there twice");
  return okStatus();
}

Status checkExecutableBytes(std::span<const uint8_t> bytes) {
  TENON_RETURN_IF_ERROR(checkStructure<fb::Executable>(bytes, fb::ExecutableIdentifier()));
  VerifiedBytes file(bytes);
  return checkExecutable(file, *fb::GetExecutable(bytes.data()));
}

static Status checkProgramBytes(std::span<const uint8_t> bytes) {
  TENON_RETURN_IF_ERROR(checkStructure<fb::Program>(bytes, fb::ProgramIdentifier()));
  VerifiedBytes file(bytes);
  return checkProgram(file, *fb::GetProgram(bytes.data()));
}

} // namespace verify

Status verifyExecutable(std::span<const uint8_t> bytes, std::string_view name) {
  return verify::within(concat('\'', name, '\''), verify::checkExecutableBytes(bytes));
}

Status verifyProgram(std::span<const uint8_t> bytes, std::string_view name) {
  return verify::within(concat('\'', name, '\''), verify::checkProgramBytes(bytes));
}

} // namespace tenon::abi
