// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading an executable that verified: exports as values, kernels by variant, images as the bytes for the driver.
// Rules: abi/executable_format.md.
#include "abi/format/views/executable_view.h"

#include "abi/arch_table.h"
#include "abi/format/layout_table.h"
#include "abi/format/places.h"
#include "abi/format/unpack_zstd.h"
#include "abi/format/verify/verify.h"

namespace tenon::abi {

static_assert(int(fb::ImageKind::Cubin) == int(ImageKind::Cubin));
static_assert(int(fb::Origin::Generated) == int(Origin::Generated));

Result<ExecutableView> ExecutableView::create(std::span<const uint8_t> bytes, std::string_view name) {
  TENON_RETURN_IF_ERROR(verifyExecutable(bytes, name));
  return wrapVerified(bytes.data());
}

ExecutableView ExecutableView::wrapVerified(const uint8_t *bytes) {
  ExecutableView view;
  view.root_ = fb::GetExecutable(bytes);
  for (const fb::Export *value : *view.root_->exports()) {
    view.exports_.push_back(exportFromTable(*value));
    view.exports_.back().ordinal = uint32_t(view.exports_.size() - 1);
  }
  return view;
}

std::string_view ExecutableView::name() const {
  return root_->name()->string_view();
}

Result<uint32_t> ExecutableView::findExport(std::string_view name) const {
  std::string known;
  for (const Export &value : exports_) {
    if (value.name == name)
      return value.ordinal;
    known += concat(known.empty() ? "" : ", ", '\'', value.name, '\'');
  }
  return makeError(StatusCode::NotFound, "no export '", name, "' in executable '", this->name(), "', which has ",
                   known.empty() ? "none" : known);
}

const fb::Kernel *ExecutableView::findKernel(uint32_t variantIndex, uint32_t ordinal) const {
  if (variantIndex >= root_->variants()->size())
    return nullptr;
  const auto &kernels = *root_->variants()->Get(variantIndex)->kernels();
  uint32_t first = 0, last = kernels.size(); // ascending: F-11
  while (first < last) {
    const uint32_t middle = first + (last - first) / 2;
    if (kernels.Get(middle)->export_ordinal() < ordinal)
      first = middle + 1;
    else
      last = middle;
  }
  return first < kernels.size() && kernels.Get(first)->export_ordinal() == ordinal ? kernels.Get(first) : nullptr;
}

std::string_view ExecutableView::symbolOf(const fb::Kernel &kernel) const {
  return kernel.symbol() ? kernel.symbol()->string_view() : std::string_view(exports_[kernel.export_ordinal()].symbol);
}

SourceLocation ExecutableView::declaredAt(uint32_t ordinal) const {
  const auto *places = root_->places();
  return places ? placeFromFrame({places->data(), places->size()}, ordinal, exports_.size()) : SourceLocation();
}

/// Workgroups of one cluster: what the code requires, else what is declared, else 1. What is declared is the
/// hand-written kernel's: one that was generated beside it for devices without clusters is in none.
static uint64_t clusterBlocks(const fb::KernelFacts &facts, const Launch &launch, const Candidate &candidate) {
  if (const auto *required = facts.required_cluster())
    return uint64_t(required->Get(0)) * required->Get(1) * required->Get(2);
  const bool isWithout = candidate.origin == Origin::Generated && !hasClusters(candidate.arch.number);
  if (launch.cluster != Extent3{0, 0, 0} && !isWithout)
    return uint64_t(launch.cluster[0]) * launch.cluster[1] * launch.cluster[2];
  return 1;
}

/// Threads of a workgroup: as declared; who generated a kernel may have chosen others for its target.
static Extent3 workgroupOf(const fb::KernelFacts &facts, const Launch &launch, Origin origin) {
  const auto *required = facts.required_threads();
  return origin == Origin::Generated && required ? Extent3{required->Get(0), required->Get(1), required->Get(2)}
                                                 : launch.workgroupSize;
}

std::vector<Candidate> ExecutableView::candidates(uint32_t ordinal) const {
  std::vector<Candidate> out;
  for (uint32_t v = 0; v < root_->variants()->size(); ++v) {
    const fb::Variant &variant = *root_->variants()->Get(v);
    const fb::Kernel *kernel = findKernel(v, ordinal);
    if (!kernel)
      continue;
    for (uint32_t imageIndex : *variant.images()) {
      const fb::Image &image = *root_->images()->Get(imageIndex);
      Candidate candidate;
      candidate.variantName = variant.name()->str();
      candidate.arch = archFromStruct(*variant.arch());
      candidate.kind = static_cast<ImageKind>(image.kind());
      candidate.isa = image.isa();
      candidate.origin = static_cast<Origin>(variant.origin());
      candidate.priority = variant.priority();
      candidate.workgroupSize = workgroupOf(*kernel->facts(), exports_[ordinal].launch, candidate.origin);
      candidate.threads =
          uint64_t(candidate.workgroupSize[0]) * candidate.workgroupSize[1] * candidate.workgroupSize[2];
      candidate.takesAnyGrid = candidate.origin == Origin::Generated && kernel->facts()->any_grid();
      candidate.staticSharedBytes = kernel->facts()->static_shared_bytes();
      // Declared for the hand-written kernel; one that was generated beside it may need none.
      if (candidate.origin == Origin::HandWritten || kernel->facts()->uses_dynamic_shared())
        candidate.dynamicSharedBytes = exports_[ordinal].launch.dynamicSharedBytes;
      candidate.clusterBlocks = clusterBlocks(*kernel->facts(), exports_[ordinal].launch, candidate);
      candidate.variantIndex = v;
      candidate.imageIndex = imageIndex;
      out.push_back(std::move(candidate));
    }
  }
  return out;
}

Result<std::vector<uint8_t>> ExecutableView::imageBytes(uint32_t imageIndex) const {
  if (imageIndex >= root_->images()->size())
    return makeError(StatusCode::OutOfRange, "image ", imageIndex, " of executable '", name(), "', which has ",
                     root_->images()->size());
  const fb::Image &image = *root_->images()->Get(imageIndex);
  if (image.compression() == fb::Compression::None)
    return std::vector<uint8_t>(image.data()->begin(), image.data()->end());
  std::vector<uint8_t> base; // its own base comes first, and so on: at most kMaxImageBases times (F-9)
  if (image.base() != kNoImage) {
    TENON_ASSIGN_OR_RETURN(base, imageBytes(image.base()));
  }
  std::vector<uint8_t> out;
  if (Status status = unpackZstd({image.data()->data(), image.data()->size()}, image.size(), out, base); !status.ok())
    return makeError(status.code(), "[F-9] images[", imageIndex, "] of executable '", name(),
                     "' does not decompress: ", status.message());
  return out;
}

} // namespace tenon::abi
