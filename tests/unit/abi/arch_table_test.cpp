// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of architectures and what follows from it, against a table written out by hand from the documents: CUDA
// Programming Guide 13.0, "Technical Specifications per Compute Capability" (12.9 for what came before 7.5);
// cuda/__device/arch_traits.h of NVIDIA's CCCL (2026), which has 6.2, 8.8, 10.3 and 12.1 too; PTX ISA, "Release Notes".
#include "abi/arch_table.h"

#include "abi/target_arch.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace tenon::abi {
namespace {

using Devices = std::vector<uint16_t>;

struct Published {
  uint16_t number = 0;
  PtxIsas isa;
  // By warps, as the documents have it; for the whole multiprocessor but the last.
  uint32_t blocks = 0, warps = 0, sharedKib = 0, blockSharedKib = 0;
  Devices cubin;              // the devices that run a cubin of sm_N
  Devices specific, ofFamily; // the devices that run code of sm_Na and sm_Nf, PTX or cubin
};

// Ascending: PTX of sm_N runs on the devices of its row and of all below it.
// clang-format off
const Published kPublished[] = {
    {50, {40}, 32, 64, 64, 48, {50, 52}, {}, {}},
    {52, {41}, 32, 64, 96, 48, {52}, {}, {}},
    {53, {42}, 32, 64, 64, 48, {53}, {}, {}},
    {60, {50}, 32, 64, 64, 48, {60, 61}, {}, {}},
    {61, {50}, 32, 64, 96, 48, {61}, {}, {}},
    {62, {50}, 32, 64, 64, 48, {62}, {}, {}},
    {70, {60}, 32, 64, 96, 96, {70, 75}, {}, {}},
    {72, {61}, 32, 64, 96, 96, {72}, {}, {}},
    {75, {63}, 16, 32, 64, 64, {75}, {}, {}},
    {80, {70}, 32, 64, 164, 163, {80, 86, 89}, {}, {}},
    {86, {71}, 16, 48, 100, 99, {86, 89}, {}, {}},
    {87, {74}, 16, 48, 164, 163, {87}, {}, {}},
    {88, {90}, 16, 48, 100, 99, {88}, {}, {}},
    {89, {78}, 24, 48, 100, 99, {89}, {}, {}},
    {90, {78, 80}, 32, 64, 228, 227, {90}, {90}, {}},
    {100, {86, 86, 88}, 32, 64, 228, 227, {100, 103}, {100}, {100, 103}},
    {101, {86, 86, 88}, 24, 48, 228, 227, {101, 110}, {101, 110}, {101, 110}},
    {103, {88, 88, 88}, 32, 64, 228, 227, {103}, {103}, {103}},
    {110, {90, 90, 90}, 24, 48, 228, 227, {101, 110}, {101, 110}, {101, 110}},
    {120, {87, 87, 88}, 24, 48, 100, 99, {120, 121}, {120}, {120, 121}},
    {121, {88, 88, 88}, 24, 48, 100, 99, {121}, {121}, {121}},
};
// clang-format on

DeviceTraits device(uint16_t number) {
  DeviceTraits traits;
  traits.computeCapability = number;
  traits.driverVersion = 13000;
  return traits;
}

bool holds(const Devices &list, uint16_t number) {
  return std::find(list.begin(), list.end(), number) != list.end();
}

TEST(ArchTable, HasTheLimitsThatArePublished) {
  ASSERT_EQ(architectures().size(), std::size(kPublished)) << "a row here for each of arch_table.cpp";
  for (size_t i = 0; i < std::size(kPublished); ++i) {
    const Published &row = kPublished[i];
    const Architecture &found = architectures()[i];
    ASSERT_EQ(found.number, row.number);
    EXPECT_EQ(findArchitecture(row.number), &found);
    EXPECT_FALSE(found.name.empty()) << row.number;
    EXPECT_EQ(found.isa.plain, row.isa.plain) << row.number;
    EXPECT_EQ(found.isa.a, row.isa.a) << row.number;
    EXPECT_EQ(found.isa.f, row.isa.f) << row.number;
    EXPECT_EQ(found.limits.blocks, row.blocks) << row.number;
    EXPECT_EQ(found.limits.threads, row.warps * 32) << row.number;
    EXPECT_EQ(found.limits.sharedBytes, row.sharedKib << 10) << row.number;
    EXPECT_EQ(found.limits.blockSharedBytes, row.blockSharedKib << 10) << row.number;
    EXPECT_EQ(found.reservedSharedBytes(), row.number >= 80 ? 1024u : 0u) << row.number;
  }
}

TEST(ArchTable, AscendsAndIsConsistent) {
  for (size_t i = 1; i < architectures().size(); ++i)
    EXPECT_LT(architectures()[i - 1].number, architectures()[i].number);
  for (const Architecture &row : architectures()) {
    const Architecture *canonical = findArchitecture(row.canonical);
    ASSERT_NE(canonical, nullptr) << row.number;
    EXPECT_EQ(canonical->canonical, row.canonical) << row.number;
    EXPECT_EQ(canonical->family, row.family) << row.number;
    EXPECT_EQ(canonical->isTegra, row.isTegra) << row.number;
    EXPECT_EQ(row.isa.f != 0, row.family != 0) << row.number;
    EXPECT_EQ(row.product.multiprocessors == 0, row.product.l2Bytes == 0) << row.number;
  }
}

TEST(ArchTable, OfAnUnknownPartIsEmpty) {
  EXPECT_EQ(findArchitecture(99), nullptr);
  EXPECT_EQ(canonicalNumber(99), 99);
  EXPECT_TRUE(hasClusters(999));
  EXPECT_FALSE(hasClusters(89));
}

TEST(ArchTable, BoundsParameters) {
  EXPECT_EQ(maxParameterBytes(81, 70), 32764u);
  EXPECT_EQ(maxParameterBytes(80, 90), 4352u);
  EXPECT_EQ(maxParameterBytes(90, 62), 4352u) << "before Volta";
}

/// By position: a device of 10.1 is compared as 11.0.
bool runsPlainPtx(uint16_t target, uint16_t on) {
  auto place = [](uint16_t number) {
    return std::find_if(std::begin(kPublished), std::end(kPublished),
                        [&](const Published &row) { return row.number == number; }) -
           std::begin(kPublished);
  };
  return place(target) <= place(on == 101 ? 110 : on);
}

TEST(ArchTable, CodeRunsWhereTheTableSays) {
  for (const Published &row : kPublished)
    for (const Published &on : kPublished) {
      auto expect = [&](ArchSuffix suffix, uint16_t isa, bool ptx, bool cubin) {
        const TargetArch target{row.number, suffix};
        ASSERT_NE(findArch(target), nullptr) << target.toString();
        EXPECT_EQ(findArch(target)->minimumIsa, isa) << target.toString();
        const Verdict ofPtx = runsPtx(target, isa, device(on.number)), ofCubin = runsCubin(target, device(on.number));
        EXPECT_EQ(ofPtx.runs, ptx) << target.toString() << " on " << on.number << ": " << ofPtx.reason;
        EXPECT_EQ(ofCubin.runs, cubin) << target.toString() << " on " << on.number << ": " << ofCubin.reason;
        EXPECT_FALSE(ofPtx.reason.empty());
        EXPECT_FALSE(ofCubin.reason.empty());
      };
      expect(ArchSuffix::None, row.isa.plain, runsPlainPtx(row.number, on.number), holds(row.cubin, on.number));
      if (row.isa.a)
        expect(ArchSuffix::A, row.isa.a, holds(row.specific, on.number), holds(row.specific, on.number));
      if (row.isa.f)
        expect(ArchSuffix::F, row.isa.f, holds(row.ofFamily, on.number), holds(row.ofFamily, on.number));
    }
}

TEST(ArchTable, EveryTargetIsOfARow) {
  size_t wanted = 0;
  for (const Published &row : kPublished)
    wanted += size_t(1) + (row.isa.a != 0) + (row.isa.f != 0);
  EXPECT_EQ(knownArchs().size(), wanted);
}

// Multiprocessors, MHz (boost) and MiB of L2 from NVIDIA's data sheets and what deviceQuery prints.
TEST(ArchTable, TheEmulatorsDevicesAreThoseThatAreSold) {
  struct Product {
    uint16_t number;
    uint32_t multiprocessors, mhz, l2Mib;
  };
  const Product products[] = {
      {70, 80, 1530, 6},                            // V100
      {75, 40, 1590, 4},                            // T4
      {80, 108, 1410, 40},                          // A100
      {86, 84, 1695, 6},                            // RTX 3090 class
      {87, 16, 1300, 4},                            // Jetson AGX Orin
      {89, 128, 2520, 72},                          // RTX 4090
      {90, 132, 1980, 50},                          // H100
      {100, 148, 1965, 126}, {103, 148, 1965, 126}, // B200, B300
      {120, 170, 2407, 96},                         // RTX 5090
      {121, 48, 2400, 24},                          // GB10
  };
  size_t found = 0;
  for (const Architecture &row : architectures())
    found += row.product.multiprocessors != 0;
  EXPECT_EQ(found, std::size(products));
  for (const Product &product : products) {
    const Architecture *row = findArchitecture(product.number);
    ASSERT_TRUE(row) << product.number;
    EXPECT_EQ(row->product.multiprocessors, product.multiprocessors) << product.number;
    EXPECT_EQ(row->product.clockKhz, product.mhz * 1000) << product.number;
    EXPECT_EQ(row->product.l2Bytes, product.l2Mib << 20) << product.number;
  }
}

} // namespace
} // namespace tenon::abi
