// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GEMMs of CUTLASS against the host. Params go by value, with pointers and tensor maps in them, as its own host side
// fills them (cutlass_params.inc).
#include "tests/kernels/corpus/corpus.h"

#include <algorithm>

namespace tenon::corpus {
namespace {

struct Row {
  const char *name;
  size_t alignment;
  std::array<uint32_t, 3> grid, cluster;
  uint32_t threads, shared;
  const char *hex;
};
const Row kRows[] = {
#include "tests/kernels/corpus/cutlass_params.inc"
};

/// As in cutlass/describe.h.
struct MapRequest {
  char mark[8];
  uint8_t type, rank, interleave, swizzle, promotion, fill, pad[2];
  uint64_t address;
  uint32_t extents[5], box[5], steps[5], strides[4];
};

constexpr uint64_t kPointerMark = 0x5a; // and the number of the pointer below it
bool isPointer(uint64_t value) {
  return value >> 40 == kPointerMark && value << 32 == 0;
}
size_t pointerNumber(uint64_t value) {
  return value >> 32 & 0xff;
}

/// Puts the launch of `name` into `kernel`. `buffers`: by the numbers that its main gave to pointers. `addressed`:
/// those that the kernel takes as addresses from Params; what it reaches by tensor maps, or never, are plain bytes.
void launchAs(Kernel &kernel, const std::string &name, const std::vector<size_t> &buffers,
              const std::vector<size_t> &addressed) {
  const Row &row = *std::find_if(std::begin(kRows), std::end(kRows), [&](const Row &r) { return r.name == name; });
  std::vector<uint8_t> bytes;
  for (const char *at = row.hex; *at; at += 2)
    bytes.push_back(uint8_t(std::stoi(std::string(at, 2), nullptr, 16)));
  std::vector<PointerAt> pointers;
  std::vector<MapAt> maps;
  for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    uint64_t value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    if (isPointer(value) && std::find(addressed.begin(), addressed.end(), pointerNumber(value)) != addressed.end())
      pointers.push_back({at, buffers.at(pointerNumber(value))});
    if (std::memcmp(bytes.data() + at, "tensormp", 8) != 0)
      continue;
    MapRequest map;
    std::memcpy(&map, bytes.data() + at, sizeof map);
    const size_t rank = map.rank;
    maps.push_back({at,
                    buffers.at(pointerNumber(map.address)),
                    CUtensorMapDataType(map.type),
                    {map.extents, map.extents + rank},
                    {map.strides, map.strides + rank - 1},
                    {map.box, map.box + rank},
                    CUtensorMapInterleave(map.interleave),
                    CUtensorMapSwizzle(map.swizzle),
                    CUtensorMapL2promotion(map.promotion),
                    CUtensorMapFloatOOBfill(map.fill)});
    at += 120;
  }
  kernel.structure(std::move(bytes), std::move(pointers), std::move(maps)).mayMissPointers();
  kernel.grid(row.grid[0], row.grid[1], row.grid[2]).workgroup(row.threads).sharedBytes(row.shared);
  if (row.cluster[0] * row.cluster[1] * row.cluster[2] > 1)
    kernel.cluster(row.cluster[0], row.cluster[1], row.cluster[2]);
}

struct Problem {
  size_t m, n, k;
  double alpha, beta;
  size_t batches = 1;
};

/// alpha * A * B + beta * C. A is m x k and B is n x k, C and D are m x n, all row-major.
template <typename In, typename Out>
void expectGemm(const std::string &name, const Problem &p, const std::vector<size_t> &addressed, double tolerance) {
  const auto a = reals<In>(p.batches * p.m * p.k, 1), b = reals<In>(p.batches * p.n * p.k, 2);
  const auto c = reals<Out>(p.batches * p.m * p.n, 3);
  std::vector<double> want;
  for (size_t l = 0; l < p.batches; ++l) {
    auto sums = product(p.m, p.n, p.k, {[&](size_t i, size_t x) { return double(a[(l * p.m + i) * p.k + x]); }},
                        {[&](size_t x, size_t j) { return double(b[(l * p.n + j) * p.k + x]); }});
    for (size_t i = 0; i < sums.size(); ++i)
      want.push_back(p.alpha * sums[i] + p.beta * double(c[l * sums.size() + i]));
  }
  Kernel kernel("cutlass_" + name, "");
  const size_t pa = kernel.memory(a, Access::Read), pb = kernel.memory(b, Access::Read),
               pc = kernel.memory(c, Access::Read);
  const size_t pd = kernel.addMemory(std::vector<uint8_t>(c.size() * sizeof(Out), 0xa5), Access::Write);
  launchAs(kernel, name, {pa, pb, pc, pd}, addressed);
  kernel.run([&](const Results &r) { expectNear(r.get<Out>(pd), want, tolerance, tolerance); });
}

using Cutlass = CorpusTest;

TEST_F(Cutlass, SgemmOnCudaCores) {
  const size_t m = 70, n = 100, k = 37;
  const auto a = reals(m * k, 1), b = reals(k * n, 2), c = reals(m * n, 3);
  auto want = product(m, n, k, {[&](size_t i, size_t x) { return double(a[x * m + i]); }},
                      {[&](size_t x, size_t j) { return double(b[x * n + j]); }});
  for (size_t i = 0; i < want.size(); ++i)
    want[i] = 1.5 * want[i] - 0.5 * c[i];
  Kernel kernel("cutlass_sgemm_simt", "");
  const size_t pa = kernel.memory(a, Access::Read), pb = kernel.memory(b, Access::Read),
               pc = kernel.memory(c, Access::Read);
  const size_t pd = kernel.addMemory(std::vector<uint8_t>(m * n * 4, 0xa5), Access::Write);
  launchAs(kernel, "sgemm_simt", {pa, pb, pc, pd}, {0, 1, 2, 3});
  kernel.run([&](const Results &r) { expectNear(r.get<float>(pd), want, 1e-5); });
}

TEST_F(Cutlass, HalfGemmOfThreeStages) {
  const size_t m = 72, n = 88, k = 96;
  const auto a = reals<Half>(m * k, 1), b = reals<Half>(n * k, 2), c = reals<Half>(m * n, 3);
  auto want = product(m, n, k, {[&](size_t i, size_t x) { return double(a[i * k + x]); }},
                      {[&](size_t x, size_t j) { return double(b[j * k + x]); }});
  for (size_t i = 0; i < want.size(); ++i)
    want[i] = std::max(0.25 * want[i] + double(c[i]), 0.);
  Kernel kernel("cutlass_hgemm_multistage", "");
  const size_t pa = kernel.memory(a, Access::Read), pb = kernel.memory(b, Access::Read),
               pc = kernel.memory(c, Access::Read);
  const size_t pd = kernel.addMemory(std::vector<uint8_t>(m * n * 2, 0xa5), Access::Write);
  launchAs(kernel, "hgemm_multistage", {pa, pb, pc, pd}, {0, 1, 2, 3});
  kernel.run([&](const Results &r) { expectNear(r.get<Half>(pd), want, 1e-3, 1e-3); });
}

TEST_F(Cutlass, GemmArrayOfPointerTables) {
  const size_t m = 40, n = 33, k = 20, batches = 3;
  Kernel kernel("cutlass_gemm_array", "");
  std::array<std::vector<size_t>, 4> tables;
  std::vector<std::vector<double>> want;
  for (size_t l = 0; l < batches; ++l) {
    const auto a = reals(m * k, 4 + l), b = reals(k * n, 7 + l), c = reals(m * n, 10 + l);
    tables[0].push_back(kernel.memory(a, Access::Read));
    tables[1].push_back(kernel.memory(b, Access::Read));
    tables[2].push_back(kernel.memory(c, Access::Read));
    tables[3].push_back(kernel.addMemory(std::vector<uint8_t>(m * n * 4, 0xa5), Access::Write));
    want.push_back(product(m, n, k, {[&](size_t i, size_t x) { return double(a[i * k + x]); }},
                           {[&](size_t x, size_t j) { return double(b[x * n + j]); }}));
    for (size_t i = 0; i < m * n; ++i)
      want[l][i] = 2 * want[l][i] + c[i];
  }
  std::vector<size_t> buffers;
  for (const std::vector<size_t> &table : tables)
    buffers.push_back(kernel.table(table));
  launchAs(kernel, "gemm_array", buffers, {0, 1, 2, 3});
  kernel.run([&](const Results &r) {
    for (size_t l = 0; l < batches; ++l)
      expectNear(r.get<float>(tables[3][l]), want[l], 1e-5);
  });
}

TEST_F(Cutlass, GroupedGemm) {
  const std::array<int, 3> sizes[] = {{72, 64, 40}, {16, 136, 72}, {130, 40, 8}};
  Kernel kernel("cutlass_gemm_grouped", "");
  std::array<std::vector<size_t>, 4> tables;
  std::array<std::vector<int64_t>, 4> strides;
  std::vector<std::vector<double>> want;
  for (uint64_t g = 0; g < 3; ++g) {
    const size_t m = size_t(sizes[g][0]), n = size_t(sizes[g][1]), k = size_t(sizes[g][2]);
    const auto a = reals<Half>(m * k, 20 + g), b = reals<Half>(k * n, 23 + g);
    const auto c = reals(m * n, 26 + g);
    tables[0].push_back(kernel.memory(a, Access::Read));
    tables[1].push_back(kernel.memory(b, Access::Read));
    tables[2].push_back(kernel.memory(c, Access::Read));
    tables[3].push_back(kernel.addMemory(std::vector<uint8_t>(m * n * 4, 0xa5), Access::Write));
    for (size_t i = 0; i < 4; ++i)
      strides[i].push_back(int64_t(i ? n : k));
    want.push_back(product(m, n, k, {[&](size_t i, size_t x) { return double(a[i * k + x]); }},
                           {[&](size_t x, size_t j) { return double(b[x * n + j]); }}));
    for (size_t i = 0; i < m * n; ++i)
      want[g][i] += 0.5 * c[i];
  }
  std::vector<int> flat;
  for (const auto &size : sizes)
    flat.insert(flat.end(), size.begin(), size.end());
  std::vector<size_t> buffers = {kernel.memory(flat, Access::Read)};
  for (const std::vector<size_t> &table : tables)
    buffers.push_back(kernel.table(table));
  for (const std::vector<int64_t> &stride : strides)
    buffers.push_back(kernel.memory(stride, Access::Read));
  launchAs(kernel, "gemm_grouped", buffers, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  kernel.run([&](const Results &r) {
    for (size_t g = 0; g < 3; ++g)
      expectNear(r.get<float>(tables[3][g]), want[g], 1e-4, 1e-4);
  });
}

TEST_F(Cutlass, CollectiveOfCpAsync) {
  expectGemm<Half, float>("collective_sm80", {80, 72, 96, 2, -1, 2}, {0, 1, 2, 3}, 1e-4);
}
TEST_F(Cutlass, HopperCollectiveOfCpAsync) {
  expectGemm<Half, float>("hopper_cp_async", {70, 68, 100, 1.5, -0.5}, {0, 1, 2, 3}, 1e-4);
}
TEST_F(Cutlass, HopperCollectiveOfTensorCopies) {
  expectGemm<Half, float>("hopper_tma", {100, 90, 136, 2, 1}, {2, 3}, 1e-4);
}
TEST_F(Cutlass, HopperPingpong) {
  expectGemm<BFloat, BFloat>("hopper_pingpong", {136, 144, 128, 0.5, 1}, {}, 1e-2);
}
TEST_F(Cutlass, HopperCooperativeCluster) {
  expectGemm<Half, float>("hopper_cluster", {160, 200, 128, 1, 0}, {}, 1e-4);
}

} // namespace
} // namespace tenon::corpus
