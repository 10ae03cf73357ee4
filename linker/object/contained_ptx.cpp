// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/object/contained_ptx.h"

#include "linker/object/archive.h"
#include "linker/object/elf.h"
#include "linker/object/fatbin.h"
#include "linker/object/object_kind.h"

namespace tenon::linker {
namespace {

constexpr int kDeepest = 4; // archive, host object, fatbin

class Collector {
public:
  explicit Collector(abi::TargetArch target) : target_(target) {}

  void collect(std::string_view bytes, int depth) {
    if (depth == kDeepest)
      return;
    switch (detectObjectKind(bytes)) {
    case ObjectKind::Ptx:
      texts_.emplace_back(bytes);
      return;
    case ObjectKind::Fatbin:
      return collectFatbin(bytes);
    case ObjectKind::HostElf:
      if (const Result<ElfFile> file = readElf(bytes); file.ok())
        for (std::string_view name : {".nv_fatbin", "__nv_relfatbin"})
          if (const ElfSection *section = file->findSection(name))
            collectFatbin(section->bytes);
      return;
    case ObjectKind::Archive:
      if (const Result<std::vector<ArchiveMember>> members = readArchive(bytes); members.ok())
        for (const ArchiveMember &member : *members)
          collect(member.bytes, depth + 1);
      return;
    default:
      return;
    }
  }

  std::vector<std::string> take() { return std::move(texts_); }

private:
  void collectFatbin(std::string_view bytes) {
    const Result<std::vector<FatbinEntry>> entries = readFatbin(bytes);
    if (!entries.ok())
      return;
    for (const FatbinEntry &entry : *entries)
      if (entry.kind == FatbinEntry::Kind::Ptx && (target_.number == 0 || entry.arch == target_))
        if (Result<std::string> text = entry.unpack(); text.ok())
          texts_.push_back(text.take());
  }

  abi::TargetArch target_;
  std::vector<std::string> texts_;
};

} // namespace

std::vector<std::string> containedPtx(std::string_view bytes, abi::TargetArch target) {
  Collector collector(target);
  collector.collect(bytes, 0);
  return collector.take();
}

} // namespace tenon::linker
