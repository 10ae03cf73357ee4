// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/emulator/cases.h"

#include "benchmarks/emulator/emulator.h"

#include <bit>

namespace tenon::benchmarks {

Buffers::Buffers(const Emulator &emulator) {
  uint64_t state = 1;
  auto next = [&] {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>(state >> 32);
  };
  std::vector<float> f(kCount);
  for (float &v : f)
    v = 0.1f + 4 * static_cast<float>(next()) * 0x1p-32f;
  floats = emulator.allocate(f.data(), 4 * kCount);
  moreFloats = emulator.allocate(f.data() + kCount / 2, 2 * kCount);
  std::vector<double> d(kCount / 4);
  for (double &v : d)
    v = 0.1 + 4 * static_cast<double>(next()) * 0x1p-32;
  doubles = emulator.allocate(d.data(), 8 * d.size());
  std::vector<uint16_t> h(kCount);
  for (uint16_t &v : h) // 0.5 to 2
    v = static_cast<uint16_t>(0x3800 + next() % 0x800);
  halves = emulator.allocate(h.data(), 2 * kCount);
  std::vector<uint64_t> i(kCount / 4);
  for (uint64_t &v : i)
    v = static_cast<uint64_t>(next()) << 32 | next();
  integers = emulator.allocate(i.data(), 8 * i.size());
  for (uint64_t &v : i)
    v = (static_cast<uint64_t>(next()) << 32 | next()) >> next() % 60;
  moreIntegers = emulator.allocate(i.data(), 8 * i.size());
  bytes = emulator.allocate(i.data(), 8 * i.size());
  out = emulator.allocate(f.data(), 4 * kCount);
}

std::vector<Case> cases(const Buffers &b) {
  std::vector<Case> out;
  auto add = [&](const std::string &kernel, const std::string &shape, std::vector<unsigned> grid,
                 std::vector<unsigned> block, std::vector<uint64_t> arguments, unsigned shared = 0,
                 const std::string &group = "kernel") {
    Case c;
    c.group = group;
    c.name = c.kernel = kernel;
    c.shape = shape;
    for (size_t k = 0; k < grid.size(); ++k)
      c.grid[k] = grid[k];
    for (size_t k = 0; k < block.size(); ++k)
      c.block[k] = block[k];
    c.shared = shared;
    c.arguments = std::move(arguments);
    out.push_back(std::move(c));
  };
  const unsigned n = 1 << 20;
  add("multiply", "1048576", {n / 256}, {256}, {b.floats, b.moreFloats, b.out, n});
  add("multiply4", "1048576 in fours", {256}, {256}, {b.floats, b.moreFloats, b.out, n / 4});
  add("rational64", "262144 doubles", {1024}, {256}, {std::bit_cast<uint64_t>(1.5), b.doubles, b.out, n / 4});
  add("softmaxWarp", "256 x 1024", {64}, {32, 4}, {b.floats, b.out, 256, 1024});
  add("softmaxBlock", "256 x 1024", {256}, {256}, {b.floats, b.out, 1024});
  add("layernorm", "256 x 1024", {256}, {256}, {b.floats, b.moreFloats, b.floats, b.out, 1024}, 4096);
  add("scan", "1048576 by 1024", {1024}, {1024}, {b.integers, b.out, n});
  add("groupReduce", "1048576", {64}, {256}, {b.floats, b.out, n});
  add("histogram", "1048576 bytes", {64}, {256}, {b.bytes, b.out, n});
  add("matmul16", "256 x 256 x 256 tiles of 16", {16, 16}, {16, 16}, {b.floats, b.moreFloats, b.out, 256, 256, 256});
  add("matmul32", "256 x 256 x 256 tiles of 32", {8, 8}, {32, 32}, {b.floats, b.moreFloats, b.out, 256, 256, 256});
  add("matmulAsync", "256 x 256 x 256 cp.async", {4, 8}, {256}, {b.floats, b.moreFloats, b.out, 256, 256, 256});
  add("matmulWmma", "256 x 256 x 256 f16", {16, 16}, {32}, {b.halves, b.halves, b.out, 256, 256});
  add("matmulMma", "128 x 128 x 256 f16", {16, 8}, {32}, {b.halves, b.halves, b.out, 128, 256});
  add("transpose", "1024 x 1024", {32, 32}, {32, 8}, {b.floats, b.out, 1024, 1024});
  add("halves", "262144 pairs", {1024}, {256}, {b.halves, b.halves + 4096, b.out, n / 4});
  add("gelu", "262144 halves", {1024}, {256}, {b.halves, b.out, n / 4});
  add("specials", "65536", {256}, {256}, {b.floats, b.out, n / 16});
  add("specials64", "16384", {64}, {256}, {b.doubles, b.out, n / 64});
  add("integers", "65536", {256}, {256}, {b.integers, b.moreIntegers, b.out, b.bytes, n / 16});
  add("locals", "8192 threads 256 rounds", {32}, {256}, {b.bytes, b.out, 256});
  add("constants", "262144", {64}, {256}, {b.bytes, b.out, n / 4});
  add("recursion", "16384 threads", {64}, {256}, {b.out});
  for (unsigned size : {64u, 128u, 512u})
    add("matmul32", std::to_string(size) + " cubed", {size / 32, size / 32}, {32, 32},
        {b.floats, b.moreFloats, b.out, size, size, size}, 0, "growth");
  for (unsigned count : {1u << 14, 1u << 16, 1u << 18, 1u << 22})
    add("multiply", std::to_string(count), {count / 256}, {256}, {b.floats, b.floats, b.out, count}, 0, "growth");
  // Long enough for many cores: some 50 to 200 ms of one, in 256 blocks and more.
  auto addScaling = [&](const std::string &kernel, const std::string &shape, std::vector<unsigned> grid,
                        std::vector<unsigned> block, std::vector<uint64_t> arguments, unsigned shared = 0) {
    add(kernel, shape, std::move(grid), std::move(block), std::move(arguments), shared, "scaling");
  };
  const unsigned m = 1 << 22;
  addScaling("softmaxBlock", "4096 x 1024", {4096}, {256}, {b.floats, b.out, 1024});
  addScaling("layernorm", "4096 x 1024", {4096}, {256}, {b.floats, b.moreFloats, b.floats, b.out, 1024}, 4096);
  addScaling("scan", "4194304 by 1024", {4096}, {1024}, {b.integers, b.out, m});
  addScaling("histogram", "16777216 bytes", {1024}, {256}, {b.bytes, b.out, 4 * m});
  addScaling("matmul16", "512 cubed", {32, 32}, {16, 16}, {b.floats, b.moreFloats, b.out, 512, 512, 512});
  addScaling("matmul32", "512 cubed", {16, 16}, {32, 32}, {b.floats, b.moreFloats, b.out, 512, 512, 512});
  addScaling("matmulAsync", "1024 x 512 x 512 cp.async", {8, 32}, {256},
             {b.floats, b.moreFloats, b.out, 1024, 512, 512});
  addScaling("matmulMma", "512 x 512 x 256 f16", {64, 32}, {32}, {b.halves, b.halves, b.out, 512, 256});
  addScaling("transpose", "2048 x 4096", {64, 128}, {32, 8}, {b.floats, b.out, 2048, 4096});
  addScaling("halves", "1048576 pairs", {4096}, {256}, {b.halves, b.halves + 4096, b.out, n});
  addScaling("specials", "524288", {2048}, {256}, {b.floats, b.out, n / 2});
  addScaling("locals", "65536 threads 256 rounds", {256}, {256}, {b.bytes, b.out, 256});
  return out;
}

Case smallLaunch(const Buffers &b) {
  Case c;
  c.name = c.kernel = "copies";
  c.shape = "1 block of 32 threads";
  c.block[0] = 32;
  c.arguments = {b.floats, b.out};
  return c;
}

} // namespace tenon::benchmarks
