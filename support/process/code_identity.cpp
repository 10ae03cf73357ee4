// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A build id is an ELF note, which lies in the segments that the loader maps: reading it opens no file.
#include "support/process/code_identity.h"

#include "support/align.h"
#include "support/sha256.h"
#include "support/status.h"

#include <cstring>
#include <link.h>
#include <string_view>
#include <sys/stat.h>

namespace tenon {
namespace {

constexpr std::string_view kOwner("GNU\0", 4); // of NT_GNU_BUILD_ID

/// The build id among the notes of one segment; empty: none.
std::string_view findBuildId(std::string_view notes) {
  ElfW(Nhdr) note;
  while (notes.size() >= sizeof note) {
    std::memcpy(&note, notes.data(), sizeof note);
    const size_t owner = alignUp(size_t(note.n_namesz), 4), body = alignUp(size_t(note.n_descsz), 4);
    if (notes.size() < sizeof note + owner + body)
      break;
    if (note.n_type == NT_GNU_BUILD_ID && notes.substr(sizeof note, note.n_namesz) == kOwner)
      return notes.substr(sizeof note + owner, note.n_descsz);
    notes.remove_prefix(sizeof note + owner + body);
  }
  return {};
}

std::string identityOf(const dl_phdr_info &object) {
  const bool isProgram = !object.dlpi_name || !*object.dlpi_name;
  if (!isProgram && !std::strchr(object.dlpi_name, '/'))
    return {}; // the kernel's own library, which has no file
  for (size_t i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE)
      continue;
    const auto *notes = reinterpret_cast<const char *>(object.dlpi_addr + segment.p_vaddr);
    if (std::string_view id = findBuildId({notes, segment.p_memsz}); !id.empty())
      return std::string(id);
  }
  struct stat file = {};
  if (::stat(isProgram ? "/proc/self/exe" : object.dlpi_name, &file) != 0)
    return {};
  return concat(file.st_size, ' ', file.st_mtim.tv_sec, ' ', file.st_mtim.tv_nsec);
}

} // namespace

std::string codeIdentity() {
  Sha256 hash;
  const auto add = [](dl_phdr_info *object, size_t, void *given) {
    static_cast<Sha256 *>(given)->addField(identityOf(*object));
    return 0;
  };
  (void)::dl_iterate_phdr(add, &hash);
  return hash.hex();
}

} // namespace tenon
