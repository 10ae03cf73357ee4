// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arguments of a launch: one parameter block packed by the rule that the linker checked against
// (abi/parameter_layout.h), and a pointer per parameter into it, which is the form cuLaunchKernel calls kernelParams.
// That form carries neither offsets nor a total size: the driver places each parameter where the image wants it, also
// those that are aligned to more than 16 bytes, whose offset only the image knows (K-3).
//
// A pack is prepared once per kernel and set as often as it is launched; setting allocates nothing. A tensor map is
// encoded again only when its address or extents changed.
#pragma once

#include "abi/parameter_layout.h"
#include "runtime/executable/tensor_map.h"
#include "support/result.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon::runtime {

class ArgumentPack {
public:
  /// Room for the arguments of a kernel; `layout` is borrowed and outlives this. `encode` is the driver's and may be
  /// null: a layout with tensor maps is then refused by set().
  ArgumentPack(const abi::ParameterLayout &layout, TensorMapEncoder encode);

  /// @param bindings  [n] binding order
  /// @param constants [m] words, as abi::packParameters takes them; extents for a tensor map (K-22)
  /// The device's context is current where the layout has tensor maps: a driver encodes them in one only.
  /// Errors of abi::packParameters (K-7) and encodeTensorMap (K-22).
  Status set(std::span<const DeviceRange> bindings, std::span<const uint64_t> constants);

  /// Room and values at once.
  static Result<ArgumentPack> pack(const abi::ParameterLayout &layout, TensorMapEncoder encode,
                                   std::span<const DeviceRange> bindings, std::span<const uint64_t> constants);

  /// [parameters] one pointer per kernel parameter; valid while this lives.
  void **kernelParameters() { return pointers_.data(); }
  std::span<const uint8_t> block() const { return {reinterpret_cast<const uint8_t *>(words_.data()), layout_->bytes}; }

private:
  struct alignas(64) Word { // where the driver wants a tensor map
    uint8_t bytes[64];
  };
  // What a tensor map was last encoded from.
  struct Encoded {
    bool valid = false;
    DeviceRange range;
    std::array<uint64_t, abi::kMaxTensorMapRank> extents = {};
  };
  Status setTensorMap(const abi::Slot &slot, std::span<const DeviceRange> bindings,
                      std::span<const uint64_t> constants);

  const abi::ParameterLayout *layout_;
  TensorMapEncoder encode_;
  std::vector<Word> words_; // 64-byte aligned block
  std::vector<void *> pointers_;
  std::vector<uint64_t> addresses_;  // [bindings]
  std::vector<CUtensorMap> maps_;    // [tensor maps]
  std::vector<Encoded> encodedFrom_; // [tensor maps]
};

} // namespace tenon::runtime
