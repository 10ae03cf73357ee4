// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/format/places.h"

#include <string>
#include <zstd.h>

namespace tenon::abi {

SourceLocation placeFromFrame(std::span<const uint8_t> frame, uint32_t ordinal, uint64_t exports) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size > mostPlaceBytes(exports)) // an error, too, is a large number
    return {};
  std::string text(size, '\0');
  if (ZSTD_decompress(text.data(), text.size(), frame.data(), frame.size()) != text.size())
    return {};
  std::string_view rest = text;
  for (; ordinal != 0; --ordinal) {
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos)
      return {};
    rest.remove_prefix(end + 1);
  }
  return parseLocation(rest.substr(0, rest.find('\n')));
}

} // namespace tenon::abi
