// In: a parameter layout and the values of a dispatch. Out: one block of bytes and a pointer to each parameter in it.
// Where a parameter lies is abi::computeParameterLayout's word alone (abi/kernel_abi.md, K-3).
#include "runtime/argument_packer.h"

namespace tenon::runtime {

Result<ArgumentPack> ArgumentPack::pack(const abi::ParameterLayout &layout, std::span<const uint64_t> bindings,
                                        std::span<const uint64_t> constants) {
  ArgumentPack pack;
  pack.bytes_ = layout.bytes;
  pack.words_.resize((layout.bytes + sizeof(Word) - 1) / sizeof(Word));
  uint8_t *block = reinterpret_cast<uint8_t *>(pack.words_.data());
  TENON_RETURN_IF_ERROR(abi::packParameters(layout, bindings.data(), bindings.size(), constants.data(),
                                            constants.size(), block, pack.words_.size() * sizeof(Word)));
  pack.pointers_.reserve(layout.parameters.size());
  for (const abi::Parameter &parameter : layout.parameters)
    pack.pointers_.push_back(block + parameter.offset);
  return pack;
}

} // namespace tenon::runtime
