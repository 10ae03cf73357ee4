// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tenon.tile` on a contraction of linalg: how its kernel is to compute it, instead of what the compiler would choose.
//
//   linalg.matmul {tenon.tile = {by = "wgmma", rows = 128, columns = 256}} ins(...) outs(...)
//
// Between there and the kernel operations are rewritten many times over, and what stands on them is lost. Their bodies
// are not: they are moved or cloned, with all that stands on what is in them. So a pin travels on the operation of the
// body whose value is yielded, with the place where it was written (`place`), and the module lists all such places
// (`tenon.tile_places`). What did not arrive in a kernel is an error there: a pin is never lost without a word.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace tenon::compiler {

inline constexpr llvm::StringLiteral kTileAttr = "tenon.tile";
inline constexpr llvm::StringLiteral kTilePlacesAttr = "tenon.tile_places";

/// Takes each pin from its operation into the body. An error where it is no dictionary of `by`, a string, and numbers,
/// or stands on something else than an operation of linalg that computes elements.
mlir::LogicalResult readTilePins(mlir::ModuleOp module);

/// The pin in the body of an operation, without its place; null: there is none.
mlir::DictionaryAttr tilePinOf(mlir::Operation *op);
/// Pins an operation of a kernel. Failure: it computes nothing from what it reads.
mlir::LogicalResult setTilePin(mlir::Operation *op, mlir::DictionaryAttr pin);
/// Of an operation that was made of a pinned one and is not what was pinned, or of one whose pin was taken.
void dropTilePin(mlir::Operation *op);

/// Takes the place from the pin of an operation that is in a kernel now. @return null: it had none
mlir::Attribute takeTilePlace(mlir::Operation *op);
/// An error at each place of the module that is not among `arrived`.
mlir::LogicalResult checkTilePlaces(mlir::ModuleOp module, const llvm::DenseSet<mlir::Attribute> &arrived);

} // namespace tenon::compiler
