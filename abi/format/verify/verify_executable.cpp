// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What must hold in an executable beyond being a FlatBuffer: exports that a dispatch can pack arguments for, images
// that the driver can be given, and for each variant kernels that agree with the exports' layouts. Rules F-3 to F-12.
#include "abi/format/layout_table.h"
#include "abi/format/places.h"
#include "abi/format/unpack_zstd.h"
#include "abi/format/verify/verify.h"
#include "abi/format/verify/verify_support.h"
#include "abi/parameter_layout.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <zstd.h>

namespace tenon::abi::verify {

static constexpr uint64_t kMaxExtentProduct = 1024; // threads of a workgroup; no device has clusters as large
static constexpr uint32_t kMaxParameters = 8192;    // above what 32764 bytes hold

/// F-7: [3] extents above 0, their product at most 1024.
static Status checkExtents(std::string_view field, const flatbuffers::Vector<uint32_t> *extents) {
  if (sizeOf(extents) != 3)
    return broken("F-7", field, " has ", sizeOf(extents), " extents, not 3");
  uint64_t product = 1;
  for (uint32_t extent : *extents) {
    if (extent == 0 || extent > kMaxExtentProduct)
      return broken("F-7", field, " has the extent ", extent, ", not one of 1 to ", kMaxExtentProduct);
    product *= extent;
  }
  if (product > kMaxExtentProduct)
    return broken("F-7", field, " multiplies to ", product, ", more than ", kMaxExtentProduct);
  return okStatus();
}

static Status checkOptionalExtents(std::string_view field, const flatbuffers::Vector<uint32_t> *extents) {
  return extents ? checkExtents(field, extents) : okStatus();
}

static Status checkOptionalName(VerifiedBytes &file, std::string_view field, const flatbuffers::String *name) {
  return name && name->size() != 0 ? checkName(file, field, name) : okStatus();
}

static Status checkBinding(VerifiedBytes &file, const fb::Binding &binding) {
  TENON_RETURN_IF_ERROR(checkEnum("kind", binding.kind()));
  TENON_RETURN_IF_ERROR(checkOptionalName(file, "name", binding.name()));
  if (binding.alignment() != 0 && !std::has_single_bit(binding.alignment()))
    return broken("F-8", "alignment ", binding.alignment(), " is no power of two");
  return okStatus();
}

/// F-8: whatever the map says is checked with the parameter block (K-22).
static Status checkTensorMapTable(const fb::TensorMap &map) {
  TENON_RETURN_IF_ERROR(checkEnum("interleave", map.interleave()));
  TENON_RETURN_IF_ERROR(checkEnum("swizzle", map.swizzle()));
  TENON_RETURN_IF_ERROR(checkEnum("promotion", map.promotion()));
  TENON_RETURN_IF_ERROR(checkEnum("fill", map.fill()));
  return checkEnum("mode", map.mode());
}

/// F-8: the size and alignment that the constant's kind has.
static Status checkConstant(VerifiedBytes &file, const fb::Constant &constant) {
  TENON_RETURN_IF_ERROR(checkEnum("kind", constant.kind()));
  TENON_RETURN_IF_ERROR(checkEnum("element", constant.element()));
  TENON_RETURN_IF_ERROR(checkOptionalName(file, "name", constant.name()));
  if (constant.tensor_map())
    TENON_RETURN_IF_ERROR(within("tensor_map", checkTensorMapTable(*constant.tensor_map())));
  uint32_t size = constant.size(), alignment = constant.alignment();
  if (size == 0 || !std::has_single_bit(alignment))
    return broken("F-8", "size ", size, ", alignment ", alignment, ": not above 0 and a power of two");
  bool fits = true;
  switch (constant.kind()) {
  case fb::ConstantKind::Word:
    fits = size == 4 && alignment == 4;
    break;
  case fb::ConstantKind::Scalar:
    fits = size == byteSize(static_cast<ElementType>(constant.element()));
    break;
  case fb::ConstantKind::Struct:
    break;
  case fb::ConstantKind::TensorMap:
    fits = size == 128 && (alignment == 64 || alignment == 128);
    break;
  }
  if (!fits)
    return broken("F-8", "size ", size, ", alignment ", alignment, " do not belong to a ",
                  fb::EnumNameConstantKind(constant.kind()));
  return okStatus();
}

/// F-3, F-8: what the order names is checked with the parameter block (K-3).
static Status checkParameters(VerifiedBytes &file, const fb::Layout &layout, uint32_t version) {
  if (!layout.parameters())
    return okStatus();
  if (version < kOrderedFormatVersion)
    return broken("F-3", "parameters are there in format version ", version, ", they came with ",
                  kOrderedFormatVersion);
  TENON_RETURN_IF_ERROR(forEach(file, layout.parameters(), "parameters", [&](uint32_t, const fb::Parameter *one) {
    return file.spend(sizeOf(one->members()));
  }));
  if (Status status = checkParameterTables(layout); !status.ok())
    return broken("F-8", status.message());
  return okStatus();
}

static Status checkLayout(VerifiedBytes &file, const fb::Layout &layout, uint32_t version) {
  uint64_t parameters = uint64_t(sizeOf(layout.bindings())) + sizeOf(layout.constants()) + layout.hidden_pointers();
  parameters = std::max(parameters, uint64_t(sizeOf(layout.parameters())) + layout.hidden_pointers());
  if (parameters > kMaxParameters)
    return broken("F-8", parameters, " parameters, at most ", kMaxParameters, " are possible");
  TENON_RETURN_IF_ERROR(forEach(file, layout.bindings(), "bindings",
                                [&](uint32_t, const fb::Binding *binding) { return checkBinding(file, *binding); }));
  TENON_RETURN_IF_ERROR(forEach(file, layout.constants(), "constants", [&](uint32_t, const fb::Constant *constant) {
    return checkConstant(file, *constant);
  }));
  return checkParameters(file, layout, version);
}

/// Parameter blocks of layouts that were checked: exports share them.
using CheckedLayouts = std::map<const fb::Layout *, ParameterLayout>;

/// Checks one export and computes its parameter block.
static Status checkExport(VerifiedBytes &file, uint32_t position, const fb::Export &value, uint32_t version,
                          std::set<std::string_view> &names, CheckedLayouts &layouts,
                          std::vector<const ParameterLayout *> &blocks) {
  TENON_RETURN_IF_ERROR(checkUniqueName(file, "name", value.name(), names));
  TENON_RETURN_IF_ERROR(checkOptionalName(file, "symbol", value.symbol()));
  if (value.ordinal() != 0 && value.ordinal() != position)
    return broken("F-6", "ordinal is ", value.ordinal(), ", its position is ", position);
  TENON_RETURN_IF_ERROR(checkExtents("workgroup_size", value.launch()->workgroup_size()));
  TENON_RETURN_IF_ERROR(checkOptionalExtents("cluster", value.launch()->cluster()));
  auto known = layouts.find(value.layout());
  if (known == layouts.end()) {
    TENON_RETURN_IF_ERROR(within("layout", checkLayout(file, *value.layout(), version)));
    auto block = computeParameterLayout(layoutFromTable(*value.layout()));
    if (!block.ok())
      return broken("F-8", "layout: ", block.status().message());
    known = layouts.emplace(value.layout(), block.take()).first;
  }
  blocks.push_back(&known->second); // maps do not move what they hold
  return okStatus();
}

/// F-9: bytes that the driver can be given, or that decompress to as many as declared.
/// F-9: bases lead to an image without one, in few steps.
static Status checkBase(const fb::Executable &executable, uint32_t index) {
  const auto &images = *executable.images();
  if (images.Get(index)->base() != kNoImage && images.Get(index)->compression() != fb::Compression::Zstd)
    return broken("F-9", "an image that is not compressed has a base");
  uint32_t steps = 0;
  for (uint32_t at = index; images.Get(at)->base() != kNoImage; at = images.Get(at)->base()) {
    if (images.Get(at)->base() >= at)
      return broken("F-9", "base ", images.Get(at)->base(), " is not before image ", at);
    if (++steps > kMaxImageBases)
      return broken("F-9", "more than ", kMaxImageBases, " bases follow each other");
  }
  return okStatus();
}

static Status checkImage(VerifiedBytes &file, const fb::Image &image) {
  TENON_RETURN_IF_ERROR(checkEnum("kind", image.kind()));
  TENON_RETURN_IF_ERROR(checkEnum("compression", image.compression()));
  TENON_RETURN_IF_ERROR(checkAlignment(file, image.data(), 16, "data"));
  if (image.size() == 0 || image.data()->size() == 0)
    return broken("F-9", "the image is empty");
  if (image.size() > kMaxImageBytes)
    return broken("F-9", "size is ", image.size(), " bytes, at most ", kMaxImageBytes, " are read");
  if (image.kind() == fb::ImageKind::Ptx && image.isa() == 0)
    return broken("F-9", "a PTX image without its ISA version");
  switch (image.compression()) {
  case fb::Compression::None:
    if (image.size() != image.data()->size())
      return broken("F-9", "size is ", image.size(), ", the data has ", image.data()->size(), " bytes");
    break;
  case fb::Compression::Zstd: {
    unsigned long long content = ZSTD_getFrameContentSize(image.data()->data(), image.data()->size());
    if (content == ZSTD_CONTENTSIZE_ERROR || content == ZSTD_CONTENTSIZE_UNKNOWN)
      return broken("F-9", "the data is no zstd frame with its content size");
    if (content != image.size())
      return broken("F-9", "size is ", image.size(), ", the zstd frame says ", uint64_t(content));
    if (isImplausiblySmall(image.data()->size(), image.size()))
      return broken("F-9", image.data()->size(), " bytes promise to unpack to ", image.size(), ", more than ",
                    kMaxUnpackRatio, " times as many");
    break;
  }
  }
  return okStatus();
}

/// F-12: what the linker proved is about this export's parameter block.
static Status checkFacts(VerifiedBytes &file, const fb::KernelFacts &facts, const fb::Layout &layout,
                         const ParameterLayout &block) {
  if (facts.parameter_bytes() != block.bytes)
    return broken("F-12", "parameter_bytes is ", facts.parameter_bytes(), ", the layout has ", block.bytes);
  if (facts.parameter_offsets() && facts.parameter_offsets()->size() != block.parameters.size())
    return broken("F-12", "parameter_offsets has ", facts.parameter_offsets()->size(), " entries, the layout has ",
                  block.parameters.size(), " parameters");
  TENON_RETURN_IF_ERROR(forEach(file, facts.parameter_offsets(), "parameter_offsets", [&](uint32_t i, uint32_t offset) {
    return offset == block.parameters[i].offset
               ? okStatus()
               : broken("F-12", "offset ", offset, ", the layout has ", block.parameters[i].offset);
  }));
  TENON_RETURN_IF_ERROR(checkOptionalExtents("required_threads", facts.required_threads()));
  TENON_RETURN_IF_ERROR(checkOptionalExtents("required_cluster", facts.required_cluster()));
  if (facts.max_threads() && facts.max_threads()->size() != 3)
    return broken("F-7", "max_threads has ", facts.max_threads()->size(), " extents, not 3");
  if (facts.access() && facts.access()->size() != sizeOf(layout.bindings()))
    return broken("F-12", "access has ", facts.access()->size(), " entries, the layout has ", sizeOf(layout.bindings()),
                  " bindings");
  TENON_RETURN_IF_ERROR(checkEnum("occupancy_limit", facts.occupancy_limit()));
  return forEach(file, facts.access(), "access",
                 [](uint32_t, fb::AccessVerdict verdict) { return checkEnum("verdict", verdict); });
}

/// Facts that were held against a layout.
using CheckedFacts = std::set<std::pair<const fb::KernelFacts *, const fb::Layout *>>;

static Status checkKernels(VerifiedBytes &file, const fb::Executable &executable, const fb::Variant &variant,
                           const std::vector<const ParameterLayout *> &blocks, CheckedFacts &checked) {
  if (variant.kernels()->size() == 0)
    return broken("F-11", "the variant has no kernels");
  int64_t previous = -1;
  return forEach(file, variant.kernels(), "kernels", [&](uint32_t, const fb::Kernel *kernel) {
    uint32_t ordinal = kernel->export_ordinal();
    TENON_RETURN_IF_ERROR(checkIndex("F-11", "export_ordinal", ordinal, blocks.size(), "exports"));
    if (ordinal <= previous)
      return broken("F-11", "export_ordinal ", ordinal, " comes after ", previous, ", the order is ascending");
    previous = ordinal;
    if (kernel->symbol())
      TENON_RETURN_IF_ERROR(checkName(file, "symbol", kernel->symbol()));
    const fb::Layout &layout = *executable.exports()->Get(ordinal)->layout();
    if (!checked.emplace(kernel->facts(), &layout).second)
      return okStatus(); // kernels share facts
    return within("facts", checkFacts(file, *kernel->facts(), layout, *blocks[ordinal]));
  });
}

/// F-23: a frame that is not larger than places can be.
static Status checkPlaces(const fb::Executable &executable) {
  const auto *places = executable.places();
  if (!places)
    return okStatus();
  const unsigned long long size = ZSTD_getFrameContentSize(places->data(), places->size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
    return broken("F-23", "places are no zstd frame with its content size");
  if (size > mostPlaceBytes(executable.exports()->size()))
    return broken("F-23", "places decompress to ", uint64_t(size), " bytes, too many for ",
                  executable.exports()->size(), " exports");
  return okStatus();
}

/// F-4: one name, architecture and origin may come several times, each with its own image, but then for other exports.
using VariantKey = std::tuple<std::string_view, uint16_t, fb::ArchSuffix, fb::Origin, uint32_t>;

static Status checkOnePerExport(const fb::Variant &variant, std::set<VariantKey> &seen) {
  const fb::Arch &arch = *variant.arch();
  for (const fb::Kernel *kernel : *variant.kernels())
    if (!seen.insert({variant.name()->string_view(), arch.number(), arch.suffix(), variant.origin(),
                      kernel->export_ordinal()})
             .second)
      return broken("F-4", "the variant '", variant.name()->string_view(), "' for ", archFromStruct(arch).toString(),
                    " is there twice for export ", kernel->export_ordinal());
  return okStatus();
}

static Status checkVariant(VerifiedBytes &file, const fb::Executable &executable, const fb::Variant &variant,
                           const std::vector<const ParameterLayout *> &blocks, CheckedFacts &checked,
                           std::set<VariantKey> &seen) {
  TENON_RETURN_IF_ERROR(checkName(file, "name", variant.name()));
  TENON_RETURN_IF_ERROR(checkEnum("arch", variant.arch()->suffix()));
  TENON_RETURN_IF_ERROR(checkEnum("origin", variant.origin()));
  if (variant.arch()->number() == 0)
    return broken("F-10", "arch has no number");
  if (variant.images()->size() == 0)
    return broken("F-10", "the variant has no images");
  std::set<uint32_t> images;
  TENON_RETURN_IF_ERROR(forEach(file, variant.images(), "images", [&](uint32_t, uint32_t image) {
    TENON_RETURN_IF_ERROR(checkIndex("F-10", "index", image, executable.images()->size(), "images"));
    return images.insert(image).second ? okStatus() : broken("F-10", "image ", image, " is listed twice");
  }));
  TENON_RETURN_IF_ERROR(checkKernels(file, executable, variant, blocks, checked));
  return checkOnePerExport(variant, seen);
}

Status checkExecutable(VerifiedBytes &file, const fb::Executable &executable) {
  TENON_RETURN_IF_ERROR(checkFormatVersion(executable.format_version(), kOrderedFormatVersion));
  TENON_RETURN_IF_ERROR(checkName(file, "name", executable.name()));
  std::set<std::string_view> names;
  CheckedLayouts layouts;
  std::vector<const ParameterLayout *> blocks;
  TENON_RETURN_IF_ERROR(forEach(file, executable.exports(), "exports", [&](uint32_t i, const fb::Export *value) {
    return checkExport(file, i, *value, executable.format_version(), names, layouts, blocks);
  }));
  TENON_RETURN_IF_ERROR(forEach(file, executable.images(), "images", [&](uint32_t i, const fb::Image *image) {
    TENON_RETURN_IF_ERROR(checkImage(file, *image));
    return checkBase(executable, i);
  }));
  TENON_RETURN_IF_ERROR(checkPlaces(executable));
  std::set<VariantKey> variants;
  CheckedFacts checked;
  return forEach(file, executable.variants(), "variants", [&](uint32_t, const fb::Variant *variant) {
    return checkVariant(file, executable, *variant, blocks, checked, variants);
  });
}

} // namespace tenon::abi::verify
