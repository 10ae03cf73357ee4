#include "abi/places.h"

#include "abi/executable_view.h"

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
