// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of 512 bytes: a header, then the contents, padded; two empty blocks at the end.
#include "linker/tools/tar_writer.h"

#include "support/align.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tenon::linker {

static constexpr size_t kBlock = 512, kNameBytes = 100;

void TarWriter::pad() {
  out_.resize(alignUp(out_.size(), kBlock), '\0');
}

void TarWriter::header(std::string_view path, size_t bytes, char type, bool isProgram) {
  char block[kBlock] = {};
  std::memcpy(block, path.data(), std::min(path.size(), kNameBytes));
  std::snprintf(block + 100, 8, "%07o", isProgram ? 0755u : 0644u);
  std::snprintf(block + 108, 8, "%07o", 0u);
  std::snprintf(block + 116, 8, "%07o", 0u);
  std::snprintf(block + 124, 12, "%011zo", bytes);
  std::snprintf(block + 136, 12, "%011o", 0u);
  block[156] = type;
  std::memcpy(block + 257,
              "ustar\0"
              "00",
              8);
  // The checksum counts its own field as blanks.
  std::memset(block + 148, ' ', 8);
  unsigned sum = 0;
  for (char c : block)
    sum += static_cast<unsigned char>(c);
  std::snprintf(block + 148, 8, "%06o", sum);
  out_.append(block, kBlock);
}

void TarWriter::add(std::string_view path, std::string_view contents, bool isProgram) {
  if (path.size() > kNameBytes) {
    header("././@LongLink", path.size() + 1, 'L', false);
    out_.append(path).push_back('\0');
    pad();
  }
  header(path, contents.size(), '0', isProgram);
  out_.append(contents);
  pad();
}

std::string TarWriter::take() {
  out_.append(2 * kBlock, '\0');
  return std::move(out_);
}

} // namespace tenon::linker
