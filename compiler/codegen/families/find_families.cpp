// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/families/find_families.h"

using namespace mlir;

namespace tenon::compiler::codegen {

FailureOr<FoundFamilies> findFamilies(ArrayRef<ModuleOp> modules, ArrayRef<abi::TargetArch> targets,
                                      const KernelsWriter &writer) {
  FoundFamilies found;
  std::multimap<size_t, size_t> byHash;
  using FamilyAndMember = std::pair<size_t, size_t>;
  auto placeOf = [&](Structure structure) -> FamilyAndMember {
    const size_t hash = structure.hash();
    auto [first, last] = byHash.equal_range(hash);
    for (auto each = first; each != last; ++each)
      if (const std::optional<size_t> member = found.families[each->second]->family.add(structure))
        return {each->second, *member};
    const size_t number = found.families.size();
    found.families.push_back(std::make_unique<FoundFamily>(
        FoundFamily{Family(std::move(structure)), llvm::SmallBitVector(unsigned(targets.size()))}));
    byHash.emplace(hash, number);
    return {number, 0};
  };
  for (auto [number, module] : llvm::enumerate(modules)) {
    llvm::SmallDenseMap<unsigned, FamilyAndMember> known; // by variant
    for (auto [target, arch] : llvm::enumerate(targets)) {
      auto [place, isNew] = known.try_emplace(writer.variantFor(module, arch));
      if (isNew) {
        FailureOr<OwningOpRef<ModuleOp>> written = writer.write(module, arch);
        if (failed(written))
          return failure();
        place->second = placeOf(Structure(std::move(*written)));
      }
      const auto [family, member] = place->second;
      found.families[family]->targets.set(unsigned(target));
      found.places.push_back({number, target, family, member});
    }
  }
  return std::move(found);
}

} // namespace tenon::compiler::codegen
