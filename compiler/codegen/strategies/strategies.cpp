// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/strategies.h"
#include "compiler/codegen/strategies/bands.h"
#include "compiler/codegen/strategies/columns/columns.h"
#include "compiler/codegen/strategies/elementwise.h"
#include "compiler/codegen/strategies/gathered_rows.h"
#include "compiler/codegen/strategies/products/attention.h"
#include "compiler/codegen/strategies/products/channel_filters.h"
#include "compiler/codegen/strategies/products/contraction.h"
#include "compiler/codegen/strategies/products/grouped.h"
#include "compiler/codegen/strategies/products/grouped_filters.h"
#include "compiler/codegen/strategies/products/skinny.h"
#include "compiler/codegen/strategies/rows/rows.h"
#include "compiler/codegen/strategies/transposes/short_turns.h"
#include "compiler/codegen/strategies/transposes/transpose.h"
#include "compiler/codegen/strategies/windows/planes.h"
#include "compiler/codegen/strategies/windows/windows.h"

using namespace mlir;

namespace tenon::compiler::codegen {

ArrayRef<const Strategy *> strategies() {
  static const AttentionStrategy attention;
  static const Skinny skinny;
  static const Grouped grouped;
  static const GroupedFiltersStrategy groupedFilters;
  static const ChannelFiltersStrategy channelFilters;
  static const Bands bands;
  static const Contraction contraction;
  static const Elementwise elementwise;
  static const GatheredRows gatheredRows;
  static const ShortTurns shortTurns;
  static const Transpose transpose(elementwise);
  static const Rows rows;
  static const Columns columns;
  static const Planes planes;
  static const Windows windows;
  static const Strategy *const all[] = {&attention,   &skinny,      &grouped,      &groupedFilters, &channelFilters,
                                        &bands,       &contraction, &gatheredRows, &shortTurns,     &transpose,
                                        &elementwise, &columns,     &rows,         &planes,         &windows};
  return all;
}

const Strategy *strategyNamed(StringRef name) {
  for (const Strategy *strategy : strategies())
    if (strategy->name() == name)
      return strategy;
  return nullptr;
}

} // namespace tenon::compiler::codegen
