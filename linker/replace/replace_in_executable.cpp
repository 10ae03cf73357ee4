// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two links of the one export: the new objects alone give the new variants, the new objects beside the variants that
// stay show whether all still agree. Then the executable's tables are taken apart and put together again with the new
// variants where the old ones stood, so that the order of preference does not change.
#include "linker/replace/replace_in_executable.h"

#include "abi/format/verify/verify.h"
#include "linker/link.h"
#include "linker/replace/whole_executable_generated.h"
#include "support/text/nearest_names.h"

#include <algorithm>
#include <map>
#include <set>
#include <zstd.h>

namespace tenon::linker {
namespace {

namespace fb = abi::fb;
namespace whole = whole_executable;

abi::TargetArch archOf(const whole::VariantT &variant) {
  return {.number = variant.arch->number(), .suffix = abi::ArchSuffix(variant.arch->suffix())};
}

bool hasKernel(const whole::VariantT &variant, uint32_t ordinal) {
  return std::ranges::any_of(variant.kernels, [&](const auto &kernel) { return kernel->export_ordinal == ordinal; });
}

class Replacer {
public:
  Replacer(const abi::ExecutableView &executable, uint32_t ordinal, const Replacement &replacement,
           Diagnostics &diagnostics)
      : view_(executable), ordinal_(ordinal), replacement_(replacement), diagnostics_(diagnostics) {
    // The same table, seen through the other classes of the same schema.
    reinterpret_cast<const whole::Executable *>(&view_.raw())->UnPackTo(&executable_);
  }

  Result<std::vector<uint8_t>> run() {
    LinkJob job = replacement_.job;
    job.name = std::string(view_.name());
    job.exports = {view_.exportAt(ordinal_)};
    job.exports[0].ordinal = 0;
    job.exports[0].declaredAt = view_.declaredAt(ordinal_);
    // Generated kernels wait for the dispatch before them because the compiler wrote them so; nobody has said that of
    // the new one. It is launched behind that dispatch, and with it what stays of the export.
    if (isGenerated())
      executable_.exports[ordinal_]->launch->programmatic_dependent_launch =
          job.exports[0].launch.programmaticDependentLaunch = false;
    TENON_ASSIGN_OR_RETURN(LinkOutput linked, link(job, diagnostics_));
    whole::ExecutableT fresh;
    whole::GetExecutable(linked.executable.data())->UnPackTo(&fresh);
    TENON_ASSIGN_OR_RETURN(const abi::ExecutableView freshView,
                           abi::ExecutableView::create(linked.executable, view_.name()));
    TENON_RETURN_IF_ERROR(standAlone(fresh, freshView));
    TENON_RETURN_IF_ERROR(standAlone(executable_, view_));
    for (const auto &variant : fresh.variants)
      TENON_RETURN_IF_ERROR(findPlace(*variant));
    TENON_RETURN_IF_ERROR(proveAgainstTheRest(job));
    // From the back, so that the places of those before stay true.
    for (auto place = places_.rbegin(); place != places_.rend(); ++place)
      takeOut(place->first);
    size_t added = 0;
    for (const auto &[place, variants] : places_)
      for (whole::VariantT *variant : variants)
        putIn(*variant, place + added++, fresh);
    dropEmptyVariants();
    dropUnusedImages();
    return pack();
  }

private:
  /// Whether no variant of the export is written by hand.
  bool isGenerated() const {
    return std::ranges::none_of(executable_.variants, [&](const auto &variant) {
      return hasKernel(*variant, ordinal_) && variant->origin == whole::Origin::HandWritten;
    });
  }

  /// Images come and go, and those that lean on others would have to follow: here none does.
  static Status standAlone(whole::ExecutableT &executable, const abi::ExecutableView &view) {
    constexpr int kLevel = 9; // as the writer packs them
    for (uint32_t i = 0; i < executable.images.size(); ++i) {
      whole::ImageT &image = *executable.images[i];
      if (image.base == abi::kNoImage)
        continue;
      TENON_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, view.imageBytes(i));
      image.base = abi::kNoImage;
      image.data.resize(ZSTD_compressBound(bytes.size()));
      const size_t size = ZSTD_compress(image.data.data(), image.data.size(), bytes.data(), bytes.size(), kLevel);
      const bool pays = !ZSTD_isError(size) && size < bytes.size();
      image.compression = pays ? whole::Compression::Zstd : whole::Compression::None;
      if (pays)
        image.data.resize(size);
      else
        image.data = bytes;
    }
    return okStatus();
  }

  /// The variant that a new one replaces: for its target, with the export, hand-written before generated.
  Status findPlace(whole::VariantT &fresh) {
    const abi::TargetArch arch = archOf(fresh);
    std::vector<size_t> found;
    std::vector<std::string> names, targets;
    bool isHandWritten = false;
    for (size_t i = 0; i < executable_.variants.size(); ++i) {
      const whole::VariantT &variant = *executable_.variants[i];
      if (!hasKernel(variant, ordinal_))
        continue;
      targets.push_back(archOf(variant).toString());
      if (archOf(variant) != arch)
        continue;
      names.push_back(variant.name);
      if (!replacement_.variantName.empty() && variant.name != replacement_.variantName)
        continue;
      const bool thisOne = variant.origin == whole::Origin::HandWritten;
      if (thisOne && !isHandWritten)
        found.clear(); // a generated fallback stays one
      if (thisOne || !isHandWritten)
        found.push_back(i);
      isHandWritten |= thisOne;
    }
    const std::string what = concat("export '", view_.exportAt(ordinal_).name, "' of executable '", view_.name(), "'");
    if (names.empty())
      return makeError(StatusCode::NotFound, what, " has no variant for ", arch.toString(), "; it has ",
                       quotedList(targets), ": nothing to replace");
    if (found.empty())
      return makeError(StatusCode::NotFound, what, " has no variant '", replacement_.variantName, "' for ",
                       arch.toString(), "; it has ", quotedList(names));
    if (found.size() > 1)
      return makeError(StatusCode::InvalidArgument, what, " has several variants for ", arch.toString(), ": ",
                       quotedList(names), "; name one with --variant=NAME");
    places_[found.front()].push_back(&fresh);
    return okStatus();
  }

