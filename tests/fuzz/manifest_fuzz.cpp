// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A manifest. Its objects are looked for in a folder that is not there, so that only the JSON is read.
#include "fuzz.h"

#include "linker/declare/header_writer.h"
#include "linker/declare/manifest.h"

using namespace tenon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  if (text.find("\"/") != std::string::npos)
    return 0; // an absolute path: this machine's files are not the input
  Diagnostics diagnostics;
  linker::ManifestExtras extras;
  linker::LinkJob job = linker::readManifest("/tenon-no-such-folder/m.json", std::move(text), {}, diagnostics, &extras);
  (void)diagnostics.toString();
  if (!diagnostics.hasErrors())
    (void)linker::writeHeader(job, extras.signatures, "m.json");
  return 0;
}
