// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/writer/image_tables.h"

#include "abi/format/unpack_zstd.h"
#include "abi/format/verify/verify.h"

#include <memory>
#include <span>
#include <zstd.h>

namespace tenon::linker {

namespace fb = abi::fb;

// PTX of 222 KB becomes 11.2 KB in 0.5 ms, one of 402 KB 2.7 KB in 0.2 ms beside its twin of another target. Level 9
// makes that 9.7 KB in 2.9 ms and 2.4 KB in 4.4 ms: it would take as long as all else that a link does.
static constexpr int kZstdLevel = 3;

class ImageTables::Packer {
public:
  /// Empty where compression does not pay.
  std::string_view run(std::string_view bytes) {
    const std::span<uint8_t> target = room(bytes);
    return packed(
        ZSTD_compressCCtx(context_.get(), target.data(), target.size(), bytes.data(), bytes.size(), kZstdLevel), bytes);
  }
  std::string_view run(std::string_view bytes, std::string_view base) {
    const std::span<uint8_t> target = room(bytes);
    // The first image is everybody's base: it is prepared once.
    if (!prepared_ || preparedFrom_.data() != base.data()) {
      if (prepared_)
        return packed(ZSTD_compress_usingDict(context_.get(), target.data(), target.size(), bytes.data(), bytes.size(),
                                              base.data(), base.size(), kZstdLevel),
                      bytes);
      prepared_.reset(ZSTD_createCDict(base.data(), base.size(), kZstdLevel));
      preparedFrom_ = base;
    }
    return packed(ZSTD_compress_usingCDict(context_.get(), target.data(), target.size(), bytes.data(), bytes.size(),
                                           prepared_.get()),
                  bytes);
  }

private:
  std::span<uint8_t> room(std::string_view bytes) {
    if (room_.size() < ZSTD_compressBound(bytes.size()))
      room_.resize(ZSTD_compressBound(bytes.size()));
    return room_;
  }
  std::string_view packed(size_t size, std::string_view bytes) const {
    if (ZSTD_isError(size) || size >= bytes.size())
      return {};
    return {reinterpret_cast<const char *>(room_.data()), size};
  }

  struct Free {
    void operator()(ZSTD_CCtx *context) const { ZSTD_freeCCtx(context); }
    void operator()(ZSTD_CDict *dictionary) const { ZSTD_freeCDict(dictionary); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> context_{ZSTD_createCCtx()};
  std::unique_ptr<ZSTD_CDict, Free> prepared_;
  std::string_view preparedFrom_;
  std::vector<uint8_t> room_;
};

ImageTables::ImageTables(flatbuffers::FlatBufferBuilder &builder)
    : builder_(builder), packer_(std::make_unique<Packer>()) {}
ImageTables::~ImageTables() = default;

/// Cubins of different code have little in common, and those of the same code are the same.
uint32_t ImageTables::baseFor(const Image &image) const {
  if (image.kind != fb::ImageKind::Ptx || firstAt_.empty())
    return abi::kNoImage;
  auto twin = firstAt_.find(image.position);
  const uint32_t base = twin != firstAt_.end() ? twin->second : firstAt_.begin()->second;
  return steps_[base] < abi::kMaxImageBases ? base : abi::kNoImage;
}

uint32_t ImageTables::add(const Image &image, std::string_view bytes) {
  const auto index = static_cast<uint32_t>(tables_.size());
  auto [found, isNew] = known_.try_emplace(bytes, index);
  if (!isNew)
    return found->second;
  uint32_t base = baseFor(image);
  std::string_view packed = base == abi::kNoImage ? packer_->run(bytes) : packer_->run(bytes, bytes_[base]);
  if (!packed.empty() && abi::isImplausiblySmall(packed.size(), bytes.size())) { // readers would take it for a bomb
    base = abi::kNoImage;
    packed = packer_->run(bytes);
    if (abi::isImplausiblySmall(packed.size(), bytes.size()))
      packed = {};
  }
  const auto compression = packed.empty() ? fb::Compression::None : fb::Compression::Zstd;
  if (packed.empty()) {
    packed = bytes;
    base = abi::kNoImage;
  }
  builder_.ForceVectorAlignment(packed.size(), 1, 16);
  auto data = builder_.CreateVector(reinterpret_cast<const uint8_t *>(packed.data()), packed.size());
  auto source = builder_.CreateString(image.source);
  tables_.push_back(fb::CreateImage(builder_, image.kind, compression, bytes.size(), image.isa, data, source, base));
  bytes_.push_back(bytes);
  steps_.push_back(base == abi::kNoImage ? 0 : steps_[base] + 1);
  if (image.kind == fb::ImageKind::Ptx)
    firstAt_.try_emplace(image.position, index);
  return index;
}

} // namespace tenon::linker