  /// K-15: the new kernel beside those of the variants that stay. Everything else was found by the link before.
  Status proveAgainstTheRest(LinkJob job) {
    job.imagePolicy = ImagePolicy::Ptx;
    job.strict = false;
    const size_t added = job.objects.size();
    for (size_t i = 0; i < executable_.variants.size(); ++i) {
      const whole::VariantT &variant = *executable_.variants[i];
      if (!places_.contains(i) && hasKernel(variant, ordinal_))
        TENON_RETURN_IF_ERROR(addVariant(variant, i, job));
    }
    if (job.objects.size() == added)
      return okStatus();
    Diagnostics found;
    (void)link(job, found).ok();
    size_t errors = 0;
    for (const Diagnostic &finding : found.items())
      if (finding.rule == "K-15") {
        errors += finding.severity == Severity::Error;
        Diagnostics one;
        Diagnostic &copy = finding.severity == Severity::Error ? one.error(finding.where, finding.rule, finding.message)
                           : finding.severity == Severity::Warning
                               ? one.warning(finding.where, finding.rule, finding.message)
                               : one.remark(finding.where, finding.rule, finding.message);
        copy.notes = finding.notes;
        copy.fix = finding.fix;
        diagnostics_.append(std::move(one));
      }
    return errors ? makeError(StatusCode::InvalidArgument, "the new kernel differs from the variants that stay")
                  : okStatus();
  }

  Status addVariant(const whole::VariantT &variant, size_t index, LinkJob &job) {
    for (uint32_t image : variant.images) {
      if (executable_.images[image]->kind != whole::ImageKind::Ptx)
        continue;
      TENON_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, view_.imageBytes(image));
      ObjectInput object;
      object.path = concat(view_.name(), ":", variant.name, "#", index, ".ptx");
      object.bytes = std::string(bytes.begin(), bytes.end());
      object.target = archOf(variant);
      object.variantName = concat(variant.name, "#", index); // symbols of its own
      object.origin = abi::Origin(variant.origin);
      job.objects.push_back(std::move(object));
    }
    return okStatus();
  }

  void takeOut(size_t place) {
    auto &kernels = executable_.variants[place]->kernels;
    std::erase_if(kernels, [this](const auto &kernel) { return kernel->export_ordinal == ordinal_; });
  }

  void putIn(whole::VariantT &fresh, size_t place, whole::ExecutableT &from) {
    auto variant = std::make_unique<whole::VariantT>(std::move(fresh));
    variant->priority = executable_.variants[place]->priority;
    variant->name = executable_.variants[place]->name;
    for (uint32_t &image : variant->images)
      image = addImage(*from.images[image]);
    for (auto &kernel : variant->kernels)
      kernel->export_ordinal = ordinal_;
    executable_.variants.insert(executable_.variants.begin() + long(place), std::move(variant));
  }

  uint32_t addImage(const whole::ImageT &image) {
    for (size_t i = 0; i < executable_.images.size(); ++i) {
      const whole::ImageT &known = *executable_.images[i];
      if (known.kind == image.kind && known.compression == image.compression && known.data == image.data)
        return uint32_t(i);
    }
    executable_.images.push_back(std::make_unique<whole::ImageT>(image));
    return uint32_t(executable_.images.size() - 1);
  }

  void dropEmptyVariants() {
    std::erase_if(executable_.variants, [](const auto &variant) { return variant->kernels.empty(); });
  }

  void dropUnusedImages() {
    std::set<uint32_t> used;
    for (const auto &variant : executable_.variants)
      used.insert(variant->images.begin(), variant->images.end());
    std::vector<std::unique_ptr<whole::ImageT>> images;
    std::map<uint32_t, uint32_t> position;
    for (uint32_t index : used) {
      position[index] = uint32_t(images.size());
      images.push_back(std::move(executable_.images[index]));
    }
    executable_.images = std::move(images);
    for (auto &variant : executable_.variants)
      for (uint32_t &image : variant->images)
        image = position[image];
  }

  Result<std::vector<uint8_t>> pack() {
    flatbuffers::FlatBufferBuilder builder;
    whole::FinishExecutableBuffer(builder, whole::CreateExecutable(builder, &executable_));
    std::vector<uint8_t> bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
    if (Status status = abi::verifyExecutable(bytes, view_.name()); !status.ok())
      return makeError(StatusCode::Internal, "the executable written does not verify: ", status.message());
    return bytes;
  }

  const abi::ExecutableView &view_;
  const uint32_t ordinal_;
  const Replacement &replacement_;
  Diagnostics &diagnostics_;
  whole::ExecutableT executable_;
  std::map<size_t, std::vector<whole::VariantT *>> places_; // position of an old variant -> what replaces it
};

} // namespace

Result<std::vector<uint8_t>> replaceInExecutable(const abi::ExecutableView &executable, uint32_t ordinal,
                                                 const Replacement &replacement, Diagnostics &diagnostics) {
  return Replacer(executable, ordinal, replacement, diagnostics).run();
}

} // namespace tenon::linker
