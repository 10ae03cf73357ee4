// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sources. PTX versions: PTX ISA, "Release Notes". Families and cubins: abi/kernel_abi.md, "Which image runs where".
// Limits: CUDA Programming Guide 13.0, "Technical Specifications per Compute Capability" (12.9 for what came before
// 7.5); cuda/__device/arch_traits.h of NVIDIA's CCCL, which has 6.2, 8.8, 10.3 and 12.1 too; cuda_occupancy.h of the
// toolkit for partitions and granularities.
#include "abi/arch_table.h"

namespace tenon::abi {
namespace {

constexpr MultiprocessorLimits holds(uint32_t threads, uint32_t blocks, uint32_t sharedKib, uint32_t blockSharedKib,
                                     uint32_t blockRegisters = 65536, uint32_t partitions = 4) {
  return {threads, blocks, sharedKib << 10, blockSharedKib << 10, blockRegisters, partitions};
}

constexpr Product gpu(uint32_t multiprocessors, uint32_t clockKhz, uint32_t l2Mib) {
  return {multiprocessors, clockKhz, l2Mib << 20};
}

constexpr bool kTegra = true;
constexpr bool kNoTegra = false;

// 101 is what 110 was called before CUDA 13. Which part 88 is has not been published: its limits are those of 8.6 (CCCL
// says so), and it counts as Tegra until its rule for cubins is known.
// clang-format off
constexpr Architecture kRows[] = {
    // .version of sm_N, sm_Na, sm_Nf;  compared as, family;  threads, blocks, KiB shared: all, one block (registers of a
    // block, partitions);  emulated as: multiprocessors, kHz, MiB of L2
    {50, "Maxwell", {40}, 50, 0, kNoTegra, holds(2048, 32, 64, 48), {}},
    {52, "Maxwell", {41}, 52, 0, kNoTegra, holds(2048, 32, 96, 48), {}},
    {53, "Maxwell (Tegra X1)", {42}, 53, 0, kTegra, holds(2048, 32, 64, 48, 32768), {}},
    {60, "Pascal", {50}, 60, 0, kNoTegra, holds(2048, 32, 64, 48, 65536, 2), {}},
    {61, "Pascal", {50}, 61, 0, kNoTegra, holds(2048, 32, 96, 48), {}},
    {62, "Pascal (Tegra X2)", {50}, 62, 0, kTegra, holds(2048, 32, 64, 48, 32768), {}},
    {70, "Volta", {60}, 70, 0, kNoTegra, holds(2048, 32, 96, 96), gpu(80, 1530000, 6)},
    {72, "Volta (Xavier)", {61}, 72, 0, kTegra, holds(2048, 32, 96, 96), {}},
    {75, "Turing", {63}, 75, 0, kNoTegra, holds(1024, 16, 64, 64), gpu(40, 1590000, 4)},
    {80, "Ampere", {70}, 80, 0, kNoTegra, holds(2048, 32, 164, 163), gpu(108, 1410000, 40)},
    {86, "Ampere", {71}, 86, 0, kNoTegra, holds(1536, 16, 100, 99), gpu(84, 1695000, 6)},
    {87, "Ampere (Orin)", {74}, 87, 0, kTegra, holds(1536, 16, 164, 163), gpu(16, 1300000, 4)},
    {88, "Ampere (Tegra)", {90}, 88, 0, kTegra, holds(1536, 16, 100, 99), {}},
    {89, "Ada", {78}, 89, 0, kNoTegra, holds(1536, 24, 100, 99), gpu(128, 2520000, 72)},
    {90, "Hopper", {78, 80}, 90, 0, kNoTegra, holds(2048, 32, 228, 227), gpu(kHopperMultiprocessors, 1980000, 50)},
    {100, "Blackwell", {86, 86, 88}, 100, 100, kNoTegra, holds(2048, 32, 228, 227), gpu(148, 1965000, 126)},
    {101, "Blackwell (Thor)", {86, 86, 88}, 110, 110, kTegra, holds(1536, 24, 228, 227), {}},
    {103, "Blackwell", {88, 88, 88}, 103, 100, kNoTegra, holds(2048, 32, 228, 227), gpu(148, 1965000, 126)},
    {110, "Blackwell (Thor)", {90, 90, 90}, 110, 110, kTegra, holds(1536, 24, 228, 227), {}},
    {120, "Blackwell", {87, 87, 88}, 120, 120, kNoTegra, holds(1536, 24, 100, 99), gpu(170, 2407000, 96)},
    {121, "Blackwell", {88, 88, 88}, 121, 120, kNoTegra, holds(1536, 24, 100, 99), gpu(48, 2400000, 24)},
};
// clang-format on

} // namespace

std::span<const Architecture> architectures() {
  return kRows;
}

const Architecture *findArchitecture(uint16_t number) {
  for (const Architecture &row : kRows)
    if (row.number == number)
      return &row;
  return nullptr;
}

uint16_t canonicalNumber(uint16_t number) {
  const Architecture *row = findArchitecture(number);
  return row ? row->canonical : number;
}

} // namespace tenon::abi
