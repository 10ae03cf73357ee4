// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/bands.h"

#include "compiler/codegen/grouped/bands/band_sums.h"
#include "compiler/codegen/strategies/windows/windows.h"
#include "compiler/codegen/strategies/windows/windows_writer.h"
#include "compiler/dialect/tile_pins.h"

using namespace mlir;

namespace tenon::compiler::codegen {
std::optional<Plan> Bands::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  const std::optional<BandForm> form = BandForm::of(kernel, shape);
  const std::optional<BandTile> tile = form ? BandTile::of(*form) : std::nullopt;
  std::optional<Plan> plan = tile ? Windows().plan(kernel, shape) : std::nullopt;
  if (!plan)
    return std::nullopt;
  plan->strategy = name();
  plan->threads = uint32_t(kBandThreads);
  plan->grid = {{SmallVector<Extent>{{blocksOf(*form, *tile), Value()}}, 1}};
  plan->dynamicSharedBytes = uint32_t(BandGeometry(*form, *tile).sharedBytes());
  return plan;
}

std::vector<Plan> Bands::plans(const KernelFunction &kernel, const GroupShape &shape) const {
  const std::optional<BandForm> form = BandForm::of(kernel, shape);
  if (!form)
    return {};
  const DictionaryAttr pin = tilePinOf(form->product.op->op);
  if (pin ? TileChoice::of(pin).by != name() : !isWorthBands(*form))
    return {};
  return Strategy::plans(kernel, shape);
}

bool Bands::takes(StringRef choice, int64_t value) const {
  return choice == "threads" ? value == kBandThreads : Windows().takes(choice, value);
}

void Bands::write(Writer &writer) const {
  const BandForm form = *BandForm::of(writer.kernel, writer.shape);
  const int64_t blocks = blocksOf(form, *BandTile::of(form));
  if (!hasCores(writer.target))
    return writeWindowsIn(writer, blocks);
  writeBandSums(writer.kernel, writer.shape, writer.k, writer.space, writer.bodies, writer.arguments, form);
}

} // namespace tenon::compiler::codegen
