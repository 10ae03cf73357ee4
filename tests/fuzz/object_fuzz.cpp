// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An object of any kind: the readers of ELF files, cubins, fatbins (with their decompression) and archives, then a
// whole link with it, up to the executable's bytes.
#include "fuzz.h"

#include "linker/link.h"
#include "linker/object/archive.h"
#include "linker/object/cubin.h"
#include "linker/object/elf.h"
#include "linker/object/fatbin.h"

using namespace tenon;

static linker::LinkJob jobFor(std::string bytes) {
  linker::LinkJob job{.name = "fuzz"};
  abi::Export declared;
  declared.name = declared.symbol = "k";
  declared.layout.bindings.resize(2);
  declared.layout.bindings[0].readOnly = true;
  declared.layout.constants = {abi::Constant::word()};
  declared.launch.workgroupSize = {64, 1, 1};
  job.exports.push_back(std::move(declared));
  linker::ObjectInput object;
  object.path = "fuzz.o";
  object.bytes = std::move(bytes);
  job.objects.push_back(std::move(object)); // for no target: all of its code is taken
  return job;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string bytes(reinterpret_cast<const char *>(data), size);
  if (Result<linker::ElfFile> file = linker::readElf(bytes); file.ok())
    (void)file->findSection(".nv_fatbin");
  (void)linker::readCubin(bytes).ok();
  (void)linker::readArchive(bytes).ok();
  if (Result<std::vector<linker::FatbinEntry>> entries = linker::readFatbin(bytes); entries.ok())
    for (const linker::FatbinEntry &entry : *entries)
      (void)entry.unpack().ok();
  Diagnostics diagnostics;
  (void)linker::link(jobFor(bytes), diagnostics).ok();
  (void)diagnostics.toString();
  return 0;
}
