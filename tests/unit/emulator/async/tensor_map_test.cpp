// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor maps: what the encoder refuses, where a box goes.
#include "emulator/async/tensor_map.h"
#include "emulator/memory/memory.h"
#include "tests/unit/emulator/harness.h"

#include <array>
#include <functional>

namespace tenon::emulator::test {
namespace {

struct Arguments {
  CUtensorMap map;
  int mapOffset = 0;
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  cuuint32_t rank = 2;
  uint64_t address = 0x10000;
  cuuint64_t sizes[5] = {64, 64, 1, 1, 1}, strides[4] = {128, 8192, 8192, 8192};
  cuuint32_t box[5] = {64, 16, 1, 1, 1}, steps[5] = {1, 1, 1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  CUresult encode() {
    char *at = reinterpret_cast<char *>(&map) + mapOffset;
    return cuTensorMapEncodeTiled(reinterpret_cast<CUtensorMap *>(at), type, rank, reinterpret_cast<void *>(address),
                                  sizes, strides, box, steps, interleave, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                  fill);
  }
};

TEST(EmulatorTensorMap, RefusesWhatADriverRefuses) {
  Session session;
  EXPECT_EQ(Arguments().encode(), CUDA_SUCCESS);
  struct Refused {
    const char *what;
    std::function<void(Arguments &)> change;
    CUresult code = CUDA_ERROR_INVALID_VALUE;
  };
  const Refused cases[] = {
      {"map not aligned", [](Arguments &a) { a.mapOffset = 16; }},
      {"no dimension", [](Arguments &a) { a.rank = 0; }},
      {"six dimensions", [](Arguments &a) { a.rank = 6; }},
      {"address not aligned", [](Arguments &a) { a.address += 8; }},
      {"type", [](Arguments &a) { a.type = static_cast<CUtensorMapDataType>(99); }},
      {"no elements", [](Arguments &a) { a.sizes[1] = 0; }},
      {"too many elements", [](Arguments &a) { a.sizes[1] = (1ull << 32) + 1; }},
      {"stride not a multiple of 16", [](Arguments &a) { a.strides[0] = 136; }},
      {"stride too large", [](Arguments &a) { a.strides[0] = 1ull << 40; }},
      {"empty box", [](Arguments &a) { a.box[1] = 0; }},
      {"large box", [](Arguments &a) { a.box[1] = 257; }},
      {"row of 8 bytes", [](Arguments &a) { a.box[0] = 4; }},
      {"row longer than the swizzle", [](Arguments &a) { a.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; }},
      {"step 0", [](Arguments &a) { a.steps[1] = 0; }},
      {"step 9", [](Arguments &a) { a.steps[1] = 9; }},
      {"NaN for integers",
       [](Arguments &a) {
         a.type = CU_TENSOR_MAP_DATA_TYPE_UINT16;
         a.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
       }},
      {"interleaved", [](Arguments &a) { a.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; }, CUDA_ERROR_NOT_SUPPORTED}};
  for (const Refused &refused : cases) {
    Arguments arguments;
    refused.change(arguments);
    EXPECT_EQ(arguments.encode(), refused.code) << refused.what;
  }
  // What only looks wrong.
  Arguments odd;
  odd.sizes[0] = 63;
  odd.sizes[1] = 1ull << 32;
  odd.box[1] = 256;
  odd.steps[1] = 8;
  EXPECT_EQ(odd.encode(), CUDA_SUCCESS);
}

/// Loads a box of 8 rows of 16 bytes, swizzled by 64 bytes, at {x, 0}; gives the 512 bytes that it is spread over.
CUresult loadBox(int x, std::vector<uint32_t> *shared) {
  const std::string ptx = header("sm_90a") + R"(
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out, .param .u32 x)
{
  .shared .align 1024 .b8 memory[512];
  .shared .align 8 .b64 barrier;
  .reg .b64 %m, %o, %t;
  .reg .b32 %x, %y, %s, %b, %i, %v;
  .reg .pred %p;
  mov.b64 %m, map;
  cvta.param.u64 %m, %m;
  ld.param.u64 %o, [out];
  ld.param.u32 %x, [x];
  mov.u32 %y, 0;
  mov.u32 %s, memory;
  mov.u32 %b, barrier;
  mov.u32 %i, %tid.x;
  shl.b32 %v, %i, 2;
  add.u32 %v, %v, %s;
  st.shared.u32 [%v], 0xeeeeeeee;
  bar.sync 0;
  setp.ne.u32 %p, %i, 0;
  @%p bra WAIT;
  mbarrier.init.shared::cta.b64 [%b], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 %t, [%b], 128;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%m, {%x, %y}], [%b];
WAIT:
  bar.sync 0;
LOOP:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%b], 0;
  @!%p bra LOOP;
  ld.shared.u32 %v, [%v];
  mul.wide.u32 %t, %i, 4;
  add.u64 %o, %o, %t;
  st.global.u32 [%o], %v;
  ret;
}
)";
  DeviceArray<uint32_t> tensor(std::vector<uint32_t>(64 * 64)), out(128);
  std::vector<uint32_t> values(64 * 64);
  for (uint32_t k = 0; k < values.size(); ++k)
    values[k] = k;
  EXPECT_EQ(cuMemcpyHtoD(tensor.address, values.data(), 4 * values.size()), CUDA_SUCCESS);
  Arguments arguments;
  arguments.type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  arguments.address = tensor.address;
  arguments.strides[0] = 256;
  arguments.box[0] = 4;
  arguments.box[1] = 8;
  arguments.swizzle = CU_TENSOR_MAP_SWIZZLE_64B;
  EXPECT_EQ(arguments.encode(), CUDA_SUCCESS);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, ptx.c_str()), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "k"), CUDA_SUCCESS);
  void *parameters[] = {&arguments.map, &out.address, &x};
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
  CUresult result = cuCtxSynchronize();
  if (result == CUDA_SUCCESS)
    *shared = out.read();
  return result;
}

