// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs one dispatch's arguments as the runtime does and prints the parameter block, so that rules about what a
// dispatch passes (K-3, K-7) have cases in text: tenon-pack-case JOB.json EXPORT BINDINGS [CONSTANT...]. Binding i has
// the address 0x1000 * (i + 1); constants are integers.
#include "abi/parameter_layout.h"
#include "linker/declare/manifest.h"
#include "support/files/file.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace tenon;

static int fail(std::string_view message) {
  std::fprintf(stderr, "tenon-pack-case: error: %.*s\n", int(message.size()), message.data());
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 4)
    return fail("usage: tenon-pack-case JOB.json EXPORT BINDINGS [CONSTANT...]");
  Result<std::string> text = readFile(argv[1]);
  if (!text.ok())
    return fail(text.status().message());
  Diagnostics diagnostics;
  linker::LinkJob job = linker::readManifest(argv[1], text.take(), {}, diagnostics);
  std::fputs(diagnostics.toString().c_str(), stderr);
  for (const abi::Export &declared : job.exports) {
    if (declared.name != argv[2])
      continue;
    Result<abi::ParameterLayout> layout = abi::computeParameterLayout(declared.layout);
    if (!layout.ok())
      return fail(layout.status().message());
    std::vector<uint64_t> bindings, constants;
    for (long i = 0; i < std::strtol(argv[3], nullptr, 10); ++i)
      bindings.push_back(0x1000 * uint64_t(i + 1));
    for (int i = 4; i < argc; ++i)
      constants.push_back(uint64_t(std::strtoll(argv[i], nullptr, 0)));
    std::vector<uint8_t> block(layout->bytes, 0xee); // padding shows where it is not written
    Status packed = abi::packParameters(*layout, bindings.data(), bindings.size(), constants.data(), constants.size(),
                                        block.data(), block.size());
    if (!packed.ok())
      return fail(packed.message());
    for (const abi::Parameter &parameter : layout->parameters) {
      std::printf("@%u", parameter.offset);
      for (uint32_t i = 0; i < parameter.size; ++i)
        std::printf(" %02x", block[parameter.offset + i]);
      std::printf("\n");
    }
    std::printf("%u bytes\n", layout->bytes);
    return 0;
  }
  return fail("no such export");
}
