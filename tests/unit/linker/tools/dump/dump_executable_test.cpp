// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/tools/dump/dump.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

Linked linkSample() {
  abi::Export declared = makeExport("k", 2, {abi::Constant::scalar(abi::ElementType::I64), abi::Constant::word()});
  declared.symbol = "_Z1kPf";
  declared.layout.bindings[0] = {.readOnly = true, .alignment = 16, .name = "in"};
  declared.layout.hiddenPointers = 1;
  declared.launch.dynamicSharedBytes = 64;
  return linkOne(".visible .entry _Z1kPf(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 d, .param .u64 e) "
                 ".reqntid 64 { ret; }\n",
                 declared);
}

TEST(DumpExecutable, PrintsExportsVariantsAndImages) {
  Linked linked = linkSample();
  EXPECT_LINKS(linked);
  std::string text = dumpExecutable(view(linked), 1234);
  for (const char *part : {
           "executable 'test': 1 export, 1 variant, 1 image, 1234 bytes\n",
           "export 0 'k' (symbol '_Z1kPf'), declared at job.json:7:3\n",
           "  launch: workgroup 64x1x1, dynamic shared 64 bytes\n",
           "  parameters: 40 bytes\n",
           "    @0      8 bytes  binding 0 ReadOnly align 16 'in'\n",
           "    @16     8 bytes  constant 0 i64\n",
           "    @24     4 bytes  constant 1 word\n",
           "    @32     8 bytes  hidden pointer 0\n",
           "variant 0 'sm_80': sm_80, hand-written, image 0, ",
           " stored)\n",
           "  kernel '_Z1kPf' for export 0 'k': static shared 0 bytes, reqntid 64x1x1, access unused unused\n",
           "image 0: ptx 8.0, ",
       })
    EXPECT_NE(text.find(part), std::string::npos) << "wanted: " << part << "\nfound:\n" << text;
}

TEST(DumpExecutable, PrintsJson) {
  Linked linked = linkSample();
  JsonWriter json;
  dumpExecutableJson(view(linked), 1234, json);
  std::string text = json.take();
  for (const char *part :
       {"\"kind\": \"executable\"", "\"bytes\": 1234", "\"parameter_offsets\": [0, 8, 16, 24, 32]",
        "\"required_threads\": [64, 1, 1]", "\"target\": \"sm_80\"", "\"isa\": \"8.0\"", "\"declared_alignment\": 16",
        "\"kind\": \"storage_buffer\"", "\"indirect\": false", "\"stored_bytes\": ", "\"assembled\": false"})
    EXPECT_NE(text.find(part), std::string::npos) << "wanted: " << part << "\nfound:\n" << text;
}

} // namespace
} // namespace tenon::linker
