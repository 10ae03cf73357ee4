// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The half of places.h that compresses, by itself: what only reads files (the runtime) links no compressor, which is
// half a megabyte.
#include "abi/format/places.h"

#include <string>
#include <zstd.h>

namespace tenon::abi {

std::vector<uint8_t> placesToFrame(const std::vector<Export> &exports) {
  std::string text;
  bool anyKnown = false;
  for (const Export &value : exports) {
    anyKnown |= value.declaredAt.known();
    std::string place = value.declaredAt.known() ? value.declaredAt.toString() : std::string();
    if (place.size() > mostPlaceBytes(1) - 1 || place.find('\n') != std::string::npos)
      place.clear();
    text += place + "\n";
  }
  if (!anyKnown)
    return {};
  constexpr int kLevel = 9;
  std::vector<uint8_t> frame(ZSTD_compressBound(text.size()));
  const size_t size = ZSTD_compress(frame.data(), frame.size(), text.data(), text.size(), kLevel);
  frame.resize(ZSTD_isError(size) ? 0 : size);
  return frame;
}

} // namespace tenon::abi
