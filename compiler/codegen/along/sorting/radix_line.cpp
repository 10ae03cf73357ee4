// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/radix_line.h"

#include "compiler/codegen/along/sorting/block_ranks.h"
#include "compiler/codegen/along/sorting/radix_items.h"

using namespace mlir;

namespace tenon::compiler::codegen {

void writeRadixLine(AlongWriter &w) {
  KernelBuilder &k = w.k;
  RadixItems items(w);
  const auto perThread = unsigned(w.choice("items"));
  Value line = k.block();
  BlockRanks ranks(k, perThread);
  SharedItems shared(k, items, uint64_t(perThread) * k.threads);
  SmallVector<Type> types = {items.key.type()};
  if (items.hasCargo())
    types.push_back(items.cargo.type);
  SmallVector<Value> first; // keys, each with its cargo behind it
  for (unsigned i = 0; i < perThread; ++i) {
    Value place = ranks.number(i);
    llvm::append_range(first,
                       k.choose(
                           k.less(place, items.lines.length), types,
                           [&] {
                             SmallVector<Value> read = {items.readKey(line, place)};
                             if (items.hasCargo())
                               read.push_back(items.readCargo(line, place));
                             return read;
                           },
                           [&] {
                             SmallVector<Value> none = {items.key.last(k)};
                             if (items.hasCargo())
                               none.push_back(arith::ConstantOp::create(k.b, k.loc, k.b.getZeroAttr(items.cargo.type)));
                             return none;
                           }));
  }
  k.loop(k.number(0), k.number(items.key.digits()), k.number(1), first, [&](Value digit, ValueRange now) {
    SmallVector<Value> digits, next;
    for (unsigned i = 0; i < perThread; ++i)
      digits.push_back(items.key.digit(k, now[i * types.size()], digit));
    for (auto [i, place] : llvm::enumerate(ranks.of(digits))) {
      shared.storeKey(place, now[i * types.size()]);
      if (items.hasCargo())
        shared.storeCargo(place, now[i * types.size() + 1]);
    }
    k.barrier();
    for (unsigned i = 0; i < perThread; ++i) {
      const RadixItem item = shared.load(ranks.number(i));
      next.push_back(item.key);
      if (items.hasCargo())
        next.push_back(item.cargo);
    }
    return next;
  });
  k.loop(k.thread(), items.lines.length, k.number(k.threads), {}, [&](Value place, ValueRange) {
    items.give(line, place, shared.load(place));
    return SmallVector<Value>();
  });
}

} // namespace tenon::compiler::codegen
