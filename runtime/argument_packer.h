// The arguments of one launch: one parameter block packed by the rule that the linker checked against
// (abi/parameter_layout.h), and a pointer per parameter into it, which is the form cuLaunchKernel calls kernelParams.
// That form carries no total size, so it cannot disagree with the image about tail padding.
#pragma once

#include "abi/parameter_layout.h"
#include "abi/result.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tenon::runtime {

class ArgumentPack {
public:
  /// @param bindings  [n] device addresses, binding order
  /// @param constants [m] register values; the low bytes are taken
  /// Errors of abi::packParameters (K-7).
  static Result<ArgumentPack> pack(const abi::ParameterLayout &layout, std::span<const uint64_t> bindings,
                                   std::span<const uint64_t> constants);

  /// [parameters] one pointer per kernel parameter; valid while this lives.
  void **kernelParameters() { return pointers_.data(); }
  std::span<const uint8_t> block() const { return {reinterpret_cast<const uint8_t *>(words_.data()), bytes_}; }

private:
  struct alignas(16) Word {
    uint8_t bytes[16];
  };
  std::vector<Word> words_; // 16-byte aligned block
  std::vector<void *> pointers_;
  size_t bytes_ = 0;
};

} // namespace tenon::runtime
