// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/format/unpack_zstd.h"

#include "support/memory.h"

#include <algorithm>
#include <memory>
#include <zstd.h>

namespace tenon::abi {

static constexpr size_t kFirstChunk = 256 << 10;

namespace {

/// One decoder for each thread: making one takes longer than to unpack a small image.
ZSTD_DCtx *decoder() {
  struct Free {
    void operator()(ZSTD_DCtx *context) const { ZSTD_freeDCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_DCtx, Free> kept(ZSTD_createDCtx());
  return kept.get();
}

/// What is small anyway is unpacked at once.
Status unpackSmall(ZSTD_DCtx *context, std::span<const uint8_t> packed, uint64_t size, std::vector<uint8_t> &out,
                   std::span<const uint8_t> dictionary) {
  const size_t frame = ZSTD_findFrameCompressedSize(packed.data(), packed.size());
  if (ZSTD_isError(frame))
    return makeError(StatusCode::DataLoss, "it does not unpack: ", ZSTD_getErrorName(frame));
  if (frame != packed.size())
    return makeError(StatusCode::DataLoss, packed.size() - frame, " bytes follow it");
  TENON_RETURN_IF_ERROR(resizeChecked(out, size, "what it unpacks to"));
  const size_t written = ZSTD_decompress_usingDict(context, out.data(), out.size(), packed.data(), packed.size(),
                                                   dictionary.data(), dictionary.size());
  if (ZSTD_isError(written))
    return makeError(StatusCode::DataLoss, "it does not unpack: ", ZSTD_getErrorName(written));
  if (written != size)
    return makeError(StatusCode::DataLoss, "it unpacks to ", written, " bytes, not ", size);
  return okStatus();
}

} // namespace

Status unpackZstd(std::span<const uint8_t> packed, uint64_t size, std::vector<uint8_t> &out,
                  std::span<const uint8_t> dictionary) {
  if (isImplausiblySmall(packed.size(), size))
    return makeError(StatusCode::ResourceExhausted, packed.size(), " bytes promise to unpack to ", size, ", more than ",
                     kMaxUnpackRatio, " times as many");
  ZSTD_DCtx *const context = decoder();
  if (!context)
    return makeError(StatusCode::ResourceExhausted, "no memory to unpack");
  if (size <= kFirstChunk)
    return unpackSmall(context, packed, size, out, dictionary);
  ZSTD_DCtx_reset(context, ZSTD_reset_session_and_parameters); // an error may have left a frame half read
  if (!dictionary.empty() && ZSTD_isError(ZSTD_DCtx_refPrefix(context, dictionary.data(), dictionary.size())))
    return makeError(StatusCode::ResourceExhausted, "no memory to unpack");
  out.clear();
  ZSTD_inBuffer input{packed.data(), packed.size(), 0};
  ZSTD_outBuffer output{nullptr, 0, 0};
  for (size_t left = 1; left != 0;) {
    if (output.pos == out.size() && out.size() < size)
      TENON_RETURN_IF_ERROR(
          resizeChecked(out, std::min<uint64_t>(size, std::max(kFirstChunk, 2 * out.size())), "what it unpacks to"));
    output.dst = out.data();
    output.size = out.size();
    const size_t before = output.pos, read = input.pos;
    left = ZSTD_decompressStream(context, &output, &input);
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
