// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A header of 16 bytes {magic, version:16, bytes of it:16, bytes behind it:64}, then entries:
//
//   0 kind:16    2 version:16    4 bytes of this header:32    8 bytes behind it:64    16 bytes of them in use:32, or 0
//   28 architecture:32           40 flags:64                  56 bytes once unpacked:64
#include "linker/object/fatbin.h"

#include "abi/format/unpack_zstd.h"
#include "linker/object/byte_reader.h"
#include "support/memory.h"

#include <lz4.h>
#include <zstd.h>

namespace tenon::linker {

namespace {

constexpr uint32_t kMagic = 0xBA55ED50, kWrapperMagic = 0x466243B1;
constexpr uint64_t kWrapperBytes = 24; // {magic:32, version:32, fatbin:64, file name or more fatbins:64}
constexpr uint64_t kHeaderBytes = 16, kEntryBytes = 64;
constexpr uint64_t kMaxImageBytes = 512u << 20;
constexpr uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000, kFlagA = 0x100000, kFlagF = 0x200000;

Status damaged(std::string_view what) {
  return makeError(StatusCode::DataLoss, "the fatbin is damaged: ", what);
}

FatbinEntry::Kind kindOf(uint16_t number) {
  switch (number) {
  case 1:
    return FatbinEntry::Kind::Ptx;
  case 2:
    return FatbinEntry::Kind::Cubin;
  case 8:
    return FatbinEntry::Kind::LtoIr;
  default:
    return FatbinEntry::Kind::Unknown;
  }
}

/// One entry at the front of `bytes`, which moves behind it.
Result<FatbinEntry> takeEntry(std::string_view &bytes) {
  const uint64_t header = numberAt<uint32_t>(bytes, 4);
  const uint64_t stored = numberAt<uint64_t>(bytes, 8);
  if (bytes.size() < kEntryBytes || header < kEntryBytes || !bytesAt(bytes, 0, header))
    return damaged("an entry's header ends outside");
  std::optional<std::string_view> payload = bytesAt(bytes, header, stored);
  if (!payload)
    return damaged("an entry ends outside");
  FatbinEntry entry;
  entry.kindNumber = numberAt<uint16_t>(bytes, 0);
  entry.kind = kindOf(entry.kindNumber);
  entry.arch.number = uint16_t(numberAt<uint32_t>(bytes, 28));
  const uint64_t flags = numberAt<uint64_t>(bytes, 40);
  entry.arch.suffix = flags & kFlagA ? abi::ArchSuffix::A : flags & kFlagF ? abi::ArchSuffix::F : abi::ArchSuffix::None;
  if (flags & (kFlagLz4 | kFlagZstd)) {
    entry.packing = flags & kFlagZstd ? FatbinEntry::Packing::Zstd : FatbinEntry::Packing::Lz4;
    entry.size = numberAt<uint64_t>(bytes, 56);
    const uint64_t used = numberAt<uint32_t>(bytes, 16);
    if (used > payload->size())
      return damaged("an entry's data ends outside");
    entry.payload = payload->substr(0, used);
  } else {
    entry.size = stored;
    entry.payload = *payload;
  }
  bytes.remove_prefix(header + stored);
  return entry;
}

/// https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md
Result<std::string> unpackLz4(std::string_view payload, uint64_t size) {
  constexpr uint64_t kHighestRatio = 255; // no block stands for more bytes than this times its own
  std::string out;
  bool isSound = size / kHighestRatio <= payload.size() && payload.size() <= LZ4_MAX_INPUT_SIZE;
  if (isSound && (size > 0 || !payload.empty())) {
    TENON_RETURN_IF_ERROR(resizeChecked(out, size, "what an entry unpacks to"));
    isSound = LZ4_decompress_safe(payload.data(), out.data(), int(payload.size()), int(size)) == int(size);
  }
  if (!isSound)
    return makeError(StatusCode::DataLoss, "LZ4 data is damaged");
  return out;
}

Result<std::string> unpackZstd(std::string_view payload, uint64_t size) {
  if (ZSTD_getFrameContentSize(payload.data(), payload.size()) != size)
    return damaged("an entry's size is not that of its data");
  std::vector<uint8_t> out;
  const std::span bytes(reinterpret_cast<const uint8_t *>(payload.data()), payload.size());
  if (Status status = abi::unpackZstd(bytes, size, out); !status.ok())
    return damaged(concat("an entry: ", status.message()));
  return std::string(out.begin(), out.end());
}

} // namespace

std::string FatbinEntry::name() const {
  std::string_view extension;
  switch (kind) {
  case Kind::Ptx:
    extension = ".ptx";
    break;
  case Kind::Cubin:
    extension = ".cubin";
    break;
  case Kind::LtoIr:
    extension = ".ltoir";
    break;
  case Kind::Unknown:
    extension = ".unknown";
    break;
  }
  return concat(arch.toString(), extension);
}

Result<std::string> FatbinEntry::unpack() const {
  if (size > kMaxImageBytes)
    return makeError(StatusCode::ResourceExhausted, "an image of ", size, " bytes is above the limit of ",
                     kMaxImageBytes);
  switch (packing) {
  case Packing::None:
    return std::string(payload);
  case Packing::Lz4:
    return unpackLz4(payload, size);
  case Packing::Zstd:
    return unpackZstd(payload, size);
  }
}

Result<std::vector<FatbinEntry>> readFatbin(std::string_view bytes) {
  std::vector<FatbinEntry> entries;
  for (uint32_t module = 0; !bytes.empty(); ++module) {
    const uint64_t header = numberAt<uint16_t>(bytes, 6), size = numberAt<uint64_t>(bytes, 8);
    if (numberAt<uint32_t>(bytes, 0) == kWrapperMagic)
      return damaged("it is the wrapper of one, which holds pointers and no code");
    if (bytes.size() < kHeaderBytes || numberAt<uint32_t>(bytes, 0) != kMagic || header < kHeaderBytes)
      return damaged("its header is not one");
    std::optional<std::string_view> contents = bytesAt(bytes, header, size);
    if (!contents)
      return damaged("it ends outside");
    while (!contents->empty()) {
      TENON_ASSIGN_OR_RETURN(FatbinEntry entry, takeEntry(*contents));
      entry.module = module;
      entries.push_back(std::move(entry));
    }
    bytes.remove_prefix(header + size);
    const size_t next = bytes.find_first_not_of('\0'); // in a section, linkers pad between them
    bytes.remove_prefix(next == std::string_view::npos ? bytes.size() : next);
  }
  return entries;
}

Status checkFatbinWrappers(std::string_view bytes) {
  if (bytes.size() % kWrapperBytes != 0)
    return damaged(concat("its wrappers have ", bytes.size(), " bytes, not a multiple of ", kWrapperBytes));
  for (uint64_t at = 0; at < bytes.size(); at += kWrapperBytes)
    if (numberAt<uint32_t>(bytes, at) != kWrapperMagic)
      return damaged(concat("the wrapper at byte ", at, " is none"));
  return okStatus();
}

} // namespace tenon::linker
