// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects come in containers: a fatbin holds code for several architectures, a host object or library has fatbins in a
// section, an archive holds such objects, an executable of ours holds variants. Each becomes plain objects, PTX or
// cubin, named after the way to them: `libk.a(k.o):.nv_fatbin:sm_80.ptx`. Of an object that is given for a target only
// the code for it is taken; without a target, all of it.
//
// PTX and a cubin of one source file and architecture are the same code twice: they stay together, the PTX for the
// proof.
#include "abi/format/layout_table.h"
#include "abi/format/views/executable_view.h"
#include "linker/object/archive.h"
#include "linker/object/cubin.h"
#include "linker/object/elf.h"
#include "linker/object/fatbin.h"
#include "linker/object/object_kind.h"
#include "linker/passes/passes.h"
#include "support/text/nearest_names.h"

#include <algorithm>

namespace tenon::linker {
namespace {

constexpr int kDeepest = 4; // archive, host object, fatbin, cubin

struct Part {
  std::string path;
  std::string group; // parts of one group and architecture are the same code
  abi::TargetArch arch;
  FatbinEntry::Kind kind = FatbinEntry::Kind::Unknown;
  std::string bytes;
  bool isWanted = false;
};

class Expander {
public:
  Expander(LinkContext &context, const ObjectInput &input) : context_(context), input_(input) {}

  void run() {
    const size_t errorsBefore = context_.diagnostics.errorCount();
    expand(input_.path, input_.bytes, 0);
    if (context_.diagnostics.errorCount() == errorsBefore)
      takeParts();
  }

private:
  Diagnostic &error(const std::string &path, const char *rule, std::string message) {
    Diagnostic &error = context_.diagnostics.error({path, 0, 0}, rule, std::move(message));
    if (input_.declaredAt.known())
      error.note(input_.declaredAt, "the object is named here");
    return error;
  }
  void fail(const std::string &path, const Status &status) { error(path, "K-1", std::string(status.message())); }

  bool isWanted(abi::TargetArch arch) const { return input_.target.number == 0 || input_.target == arch; }

  void expand(const std::string &path, std::string_view bytes, int depth) {
    const ObjectKind kind = detectObjectKind(bytes);
    if (depth == kDeepest) {
      error(path, "K-1", "containers are nested too deep");
      return;
    }
    switch (kind) {
    case ObjectKind::Fatbin:
      return expandFatbin(path, bytes);
    case ObjectKind::HostElf:
      return expandHostElf(path, bytes, depth);
    case ObjectKind::Archive:
      return expandArchive(path, bytes, depth);
    case ObjectKind::Executable:
      return expandExecutable(path, bytes);
    case ObjectKind::Cubin:
      return addCubin(path, bytes);
    case ObjectKind::Ptx:
      return addPtx(path, bytes);
    default:
      error(path, "K-1", concat("the object is ", describe(kind))).withFix(std::string(adviceFor(kind)));
    }
  }

  void addPtx(const std::string &path, std::string_view bytes) {
    const std::optional<abi::TargetArch> arch = abi::parseTargetArch(targetDirective(bytes));
    if (!arch)
      error(path, "K-1", "the PTX has no .target");
    else
      add({.path = path, .group = path, .arch = *arch, .kind = FatbinEntry::Kind::Ptx, .bytes = std::string(bytes)});
  }

  void addCubin(const std::string &path, std::string_view bytes) {
    Result<Cubin> cubin = readCubin(bytes);
    if (!cubin.ok())
      return fail(path, cubin.status());
    abi::TargetArch arch{.number = cubin->archNumber};
    const abi::TargetArch specific{.number = arch.number, .suffix = abi::ArchSuffix::A};
    if (arch.number == input_.target.number)
      arch = input_.target; // its suffix does not show in a cubin
    else if (input_.target.number == 0 && abi::findArch(specific)) {
      // Taken for sm_90, code for sm_90a would be chosen on devices that cannot run it.
      error(path, "K-6",
            concat("the cubin does not say whether it is for ", arch.toString(), " or for ", specific.toString()))
          .withFix(concat("name its target: ", specific.toString(), '=', path));
      return;
    }
    add({.path = path, .group = path, .arch = arch, .kind = FatbinEntry::Kind::Cubin, .bytes = std::string(bytes)});
  }

  void add(Part part) {
    part.isWanted = isWanted(part.arch);
    parts_.push_back(std::move(part));
  }

  void expandFatbin(const std::string &path, std::string_view bytes) {
    Result<std::vector<FatbinEntry>> entries = readFatbin(bytes);
    if (!entries.ok())
      return fail(path, entries.status());
    for (const FatbinEntry &entry : *entries) {
      Part part{.path = concat(path, ':', entry.name()),
                .group = concat(path, ':', entry.module),
                .arch = entry.arch,
                .kind = entry.kind,
                .isWanted = isWanted(entry.arch)};
      const bool isCode = entry.kind == FatbinEntry::Kind::Ptx || entry.kind == FatbinEntry::Kind::Cubin;
      if (part.isWanted && isCode) {
        Result<std::string> unpacked = entry.unpack();
        if (!unpacked.ok()) {
          fail(part.path, unpacked.status());
          continue;
        }
        part.bytes = unpacked.take();
      }
      parts_.push_back(std::move(part));
    }
  }

