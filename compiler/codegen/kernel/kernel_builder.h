// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words in which a strategy writes a kernel: numbers, threads, loops, branches, shared memory, barriers and the
// combination of values between threads. It knows neither linalg nor a strategy. Positions and sizes are i64.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

#include <functional>

namespace tenon::compiler::codegen {

/// i1 (): whether the target has clusters. Becomes a constant when PTX is made for it (ptx/rewrites/target_queries.h).
constexpr llvm::StringLiteral kHasClusters = "tenon_has_clusters";

class ScaledNumbers;

class KernelBuilder {
public:
  KernelBuilder(mlir::OpBuilder &b, mlir::Location loc, mlir::LLVM::LLVMFuncOp function, uint32_t threads)
      : b(b), loc(loc), threads(threads), function_(function) {}

  mlir::OpBuilder &b;
  mlir::Location loc;
  uint32_t threads;                       // of a block, along x; of a team inside of asTeam
  ScaledNumbers *scaledNumbers = nullptr; // how bf16 are converted from integers, for now (scaled_numbers.h)

  /// In `body` positions and sizes are below 2^31, so that words of 32 bits compute the same: half as many
  /// instructions, or fewer. What is computed there of addresses, or of bytes, is outOfWords().
  void inWords(llvm::function_ref<void()> body);
  void outOfWords(llvm::function_ref<void()> body);
  bool isInWords() const { return isInWords_; }

  mlir::Value number(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, mlir::Value y); // unsigned
  mlir::Value rem(mlir::Value x, mlir::Value y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value less(mlir::Value x, mlir::Value y); // unsigned
  mlir::Value equal(mlir::Value x, mlir::Value y);
  mlir::Value both(mlir::Value x, mlir::Value y); // i1
  mlir::Value exclusiveOr(mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  /// What is known to be true or false when compiled.
  static std::optional<bool> known(mlir::Value condition);

  mlir::Value block(unsigned dimension = 0);  // blockIdx
  mlir::Value blocks();                       // gridDim.x
  mlir::Value thread(unsigned dimension = 0); // threadIdx; of a team inside of asTeam

  /// if (condition) body();
  void when(mlir::Value condition, llvm::function_ref<void()> body);
  /// if (condition) yes(); else no();
  void branch(mlir::Value condition, llvm::function_ref<void()> yes, llvm::function_ref<void()> no);
  /// Values of one of two branches.
  llvm::SmallVector<mlir::Value> choose(mlir::Value condition, mlir::TypeRange types,
                                        llvm::function_ref<llvm::SmallVector<mlir::Value>()> yes,
                                        llvm::function_ref<llvm::SmallVector<mlir::Value>()> no);
  /// for (i = first; i < last; i += step) carried = body(i, carried); @return what is carried out
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value first, mlir::Value last, mlir::Value step, mlir::ValueRange carried,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);

  /// All threads of the block, or of the team, arrive.
  void barrier();
  /// Some warps of the block are a team: in `body` they count as a block of `count` threads, of which this one is
  /// `number`. `barrier` (i64), 1 to 15, is one that no other team uses.
  void asTeam(mlir::Value number, uint32_t count, mlir::Value barrier, llvm::function_ref<void()> body);
  /// Registers of this thread's warpgroup from here on, a multiple of 8; all warpgroups together have no more than the
  /// block was given. sm_90a.
  void takeRegisters(uint32_t count);
  void leaveRegisters(uint32_t count);
  /// All lanes of the warp arrive; what they wrote to shared memory before, all of them see behind it.
  void syncWarp();
  /// `count` elements of shared memory. The pointer is in address space 3.
  mlir::Value shared(mlir::Type element, uint64_t count, uint32_t alignment = 16);
  /// The shared memory that the launch gives (Plan::dynamicSharedBytes), aligned to 1024 bytes.
  mlir::Value dynamicShared();
  /// Pointer to element `index` behind `base`.
  mlir::Value at(mlir::Value base, mlir::Type element, mlir::Value index);
  /// `isStreamed`: it is read once, and much like it. `isWhole`: LLVM is to leave the vector one access; nobody writes
  /// to that memory.
  mlir::Value load(mlir::Type type, mlir::Value from, uint32_t alignment, bool isStreamed = false,
                   bool isWhole = false);
  /// An integer of 16, 32 or 64 bits of global memory that nobody writes to, aligned to its size; 0 where the condition
  /// does not hold: nothing is read then, wherever `from` points.
  mlir::Value loadWhere(mlir::Value condition, mlir::IntegerType type, mlir::Value from);
  /// The same of 16 bytes, as four words.
  llvm::SmallVector<mlir::Value> loadWordsWhere(mlir::Value condition, mlir::Value from);
  void store(mlir::Value value, mlir::Value to, uint32_t alignment);

  /// Instructions of PTX that have no operation of their own; they may touch any memory. Operands are `$0` and on, and
  /// `constraints` says of each which register it takes: "r" 32 bits, "l" 64.
  void assembly(const std::string &text, llvm::ArrayRef<mlir::Value> operands, const std::string &constraints);
  /// The same integer, of which the compiler knows nothing: what is computed from it stays where it is computed.
  mlir::Value opaque(mlir::Value integer);
  /// 32 bits of a number, or of the address in shared memory that a pointer has.
  mlir::Value word(mlir::Value number);

  /// So many blocks should fit on a multiprocessor: no thread gets more registers than leave place for them.
  void wantResident(uint32_t blocks);
  /// The blocks of a row or a column of the grid run as clusters of `blocks`, on targets that have them. The grid has
  /// to be a multiple.
  void requireClusters(uint32_t blocks);
  /// Whether the target that code is made for has clusters (ptx/rewrites/target_queries.h).
  mlir::Value hasClusters();
  /// All threads of the cluster arrive; nobody goes on behind the wait before they have. What they wrote before is seen
  /// behind it.
  void arriveAtCluster();
  void waitForCluster();
  /// Both, also where lanes of a warp come from different branches.
  void meetInCluster();
  /// `shared` in the memory of another block of the cluster.
  mlir::Value ofPeer(mlir::Value shared, mlir::Value rank);

  /// The value of the lane whose number differs by `mask` (a power of two below 32). Any scalar of up to 64 bits.
  mlir::Value shuffleXor(mlir::Value value, uint32_t mask);
  /// The value of the lane `delta` before this one, or this one's own where there is none.
  mlir::Value shuffleUp(mlir::Value value, uint32_t delta);
  /// Bit i is set where the condition of lane i is true: i32.
  mlir::Value ballot(mlir::Value condition);
  /// The value of a lane (i64) of the warp.
  mlir::Value shuffleFrom(mlir::Value value, mlir::Value lane);

private:
  template <typename Op> mlir::Value compute(mlir::Value x, mlir::Value y);
  std::optional<std::pair<mlir::Value, mlir::Value>> asWords(mlir::Value x, mlir::Value y);
  mlir::Value asWord(mlir::Value number);
  enum class Shuffle : uint8_t { Xor, Up, From };
  mlir::Value shuffle(mlir::Value value, Shuffle kind, mlir::Value operand);
  mlir::Value shuffle32(mlir::Value value, Shuffle kind, mlir::Value operand);
  mlir::Value number32(int64_t value);

  mlir::LLVM::LLVMFuncOp function_;
  bool isInWords_ = false;
  unsigned arenas_ = 0;
  mlir::Value inTeam_; // number of the thread; null: no team
  mlir::Value teamBarrier_;
};

} // namespace tenon::compiler::codegen
