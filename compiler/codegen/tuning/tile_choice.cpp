// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/tuning/tile_choice.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr StringLiteral kBy = "by", kBlocks = "blocks";
// A dictionary has its entries in the order of their names, people have them in this one.
constexpr StringLiteral kOrder[] = {"rows",      "columns", kBlocks,     "tiles",   "parts",       "deep",
                                    "exchanged", "few",     "positions", "threads", "depth_warps", "turns"};

std::vector<std::pair<std::string, int64_t>> comparable(const TileChoice &choice) {
  std::vector<std::pair<std::string, int64_t>> numbers;
  for (const auto &number : choice.numbers)
    if (number.first != kBlocks || number.second != 1)
      numbers.push_back(number);
  llvm::sort(numbers);
  return numbers;
}

} // namespace

TileChoice TileChoice::of(DictionaryAttr pin) {
  TileChoice choice{pin.getAs<StringAttr>(kBy).getValue().str(), {}};
  for (NamedAttribute entry : pin)
    if (auto number = dyn_cast<IntegerAttr>(entry.getValue()))
      choice.numbers.emplace_back(entry.getName().str(), number.getValue().getSExtValue());
  llvm::sort(choice.numbers, [](const auto &left, const auto &right) {
    return llvm::find(kOrder, left.first) < llvm::find(kOrder, right.first);
  });
  return choice;
}

DictionaryAttr TileChoice::attribute(MLIRContext *context) const {
  Builder b(context);
  SmallVector<NamedAttribute> entries = {b.getNamedAttr(kBy, b.getStringAttr(by))};
  for (const auto &[name, value] : numbers)
    entries.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(value)));
  return b.getDictionaryAttr(entries);
}

int64_t TileChoice::number(StringRef name) const {
  for (const auto &[each, value] : numbers)
    if (each == name)
      return value;
  return 0;
}

std::string TileChoice::text() const {
  std::string text = "{by = \"" + by + "\"";
  for (const auto &[name, value] : numbers)
    text += ", " + name + " = " + std::to_string(value);
  return text + "}";
}

bool operator==(const TileChoice &left, const TileChoice &right) {
  return left.by == right.by && comparable(left) == comparable(right);
}

} // namespace tenon::compiler::codegen
