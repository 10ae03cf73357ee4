// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words of kernels that multiply on tensor cores: copies that run beside the threads, fragments of matrices from
// shared memory, and products of fragments. Elements are f16 or bf16, sums are f32, where nothing else is said.
//
// A fragment is spread over the 32 lanes of a warp. Of the 16 x 8 results of a product, lane l holds
//   row l / 4, columns 2 (l % 4) and the next one, and the same of row l / 4 + 8.
#pragma once

#include "compiler/codegen/kernel/kernel_builder.h"

namespace tenon::compiler::codegen {

class TensorCore {
public:
  /// @param element f16 or bf16; of multiply() also si8, ui8 (sums are i32), tf32, f8E4M3FN and f8E5M2 (sm_89), and f64
  /// (sums are f64, sm_80)
  /// @param right that of the right side, where it may be another: of f8
  /// @param target number of the architecture. sm_75 multiplies f16 and int8, half as many or a quarter of them with an
  /// instruction, and copies by its threads.
  TensorCore(KernelBuilder &k, mlir::Type element, mlir::Type right = {}, uint16_t target = 80)
      : k_(k), element_(element), right_(right ? right : element), target_(target) {}

  /// Copies 16 bytes to shared memory (from sm_80 on also 4 or 8), or writes zeros where `exists` (null: it does) is
  /// false. Beside the threads from sm_80 on.
  void copyAsync(mlir::Value to, mlir::Value from, mlir::Value exists, uint32_t bytes = 16);
  /// The same of 16 bytes, of which so many (i64) are read; the others become zeros. From sm_80 on.
  void copyVector(mlir::Value to, mlir::Value from, mlir::Value bytes);
  /// What was copied since the last call is a group.
  void closeGroup();
  /// Until all but the last `pending` groups of this thread are there.
  void waitForGroups(uint32_t pending);

  /// Four 8 x 8 matrices; lane l gives the address of row l % 8 of matrix l / 8. Transposed: rows are columns.
  llvm::SmallVector<mlir::Value> loadMatrices(mlir::Value row, bool isTransposed);
  /// 16 x 8 sums += left 16 x 16 (four registers) * right 16 x 8 (two). Of int8 and f8 a register has four, not two: 32
  /// are multiplied; of tf32 it has one: 8. f32 are rounded to it here.
  ///
  /// Of f64 4 are multiplied (two registers, one): lane l has element l % 4 of the left side's row l / 4 and the eighth
  /// behind it, and of the right side's column l / 4.
  llvm::SmallVector<mlir::Value> multiply(mlir::ValueRange left, mlir::ValueRange right, mlir::ValueRange sums);

  /// An f32 as a tf32, which has the same bits but for the last 13. sm_80 and later.
  mlir::Value toTf32(mlir::Value value);
  /// Two f32 in the type of the elements, 32 bits.
  mlir::Value pair(mlir::Value low, mlir::Value high);
  /// The low halves of two registers, or the high ones.
  mlir::Value halves(mlir::Value low, mlir::Value high, bool areHigh);
  /// Of an 8 x 8 matrix of 16 bits lane l has row l / 4, columns 2 (l % 4) and the next one: of the transposed one.
  mlir::Value transposed(mlir::Value pair);

  /// What threads wrote to shared memory may be read by asynchronous operations behind the next barrier. sm_90.
  void publish();
  /// A warpgroup's 64 x `columns` sums += left * right, of which 128 bytes of each row and column are multiplied: 64
  /// elements of f16 and bf16, 128 of int8 and f8, 32 of tf32, which whoever brought them has rounded. Both are
  /// described by 64-bit words. Behind the call one product may still run: nothing else touches its sums before
  /// waitForProducts. sm_90a.
  struct Step {
    mlir::Value left, right;          // descriptors
    uint32_t leftBytes, rightBytes;   // from a quarter to the next
    bool leftIsAcross, rightIsAcross; // adjacent elements are of different rows, of different columns; 16 bits only
  };
  llvm::SmallVector<mlir::Value> multiplyGroup(const Step &step, uint32_t columns, mlir::Value keepsSums,
                                               mlir::ValueRange sums);
  /// The same with new sums: what 128 bytes of each row and column come to.
  llvm::SmallVector<mlir::Value> multiplyGroup(const Step &step, uint32_t columns);
  /// 64 x `columns` new sums = left 64 x `depth` * right `depth` x `columns`, in flight behind the call. Both lie along
  /// the reduced elements, tiles of 64 of them behind each other; of the last tile are read as many sixteens as there
  /// are some of.
  llvm::SmallVector<mlir::Value> multiplyTiles(mlir::Value left, mlir::Value right, uint32_t depth,
                                               uint32_t leftTileBytes, uint32_t rightTileBytes, uint32_t columns);
  /// A warpgroup's 64 x `columns` sums += left, from its registers, four for each 32 bytes of reduced elements, *
  /// right, those of its reduced elements `rightBytes` behind the ones before. 16 bits: the right side lies across;
  /// tf32: along the reduced elements. In flight behind the call, and so are the registers.
  llvm::SmallVector<mlir::Value> multiplyRegisters(mlir::ValueRange left, mlir::Value right, uint32_t rightBytes,
                                                   uint32_t columns, mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> waitForProducts(uint32_t pending, mlir::ValueRange sums);

private:
  mlir::Value word(mlir::Value value, mlir::Type type);
  mlir::Value ofWords(const char *text, mlir::ValueRange operands, const char *constraints, bool isOfWarp);
  bool copiesByThreads() const { return target_ < 80; }
  llvm::SmallVector<mlir::Value> multiplyDoubles(mlir::ValueRange left, mlir::ValueRange right, mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> multiplyOnce(mlir::ValueRange left, mlir::ValueRange right, mlir::ValueRange sums,
                                              llvm::ArrayRef<int64_t> shape);
  llvm::SmallVector<mlir::Value> multiplyOnTuring(mlir::ValueRange left, mlir::ValueRange right, mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> multiplyF8(mlir::ValueRange left, mlir::ValueRange right, mlir::ValueRange sums);
  std::string groupText(const Step &step, uint32_t columns, size_t registers, llvm::StringRef keepsSums);

  KernelBuilder &k_;
  mlir::Type element_, right_;
  const uint16_t target_;
};

} // namespace tenon::compiler::codegen
