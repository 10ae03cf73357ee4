// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/memory/sized_file.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tenon::emulator {

int createSizedFile(const char *name, unsigned flags, uint64_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur)
    return -1;
  const int file = memfd_create(name, flags);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) == 0)
    return file;
  close(file);
  return -1;
}

} // namespace tenon::emulator
