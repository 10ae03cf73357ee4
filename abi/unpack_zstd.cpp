#include "abi/unpack_zstd.h"

#include <algorithm>
#include <memory>
#include <zstd.h>

namespace tenon::abi {

static constexpr size_t kFirstChunk = 256 << 10;

Status unpackZstd(std::span<const uint8_t> packed, uint64_t size, std::vector<uint8_t> &out) {
  if (isImplausiblySmall(packed.size(), size))
    return makeError(StatusCode::ResourceExhausted, packed.size(), " bytes promise to unpack to ", size, ", more than ",
                     kMaxUnpackRatio, " times as many");
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream *)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  if (!stream)
    return makeError(StatusCode::ResourceExhausted, "no memory to unpack");
  out.clear();
  ZSTD_inBuffer input{packed.data(), packed.size(), 0};
  ZSTD_outBuffer output{nullptr, 0, 0};
  for (size_t left = 1; left != 0;) {
    if (output.pos == out.size() && out.size() < size)
      out.resize(size_t(std::min<uint64_t>(size, std::max(kFirstChunk, 2 * out.size()))));
    output.dst = out.data();
    output.size = out.size();
    const size_t before = output.pos, read = input.pos;
    left = ZSTD_decompressStream(stream.get(), &output, &input);
    if (ZSTD_isError(left))
      return makeError(StatusCode::DataLoss, "it does not unpack: ", ZSTD_getErrorName(left));
    if (left != 0 && output.pos == before && input.pos == read && (out.size() == size || input.pos == input.size))
      return makeError(StatusCode::DataLoss, input.pos == input.size ? "it is cut short" : "it unpacks to more than ",
                       input.pos == input.size ? std::string() : concat(size, " bytes"));
  }
  if (output.pos != size)
    return makeError(StatusCode::DataLoss, "it unpacks to ", output.pos, " bytes, not ", size);
  if (input.pos != input.size)
    return makeError(StatusCode::DataLoss, input.size - input.pos, " bytes follow it");
  out.resize(output.pos);
  return okStatus();
}

} // namespace tenon::abi
