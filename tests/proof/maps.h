// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that store through tensor maps in their parameters. Map i leads to buffer i; the others are only there. The
// address of one goes a long way round, or is made from that of another, so a proof which follows the wrong one is
// refuted: the buffer behind the map is written.
#pragma once

#include "tests/proof/launder.h"

namespace tenon::proof {

/// Where the maps of a kernel stand: each a parameter of its own, or all in one struct; behind the pointers and words,
/// or in front of them.
struct MapShape {
  uint32_t count = 0;
  bool isStruct = false, isFirst = false;
  bool operator==(const MapShape &) const = default;

  static constexpr uint32_t kBytes = 128, kAlignment = 64;
  /// Of map i in the struct, with zeros between them.
  static uint32_t offset(uint32_t i) { return 64 + 192 * i; }
  uint32_t structBytes() const { return 64 + 192 * count; }
};

/// ".param .align 64 .b8 k_map_0[128], ..."
std::string mapParameters(const MapShape &maps);

/// A store through one of the maps, the address of which came `ways`.
void storeThroughMap(Body &body, const MapShape &maps, uint32_t &used, std::string &names);

} // namespace tenon::proof
