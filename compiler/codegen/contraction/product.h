// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contraction of a kernel (dispatch/analysis/products/contraction.h) as its writers see it: a matrix of rows and
// columns for each element of the batch, whatever number of axes each of them has. A block computes a tile of it, and
// reads tiles of both sides step by step along the reduced axes:
//
//                        columns                 an operand's tile is `side` positions across by `depth` positions
//                      +---------+               along the reduced axes
//             reduced  |  right  |
//                      +---------+
//            +-------+ +---------+
//      rows  | left  | |  result |
//            +-------+ +---------+
#pragma once

#include "abi/target_arch.h"
#include "compiler/codegen/kernel/bodies/bodies.h"
#include "compiler/dispatch/analysis/products/contraction.h"

namespace tenon::compiler::codegen {

/// A tensor in memory, and the operation that reads it.
struct OperandInput {
  const KernelOp *op;
  const KernelInput *input;
};

// On a kernel function: tensor cores may sum products of f8 on their own, with 13 bits.
inline constexpr llvm::StringLiteral kNarrowSumsAttr = "tenon.narrow_sums";
/// Reduced elements of f8 that a tensor core sums on its own where that attribute is not there.
inline constexpr uint32_t kMostNarrowlySummed = 128;

/// Elements that one access of 16 bytes may hold: integers of four bits.
inline constexpr uint32_t kMostPacked = 32;

/// One side of the product.
struct Operand {
  mlir::Value value;                      // of the body: what is multiplied, before it is extended; of an f8 its byte
  mlir::Type factor;                      // what `value` means: its type, or f8E4M3FN or f8E5M2
  bool isUnsigned = false;                // an integer that is extended by zeros
  llvm::SmallVector<OperandInput> inputs; // that it is computed from, also by other operations of the group
  llvm::SmallVector<unsigned> across;     // axes of the space: of the rows, or of the columns
  unsigned vectorAxis = 0;                // of the space: neighbours along it are neighbours in memory
  bool isAlongReduced = true;             // vectorAxis is a reduced one
  const KernelInput *plain = nullptr;     // `value` is an element of it as it stands
  const KernelBorder *border = nullptr;   // or an element of that, or 0, or of the matrix of the row's expert

  /// Whether `value` is copied as bytes, from tensor().
  bool isCopied() const { return plain || border; }
  const KernelTensor &tensor() const { return border ? border->tensor : plain->tensor; }
};

struct Product {
  const KernelOp *op = nullptr;
  RowSum sum;
  Operand left, right;
  llvm::SmallVector<unsigned> batch, rows, columns, reduced; // axes of the space, outermost first
  // Of elements of the batch that have only some of the terms: `of` and `along` are axes of the space here.
  llvm::SmallVector<dispatch::SummedPlaces, 0> places;
  const KernelTensor *routes =
      nullptr;         // the table of a routed product (dispatch/analysis/products/routes.h); null: it is none
  int64_t experts = 0; // then
  // A patch's side along the outermost axis of the rows (patches.h), a power of two; 0: it is chosen with the others.
  int64_t imagesOfPatch = 0;

  /// One of the operations of a kernel; nothing where it is no product.
  static std::optional<Product> ofOperation(const KernelFunction &kernel, const GroupShape &shape, const KernelOp &op);
  /// The only reduction of the group; a product of a matrix and a vector is one, too.
  static std::optional<Product> of(const KernelFunction &kernel, const GroupShape &shape);
  /// Elements of 16 bytes of the widest tensor that the operand reads along its vector axis: 1, 2, 4 or 8; along the
  /// reduced elements also 16 bytes or 32 packed integers, where all vectors are whole.
  uint32_t widthOf(const Operand &operand, const GroupShape &shape) const;
  /// Bytes of the widest access for `width` elements of the operand along its vector axis.
  static uint32_t bytesOf(const Operand &operand, const GroupShape &shape, uint32_t width);
  /// Type of the two elements that tensor cores may multiply: f16 or bf16; null: they cannot.
  mlir::Type tensorCoreElement() const;
  /// The same where types of other sizes can be read, too: also si8 and ui8, whose sums are i32, f8 of either kind
  /// (that of the left side: the other's may be another), and, where the kernel allows it, tf32 for f32.
  mlir::Type warpElement() const;
  /// That of the right side.
  mlir::Type rightWarpElement() const { return isOfF8() ? right.factor : warpElement(); }
  /// Whether products and sums are f64, whatever was extended to it; tensor cores multiply them by warps from sm_80 on.
  bool isOfDoubles() const { return sum.sum.type.isF64(); }
  /// In which an element of a side is multiplied by tensor cores of warps.
  mlir::Type tileElement(const Operand &operand) const {
    return isOfDoubles() ? sum.sum.type : operand.value.getType();
  }
  /// Whether they are f8, which tensor cores multiply from sm_89 on.
  bool isOfF8() const;
  /// Tensor cores keep 13 bits of the fraction of such sums: what comes of each step, of kMostNarrowlySummed reduced
  /// elements or fewer, is added to sums of f32 beside them.
  bool addsSteps() const { return isOfF8() && !sumsNarrowly; }
  bool roundsToTf32 = false; // the kernel allows it
  bool sumsNarrowly = false; // the kernel allows it of f8
  /// The same product with its sides, rows and columns exchanged.
  void exchangeSides();
  /// Whether warpgroups read an operand as it lies across though it is tf32: the left one, from registers, beside a
  /// right one that lies along the reduced elements.
  bool isReadAcross(const Operand &operand) const;
  /// As warpgroups multiply it: with its sides exchanged where it is the right one alone that lies across.
  Product forWarpgroups() const;
  /// What is summed along a reduced axis; null: all of it.
  const dispatch::SummedPlaces *placesAlong(unsigned axis) const;
};

/// Whether tensor cores of the target multiply the product's factors by warps: f16 and int8 from sm_75 on, bf16 and
/// tf32 from sm_80, f8 from sm_89.
bool hasTensorCoresFor(const Product &product, const abi::TargetArch &target);
/// A value of an operand in the type of the sum.
mlir::Value extended(KernelBuilder &k, const Operand &operand, mlir::Value value, mlir::Type type);

} // namespace tenon::compiler::codegen
