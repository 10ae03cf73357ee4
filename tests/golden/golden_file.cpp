// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/golden/golden_file.h"

#include <cstring>
#include <fstream>
#include <sstream>
#include <zstd.h>

namespace tenon::golden {
namespace {

constexpr char kMagic[] = "TENON-GOLDEN-1\n";

template <typename T> void put(std::string &out, T value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof value);
}
void putText(std::string &out, const char *bytes, size_t size) {
  put(out, static_cast<uint32_t>(size));
  out.append(bytes, size);
}

/// Reads from a buffer; after the end everything is zero and `bad` is set.
class Reader {
public:
  explicit Reader(const std::string &text) : text_(text) {}
  template <typename T> T take() {
    T value{};
    if (text_.size() - at_ < sizeof value) {
      bad = true;
      return value;
    }
    memcpy(&value, text_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string takeText() {
    size_t size = take<uint32_t>();
    if (text_.size() - at_ < size) {
      bad = true;
      return {};
    }
    at_ += size;
    return text_.substr(at_ - size, size);
  }
  bool bad = false;

private:
  const std::string &text_;
  size_t at_ = 0;
};

} // namespace

uint64_t hashOf(const void *bytes, size_t size, uint64_t seed) { // FNV-1a
  uint64_t hash = seed ^ 0xcbf29ce484222325ull;
  for (size_t k = 0; k < size; ++k)
    hash = (hash ^ static_cast<const uint8_t *>(bytes)[k]) * 0x100000001b3ull;
  return hash;
}

std::string writeGolden(const std::string &path, const GoldenFile &file) {
  std::string plain;
  putText(plain, file.device.data(), file.device.size());
  put(plain, static_cast<uint32_t>(file.forms.size()));
  for (const auto &[name, recorded] : file.forms) {
    putText(plain, name.data(), name.size());
    put(plain, recorded.status);
    put(plain, recorded.question);
    putText(plain, reinterpret_cast<const char *>(recorded.bytes.data()), recorded.bytes.size());
  }
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  size_t size = ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 19);
  if (ZSTD_isError(size))
    return ZSTD_getErrorName(size);
  std::ofstream out(path, std::ios::binary);
  out << kMagic << std::string_view(packed.data(), size);
  out.close();
  return out ? "" : "cannot write " + path;
}

std::string readGolden(const std::string &path, GoldenFile &file) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  std::string packed = text.str();
  if (!in || packed.rfind(kMagic, 0) != 0)
    return path + " is not a file of golden vectors";
  packed.erase(0, sizeof kMagic - 1);
  unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size > (64u << 20))
    return path + " is damaged";
  std::string plain(size, '\0');
  size_t got = ZSTD_decompress(plain.data(), plain.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) || got != size)
    return path + " is damaged";
  Reader reader(plain);
  file.device = reader.takeText();
  uint32_t count = reader.take<uint32_t>();
  for (uint32_t k = 0; k < count && !reader.bad; ++k) {
    std::string name = reader.takeText();
    Recorded &recorded = file.forms[name];
    recorded.status = reader.take<uint32_t>();
    recorded.question = reader.take<uint64_t>();
    std::string bytes = reader.takeText();
    recorded.bytes.assign(bytes.begin(), bytes.end());
  }
  return reader.bad ? path + " ends early" : "";
}

} // namespace tenon::golden
