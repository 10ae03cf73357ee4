// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels are apart from some of their numbers. Strategies write a number as a constant, and decide by it: how
// many vectors a thread keeps, whether a tile is whole. Where two kernels were written alike but for such constants,
// and these are only added, multiplied, compared and counted to, the one is the other with other numbers. A constant by
// which each thread divides, a shift or the place in a vector is no such number: what is made of it depends on what it
// is.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/Hashing.h"

#include <vector>

namespace tenon::compiler::codegen {

class Structure {
public:
  /// @param written as writeKernels() leaves it
  explicit Structure(mlir::OwningOpRef<mlir::ModuleOp> written);
  Structure(Structure &&) = default;

  mlir::ModuleOp module() { return *written_; }
  /// Equal for what is alike.
  llvm::hash_code hash() const { return hash_; }
  /// Whether the other differs in numbers alone. Exact: every operation is compared.
  bool isLike(const Structure &other) const;
  /// Those that may differ, in the order of their operations: integers, and the bits of floats.
  std::vector<int64_t> numbers() const;
  /// Divisions by numbers become such of 32 bits, where the numbers in them have no more. Before any number has a name.
  /// @param most [numbers] what each is at most
  void narrowDivisions(llvm::ArrayRef<int64_t> most);
  /// Replaces number `index` by the one that a call of `name` stands for (ptx/rewrites/named_numbers.h), wherever it is
  /// used.
  void name(size_t index, llvm::StringRef name);
  mlir::Type typeOf(size_t index) const;

private:
  mlir::OwningOpRef<mlir::ModuleOp> written_;
  std::vector<mlir::Operation *> operations_;      // the outer one before the inner ones
  llvm::SmallVector<mlir::Operation *> constants_; // the numbers
  llvm::BitVector isNumber_;                       // [operations]
  // Of each operation: how many operands, successors, results and regions it has, the block that it is in, its operands
  // and successors, the blocks of its regions and their arguments. Values and blocks are numbered in their order.
  std::vector<uint32_t> links_;
  llvm::hash_code hash_;
};

} // namespace tenon::compiler::codegen
