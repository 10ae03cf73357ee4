// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The recorded results: one file for one architecture, zstd over a plain list.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tenon::golden {

/// What one form gave. A form that the driver refused to load has `status` and no results.
struct Recorded {
  uint32_t status = 0;        // CUresult of loading and running it
  uint64_t question = 0;      // hash of kernel and operands: another question has no recorded answer
  std::vector<uint8_t> bytes; // results of a tuple side by side, tuple after tuple
};

struct GoldenFile {
  std::string device; // who answered, and with which driver
  std::map<std::string, Recorded> forms;
};

uint64_t hashOf(const void *bytes, size_t size, uint64_t seed = 0);

/// Empty on success, else what is wrong.
std::string writeGolden(const std::string &path, const GoldenFile &file);
std::string readGolden(const std::string &path, GoldenFile &file);

} // namespace tenon::golden
