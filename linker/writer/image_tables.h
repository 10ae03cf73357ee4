// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The images of an executable: equal bytes once, compressed, PTX with the help of PTX that is there already. Objects of
// one program repeat each other (headers, templates, the same source for another target), so an image takes an earlier
// one as its dictionary: the image at the same position of the first variant, which is the same source, or else the
// first image of all.
#pragma once

#include "abi/format/executable_generated.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::linker {

class ImageTables {
public:
  explicit ImageTables(flatbuffers::FlatBufferBuilder &builder);
  ~ImageTables();

  struct Image {
    abi::fb::ImageKind kind = abi::fb::ImageKind::Ptx;
    uint16_t isa = 0;
    std::string source;
    size_t position = 0; // of its object, and of its part, within the variant
  };
  /// Index of an image. `bytes` live as long as this.
  uint32_t add(const Image &image, std::string_view bytes);
  const std::vector<flatbuffers::Offset<abi::fb::Image>> &tables() const { return tables_; }

private:
  class Packer;
  uint32_t baseFor(const Image &image) const;

  flatbuffers::FlatBufferBuilder &builder_;
  std::unique_ptr<Packer> packer_;
  std::vector<flatbuffers::Offset<abi::fb::Image>> tables_;
  std::vector<std::string_view> bytes_; // by image
  std::vector<uint32_t> steps_;         // by image: bases until there is none
  std::map<std::string_view, uint32_t> known_;
  std::map<size_t, uint32_t> firstAt_; // PTX: the first image at each position
};

} // namespace tenon::linker