// As an H200 does (tests/golden/hopper.h).
TEST(EmulatorTensorMap, ShortRowsBeginWhereTheSwizzleSpans) {
  Session session;
  std::vector<uint32_t> shared;
  ASSERT_EQ(loadBox(4, &shared), CUDA_SUCCESS);
  for (uint32_t row = 0; row < 8; ++row)
    for (uint32_t chunk = 0; chunk < 4; ++chunk) {
      const uint32_t line = row / 2; // of 128 bytes: what the chunk's place is exchanged by
      const uint32_t found = shared[row * 16 + (chunk ^ (line & 3)) * 4];
      EXPECT_EQ(found, chunk == 0 ? row * 64 + 4 : 0xeeeeeeee) << row << " " << chunk;
    }
}

/// A kernel may copy a map in part, or set its fields one by one.
TEST(EmulatorTensorMap, AMapThatAKernelMadeIsChecked) {
  TensorMap good;
  good.rank = 2;
  good.address = 256;
  good.type = TensorElement::F32;
  for (uint32_t d = 0; d < 2; ++d) {
    good.box[d] = 8;
    good.step[d] = 1;
  }
  good.stride[0] = 32;
  EXPECT_EQ(checkTensorMap(good), "");
  const std::pair<std::function<void(TensorMap &)>, const char *> cases[] = {
      {[](TensorMap &m) { m.type = TensorElement::Count; }, "its element type is 13"},
      {[](TensorMap &m) { m.address = 8; }, "its address is no multiple of 16"},
      {[](TensorMap &m) { m.box[0] = 0; }, "extent 0 of its box is 0"},
      {[](TensorMap &m) { m.rank = 3; }, "extent 2 of its box is 0"},
      {[](TensorMap &m) { m.box[1] = 257; }, "extent 1 of its box is 257"},
      {[](TensorMap &m) { m.step[1] = 0; }, "step 1 is 0"},
      {[](TensorMap &m) { m.step[0] = 9; }, "step 0 is 9"},
      {[](TensorMap &m) { m.stride[0] = 24; }, "stride 0 is no multiple of 16"},
      {[](TensorMap &m) { m.box[0] = 3; }, "a row of its box has 12 bytes"},
      {[](TensorMap &m) { m.box[0] = 16, m.swizzle = 1; }, "a row of its box has 64 bytes"}};
  for (const auto &[change, wanted] : cases) {
    TensorMap map = good;
    change(map);
    EXPECT_EQ(checkTensorMap(map), wanted);
  }
  TensorMap large = good;
  large.rank = 5;
  for (uint32_t d = 0; d < 5; ++d)
    large.box[d] = 256, large.step[d] = 1;
  EXPECT_EQ(boxBytes(large), uint64_t(4) << 40);
}