  void expandHostElf(const std::string &path, std::string_view bytes, int depth) {
    Result<ElfFile> file = readElf(bytes);
    if (!file.ok())
      return fail(path, file.status());
    if (const ElfSection *wrappers = file->findSection(".nvFatBinSegment"))
      if (Status status = checkFatbinWrappers(wrappers->bytes); !status.ok())
        return fail(concat(path, ":.nvFatBinSegment"), status);
    bool found = false;
    for (std::string_view name : {".nv_fatbin", "__nv_relfatbin"})
      if (const ElfSection *section = file->findSection(name); section && !section->bytes.empty()) {
        found = true;
        expandFatbin(concat(path, ':', name), section->bytes);
      }
    if (!found && depth == 0) // an archive may hold host code beside kernels
      error(path, "K-1", "the host object holds no device code (neither .nv_fatbin nor __nv_relfatbin)")
          .withFix("give an object that nvcc compiled from a .cu file");
  }

  void expandArchive(const std::string &path, std::string_view bytes, int depth) {
    Result<std::vector<ArchiveMember>> members = readArchive(bytes);
    if (!members.ok())
      return fail(path, members.status());
    for (const ArchiveMember &member : *members)
      expand(concat(path, '(', member.name, ')'), member.bytes, depth + 1);
  }

  void expandExecutable(const std::string &path, std::string_view bytes) {
    const std::vector<uint8_t> aligned(bytes.begin(), bytes.end());
    Result<abi::ExecutableView> view = abi::ExecutableView::create(aligned, path);
    if (!view.ok())
      return fail(path, view.status());
    for (uint32_t v = 0; v < view->raw().variants()->size(); ++v) {
      const abi::fb::Variant &variant = *view->raw().variants()->Get(v);
      for (uint32_t index : *variant.images()) {
        const bool isPtx = view->raw().images()->Get(index)->kind() == abi::fb::ImageKind::Ptx;
        Part part{.path = concat(path, ':', variant.name()->string_view(), '#', v, isPtx ? ".ptx" : ".cubin"),
                  .group = concat(path, '#', v),
                  .arch = abi::archFromStruct(*variant.arch()),
                  .kind = isPtx ? FatbinEntry::Kind::Ptx : FatbinEntry::Kind::Cubin};
        Result<std::vector<uint8_t>> image = view->imageBytes(index);
        if (!image.ok())
          return fail(part.path, image.status());
        part.bytes.assign(image->begin(), image->end());
        add(std::move(part));
      }
    }
  }

  /// The other form of the same code, or null.
  Part *partner(const Part &part, FatbinEntry::Kind kind) {
    auto found = std::ranges::find_if(parts_, [&](const Part &other) {
      return other.isWanted && other.kind == kind && other.group == part.group && other.arch == part.arch;
    });
    return found == parts_.end() ? nullptr : &*found;
  }

  void takeParts() {
    if (std::ranges::none_of(parts_, &Part::isWanted))
      return reportNothing();
    for (Part &part : parts_) {
      if (!part.isWanted)
        continue;
      switch (part.kind) {
      case FatbinEntry::Kind::Ptx:
        take(part, partner(part, FatbinEntry::Kind::Cubin));
        break;
      case FatbinEntry::Kind::Cubin:
        if (!partner(part, FatbinEntry::Kind::Ptx))
          take(part, nullptr);
        break;
      case FatbinEntry::Kind::LtoIr:
      case FatbinEntry::Kind::Unknown:
        refuse(part);
        break;
      }
    }
  }

  void take(Part &part, Part *cubin) {
    auto input = std::make_unique<ObjectInput>();
    input->path = part.path;
    input->target = part.arch;
    input->variantName = input_.variantName;
    input->origin = input_.origin;
    input->priority = input_.priority;
    input->declaredAt = input_.declaredAt;
    input->provides = input_.provides;
    input->bytes = std::move(part.bytes);
    // One that must still be linked is worth nothing beside its PTX.
    if (cubin && readCubin(cubin->bytes).ok())
      input->cubin = std::move(cubin->bytes);
    context_.inputs.push_back(input.get());
    context_.expandedInputs.push_back(std::move(input));
  }

  /// Code that cannot be read matters only where nothing else is there for its architecture.
  void refuse(const Part &part) {
    if (partner(part, FatbinEntry::Kind::Ptx) || partner(part, FatbinEntry::Kind::Cubin))
      return;
    const bool isLto = part.kind == FatbinEntry::Kind::LtoIr;
    error(part.path, "K-1", isLto ? "the image is LTO-IR" : "the image is of an unknown kind")
        .withFix(isLto ? std::string(adviceFor(ObjectKind::LtoIr)) : "give PTX (nvcc -ptx)");
  }

  void reportNothing() {
    std::vector<std::string> names;
    for (const Part &part : parts_)
      names.push_back(concat(part.arch.toString(), part.kind == FatbinEntry::Kind::Ptx ? " (PTX)" : ""));
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    if (names.empty())
      error(input_.path, "K-1", "it holds no device code");
    else
      error(input_.path, "K-6",
            concat("it holds no code for ", input_.target.toString(), "; it has code for ", quotedList(names)))
          .withFix(concat("compile it for ", input_.target.toString(), " as well (nvcc -gencode)"));
  }

  LinkContext &context_;
  const ObjectInput &input_;
  std::vector<Part> parts_;
};

/// PTX and cubins without a target are given the one that they have.
bool mustExpand(const ObjectInput &input) {
  const ObjectKind kind = detectObjectKind(input.bytes);
  if (kind == ObjectKind::Ptx || kind == ObjectKind::Cubin)
    return input.target.number == 0;
  return isBinaryObject(input.bytes);
}

} // namespace

void expandObjects(LinkContext &context) {
  for (const ObjectInput &input : context.job.objects)
    if (mustExpand(input))
      Expander(context, input).run();
    else
      context.inputs.push_back(&input);
}

} // namespace tenon::linker
