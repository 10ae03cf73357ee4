// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fatbins and archives in a few lines.
#pragma once

#include "tests/unit/linker/cubin_testing.h"

namespace tenon::linker::testing {

struct TestEntry {
  uint16_t kind = 1; // 1: PTX, 2: cubin, 8: LTO-IR
  uint32_t arch = 80;
  uint64_t flags = 0x11;
  std::string payload;
  uint64_t unpackedSize = 0;
};

inline std::string makeFatbin(const std::vector<TestEntry> &entries) {
  std::string body;
  for (const TestEntry &entry : entries) {
    body += little(entry.kind) + little(uint16_t(0x101)) + little(uint32_t(64)) +
            little(uint64_t(entry.payload.size())) + little(uint32_t(entry.unpackedSize ? entry.payload.size() : 0)) +
            little(uint32_t(0)) + little(uint32_t(9)) + little(entry.arch) + little(uint64_t(0)) + little(entry.flags) +
            little(uint64_t(0)) + little(entry.unpackedSize) + entry.payload;
  }
  return little(uint32_t(0xBA55ED50)) + little(uint16_t(1)) + little(uint16_t(16)) + little(uint64_t(body.size())) +
         body;
}

inline std::string archiveMember(std::string name, std::string_view bytes) {
  name.resize(48, ' ');
  std::string size = std::to_string(bytes.size());
  size.resize(10, ' ');
  return name + size + "`\n" + std::string(bytes) + (bytes.size() % 2 ? "\n" : "");
}

} // namespace tenon::linker::testing