TEST(EmulatorTensorMap, ABoxBeginsAtAMultipleOf16BytesAlongItsRow) {
  for (int x : {-1, 1, 3, 62}) {
    Session session;
    std::vector<uint32_t> shared;
    EXPECT_EQ(loadBox(x, &shared), CUDA_ERROR_ILLEGAL_INSTRUCTION) << x;
  }
}

/// Writes or adds a box of {4, 2, 1} whole numbers to a tensor of 8 x 4 x 2 at {x, y, z}; gives the tensor.
CUresult storeBox(const char *instruction, int x, int y, int z, std::vector<uint32_t> *tensorAfter) {
  const std::string ptx = header("sm_90a") + R"(
.visible .entry k(.param .align 64 .b8 map[128], .param .u32 x, .param .u32 y, .param .u32 z)
{
  .shared .align 128 .b8 memory[128];
  .reg .b64 %m;
  .reg .b32 %x, %y, %z, %s, %i, %v;
  .reg .pred %p;
  mov.b64 %m, map;
  cvta.param.u64 %m, %m;
  ld.param.u32 %x, [x];
  ld.param.u32 %y, [y];
  ld.param.u32 %z, [z];
  mov.u32 %s, memory;
  mov.u32 %i, %tid.x;
  shl.b32 %v, %i, 2;
  add.u32 %v, %v, %s;
  add.u32 %i, %i, 100;
  st.shared.u32 [%v], %i;
  fence.proxy.async;
  bar.sync 0;
  setp.ne.u32 %p, %i, 100;
  @%p ret;
  )" + instruction + R"(.tile.bulk_group [%m, {%x, %y, %z}], [%s];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
}
)";
  DeviceArray<uint32_t> tensor(std::vector<uint32_t>(64));
  Arguments arguments;
  arguments.type = CU_TENSOR_MAP_DATA_TYPE_INT32;
  arguments.rank = 3;
  arguments.address = tensor.address;
  arguments.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  const cuuint64_t sizes[3] = {8, 4, 2}, strides[2] = {32, 128};
  const cuuint32_t box[3] = {4, 2, 1};
  for (int d = 0; d < 3; ++d) {
    arguments.sizes[d] = sizes[d];
    arguments.box[d] = box[d];
    if (d < 2)
      arguments.strides[d] = strides[d];
  }
  EXPECT_EQ(arguments.encode(), CUDA_SUCCESS);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, ptx.c_str()), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "k"), CUDA_SUCCESS);
  void *parameters[] = {&arguments.map, &x, &y, &z};
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
  CUresult result = cuCtxSynchronize();
  if (result == CUDA_SUCCESS)
    *tensorAfter = tensor.read();
  return result;
}

