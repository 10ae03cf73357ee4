// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a sort by digits moves: keys, and beside each its cargo, which is the other result's element where there is one,
// or the place where the element stood where there are several, which are fetched from there at the end.
#pragma once

#include "compiler/codegen/along/lines/lines.h"
#include "compiler/codegen/along/sorting/radix_key.h"

namespace tenon::compiler::codegen {

/// What moves beside a key.
struct RadixCargo {
  std::optional<unsigned> operand; // an element of that; else the place in the line
  mlir::Type type;                 // null: nothing

  static RadixCargo of(const KernelFunction &kernel, unsigned key, mlir::Type position);
};

struct RadixItem {
  mlir::Value key, cargo;
};

/// The tensors of a kernel as items.
class RadixItems {
public:
  explicit RadixItems(AlongWriter &w);

  bool hasCargo() const { return bool(cargo.type); }
  /// Of an element of the input.
  mlir::Value readKey(mlir::Value line, mlir::Value place);
  mlir::Value readCargo(mlir::Value line, mlir::Value place);
  /// Into the results.
  void give(mlir::Value line, mlir::Value place, const RadixItem &item);

  mlir::Value toPosition(mlir::Value number);
  mlir::Value toNumber(mlir::Value position);

  RadixKey key;
  mlir::Type position;
  RadixCargo cargo;
  Lines lines;

private:
  mlir::Value operand(unsigned which, mlir::Value line, mlir::Value place);

  AlongWriter &w_;
  KernelBuilder &k_;
  const KernelAlong &along_;
};

/// Items of a block in shared memory.
class SharedItems {
public:
  SharedItems(KernelBuilder &k, const RadixItems &items, uint64_t capacity);

  void storeKey(mlir::Value place, mlir::Value key);
  void storeCargo(mlir::Value place, mlir::Value cargo);
  RadixItem load(mlir::Value place);

private:
  KernelBuilder &k_;
  mlir::Type key_, cargo_;
  mlir::Value keys_, cargoes_;
};

} // namespace tenon::compiler::codegen