// As an H200 does, with whole numbers of three dimensions at x = -4 and -8.
TEST(EmulatorTensorMap, ABoxIsWrittenFromACornerInsideTheTensor) {
  const char *kStore = "cp.async.bulk.tensor.3d.global.shared::cta";
  const char *kAdd = "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add";
  const int refused[][3] = {{-4, 0, 0}, {-8, 0, 0}, {0, -1, 0}, {0, 0, -1}};
  for (const char *instruction : {kStore, kAdd}) {
    for (const auto &at : refused) {
      Session session;
      std::vector<uint32_t> after;
      EXPECT_EQ(storeBox(instruction, at[0], at[1], at[2], &after), CUDA_ERROR_ILLEGAL_INSTRUCTION);
      EXPECT_NE(lastReport().find("only boxes that are loaded may begin at negative coordinates"), std::string::npos)
          << lastReport();
    }
    // The far corner may be anywhere.
    for (const auto &at : {std::array{4, 3, 1}, std::array{8, 0, 0}, std::array{0, 3, 5}}) {
      Session session;
      std::vector<uint32_t> after, want(64);
      ASSERT_EQ(storeBox(instruction, at[0], at[1], at[2], &after), CUDA_SUCCESS);
      for (int y = at[1]; y < at[1] + 2; ++y)
        for (int x = at[0]; x < at[0] + 4; ++x)
          if (x < 8 && y < 4 && at[2] < 2)
            want[static_cast<size_t>((at[2] * 4 + y) * 8 + x)] =
                static_cast<uint32_t>(100 + (y - at[1]) * 4 + x - at[0]);
      EXPECT_EQ(after, want);
    }
  }
}

TEST(EmulatorTensorMap, IsEncodedInAContext) {
  Session session;
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxPopCurrent(&context), CUDA_SUCCESS);
  EXPECT_EQ(Arguments().encode(), CUDA_ERROR_INVALID_CONTEXT);
  ASSERT_EQ(cuCtxPushCurrent(context), CUDA_SUCCESS);
}

TEST(EmulatorTensorMap, ReplacesTheAddress) {
  Session session;
  Arguments arguments;
  ASSERT_EQ(arguments.encode(), CUDA_SUCCESS);
  EXPECT_EQ(cuTensorMapReplaceAddress(&arguments.map, reinterpret_cast<void *>(0x20000)), CUDA_SUCCESS);
  TensorMap map;
  memcpy(&map, &arguments.map, sizeof map);
  EXPECT_EQ(map.address, 0x20000u);
  EXPECT_EQ(cuTensorMapReplaceAddress(&arguments.map, reinterpret_cast<void *>(0x20008)), CUDA_ERROR_INVALID_VALUE);
  CUtensorMap nothing = {};
  EXPECT_EQ(cuTensorMapReplaceAddress(&nothing, reinterpret_cast<void *>(0x20000)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuTensorMapEncodeIm2col(&arguments.map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 3, nullptr, nullptr, nullptr,
                                    nullptr, nullptr, 1, 1, nullptr, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                    CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
            CUDA_ERROR_NOT_SUPPORTED);
}

TEST(EmulatorTensorMap, SwizzlesChunksByTheirAddress) {
  // The first lines of each pattern, by hand: which chunk of 16 bytes stands at chunk 0, 1, 2, .. of a line.
  EXPECT_EQ(swizzled(0x400, 0), 0x400u);
  EXPECT_EQ(swizzled(0x400, 3), 0x400u);
  EXPECT_EQ(swizzled(0x480, 3), 0x490u);
  EXPECT_EQ(swizzled(0x4b3, 3), 0x4a3u);
  EXPECT_EQ(swizzled(0x7f0, 3), 0x780u);
  EXPECT_EQ(swizzled(0x480, 1), 0x490u);
  EXPECT_EQ(swizzled(0x500, 1), 0x500u);
  EXPECT_EQ(swizzled(0x580, 2), 0x5b0u);
  EXPECT_EQ(swizzled(0x600, 2), 0x600u);
  for (uint32_t mode = 0; mode < 4; ++mode)
    for (uint64_t at = 0; at < 4096; ++at)
      EXPECT_EQ(swizzled(swizzled(at, mode), mode), at);
}

} // namespace
} // namespace tenon::emulator::test
