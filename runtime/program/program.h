// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program on a device: functions that take and return values. This is the first file to read: Program::callInto is
// the road of a call from inputs to outputs.
//
// A function is data (abi/format/schemas/program.fbs): a register program for shapes and scalars, checks, buffers,
// commands and results. Nothing is compiled here. The first call with given shapes, and with given scalars where they
// decide sizes or grids, makes a plan (plan/call_plan.h) and readies it for the stream (call_instance.h); calls like it
// then bind their buffers and launch, and allocate nothing.
//
// A function that branches, reads values back or uses globals is a list of blocks. Where shapes and scalars decide
// which of them run, a call has one plan of them all (plan/unrolled_plan.h); else each is called like a function
// (block_call.h). Globals are the state of this object: one program that is loaded twice has them twice.
//
// Calls may come from several threads, and on several streams; several programs and devices live side by side. Calls of
// functions that use globals run one at a time.
#pragma once

#include "abi/format/views/program_view.h"
#include "runtime/commands/command_observer.h"
#include "runtime/executable/executable.h"
#include "runtime/program/expectation.h"
#include "runtime/program/plan/function_plan.h"
#include "runtime/program/stream_arenas.h"
#include "runtime/values/value.h"

#include <cuda.h>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace tenon::runtime {

class CallInstance;
class Device;
class ResultMemory;
class SubmissionQueue;
struct PlannedCall; // a plan and what it has become on each stream
struct SemaphorePoint;

struct CallOptions {
  /// Waits after every command, so that a fault names the very command; slower.
  bool synchronous = false;
  /// A CUDA graph where that is faster.
  bool graph = true;
  /// A stream of the caller's, in the device's primary context: the call returns when its work is given to it, and the
  /// inputs and results must live until that is complete; faults come from the stream. A stream that is being captured
  /// takes the commands into the caller's graph, whose memory lives as long as the program. Not given: the device's own
  /// queue, and the call is complete when it returns. A function with blocks that the device decides about (it reads
  /// back what was computed, or uses globals), and one that runs very many, waits for what is on the stream, runs on
  /// the device's own and is complete when it returns; it cannot be captured.
  std::optional<CUstream> stream;
  /// Given: asked for each result that needs memory of its own, whatever buffer the caller's results had.
  ResultMemory *resultMemory = nullptr;
  /// Given: told of each command. Commands then run one after the other, each waited for, as with `synchronous`; not on
  /// a stream of the caller's.
  CommandObserver *observer = nullptr;
  /// Of a function with blocks: the most blocks that a call runs, 0: any number. A loop that never ends is the
  /// program's own; who runs programs of others sets a limit. DeadlineExceeded says where the call stood.
  uint64_t mostBlocks = 0;
  /// Donated inputs stay as they are, and the call works on copies of them; those that are updated are written all the
  /// same. On a stream of the caller's the call may then wait for it.
  bool keepsInputs = false;
  /// Given: what the function's expectations (check.*) found, and one that failed is no error. Not given: it is.
  std::vector<ExpectationOutcome> *expectations = nullptr;
};

class Program {
public:
  /// Verifies `bytes` (borrowed, 16-byte aligned, outlive the program). Constants are uploaded and kernels
  /// loaded by the first call that needs them: loading takes as long for small constants as for large ones. DataLoss:
  /// the bytes do not verify; `name` is the file for messages. `images` holds for every executable; a variant only for
  /// those that have one of that name. NotFound: none has.
  static Result<std::unique_ptr<Program>> load(std::shared_ptr<Device> device, std::span<const uint8_t> bytes,
                                               std::string_view name, const ExecutableOptions &images = {});

  Device &device() const { return *device_; }
  const abi::ProgramView &view() const { return view_; }
  const abi::fb::Function &function(uint32_t index) const { return view_.functionAt(index); }

  /// The function's index. Empty `name`: the only function there is; InvalidArgument lists them where there are
  /// several.
  Result<uint32_t> findFunction(std::string_view name) const;

  /// What call() checks first: count, element types, ranks and static extents. InvalidArgument names the first input
  /// that differs.
  Status checkInputs(uint32_t function, std::span<const Value> inputs);

  /// Runs a function.
  /// @param inputs [inputs of the function] types as declared; tensors are read, and written only where they are
  /// donated
  ///        (abi/executable_format.md): the memory of such a one is the call's, and a result may come back in it
  /// @return [results]. InvalidArgument: a donated input shares memory with another input; count, element type, rank or
  /// a static extent differs, or a check of the
  ///         function failed: nothing was launched. Else errors of registers, loading, memory and launches; the work of
  ///         a dispatch that failed on the device is named by its export and location. FailedPrecondition: an
  ///         expectation of the function (check.*) failed; its text has a line for each. A function that has any is
  ///         called on the device's own stream only, and not by submit(): the host compares once the work is complete.
  /// A function with blocks: what was stored to globals before an error stays.
  Result<std::vector<Value>> call(uint32_t function, std::span<const Value> inputs, const CallOptions &options = {});

  /// As call(), into the caller's memory: a tensor of `results` that has a buffer is written there (its shape is set),
  /// one without gets new memory. Empty `results` is all new. Results that the function returns in one buffer, or that
  /// are inputs, are what they are; constants are copied, and those of a function with blocks are memory of their own.
  /// InvalidArgument: another number of results, or a buffer that is an
  /// input's or another result's; OutOfRange: one that is too small. With every buffer given, a call whose shapes and
  /// scalars were seen before allocates nothing.
  Status callInto(uint32_t function, std::span<const Value> inputs, std::vector<Value> &results,
                  const CallOptions &options = {});

  /// As callInto(), when the waits are reached; returns at once, and the signals say when it is complete or what went
  /// wrong. Inputs and results are kept alive until then, the program is not. `results` is set when this returns, its
  /// contents are not. FailedPrecondition: a queue of another device; a function with blocks that cannot be captured.
  Status submit(SubmissionQueue &queue, std::span<const SemaphorePoint> waits, uint32_t function,
                std::span<const Value> inputs, std::vector<Value> &results, std::span<const SemaphorePoint> signals);

  /// `--explain`: for every executable and export, each image, chosen or refused and why, and what really runs.
  std::string explain();

  ~Program();

private:
  struct FunctionCalls {
    std::vector<std::shared_ptr<PlannedCall>> plans;
    CallKey::IgnoredScalars ignored = {}; // scalars that only kernels see: of each call, and none of the plan
    bool ignoresAny = false;
    bool isBlock = false;         // of a function: its results go to another block
    bool isDecidedByHost = false; // a function with blocks whose plans may be those of plan/unrolled_plan.h
    // Calls that came once, or more often: a plan of all blocks pays from the second on, unless it is too long.
    struct Seen {
      uint64_t hash;
      bool isTooLong = false;
    };
    std::vector<Seen> seen = {};

    void ignore(const abi::fb::Function &function);
  };
  struct BlockCall;
  Program(std::shared_ptr<Device> device, abi::ProgramView view);
  /// Which functions are for the device. @param variant that executables are to run, if they have it; empty: none is
  /// named
  void chooseEdition(std::string_view variant);
  bool runsEdition(const abi::ProgramView::LaunchedExports &known);
  void readFunctions(); // of that edition
  void findConstants(std::span<const uint8_t> file);
  Status uploadConstants(const CallPlan &plan); // with plansMutex_ held
  Status uploadConstant(uint32_t index);        // likewise
  Status checkFunction(uint32_t function) const;
  struct KeptInputs;
  Status callWith(uint32_t function, std::span<const Value> inputs, std::vector<Value> &results,
                  const CallOptions &options, CUstream stream, bool isCaptured);
  /// @param isCaptured the call goes into a graph of the caller's
  Status plan(uint32_t function, std::span<const Value> inputs, bool isCaptured, std::shared_ptr<PlannedCall> &planned);
  /// The plan of an earlier call like this one, or null; with plansMutex_ held.
  std::shared_ptr<PlannedCall> knownPlan(const FunctionCalls &calls, uint64_t hash, std::span<const Value> inputs);
  Status makePlan(FunctionCalls &calls, const abi::fb::Function &function, std::span<const Value> inputs,
                  bool isCaptured, std::shared_ptr<PlannedCall> &planned); // with plansMutex_ held
  Status keepPlan(FunctionCalls &calls, std::shared_ptr<const CallPlan> made, size_t most, bool isCaptured,
                  std::shared_ptr<PlannedCall> &planned); // likewise
  /// A plan of all blocks that a call runs; null: the host goes from block to block.
  /// @param onlyAgain not for the first call like this one
  Status planUnrolled(uint32_t function, std::span<const Value> inputs, bool onlyAgain, bool isCaptured,
                      std::shared_ptr<PlannedCall> &planned);
  // program_blocks.cpp
  Status callBlocks(uint32_t function, std::span<const Value> inputs, std::vector<Value> &results,
                    const CallOptions &options);
  Result<std::vector<Value>> runBlocks(const abi::fb::Function &function, std::vector<FunctionCalls> &calls,
                                       std::span<const Value> inputs, const CallOptions &options);
  Status runBlock(BlockCall &call, const CallOptions &options);
  Status planBlock(FunctionCalls &calls, const abi::fb::Function &block, std::span<const Value> inputs,
                   std::shared_ptr<PlannedCall> &planned);
  Status readyGlobals(const CallOptions &options); // with globalsMutex_ held
  Result<Value> loadGlobal(uint32_t global);
  Status storeGlobal(uint32_t global, const Value &value, std::span<const Value> given);

  Status compareExpectations(const CallPlan &plan, std::span<const Value> results,
                             std::vector<ExpectationOutcome> *outcomes);
  /// The values of registers for this call, where they are not those of the plan; else none.
  Status callRegisters(uint32_t function, std::span<const Value> inputs, std::vector<int64_t> &registers) const;
  Status issue(PlannedCall &planned, CUstream stream, bool isCaptured, std::span<const Value> inputs,
               std::span<const Value> results, std::span<const int64_t> registers, const CallOptions &options);

  std::shared_ptr<Device> device_;
  abi::ProgramView view_;
  StreamArenas arenas_;
  std::vector<std::unique_ptr<Executable>> executables_;
  std::vector<ConstantBytes> constantBytes_;                  // in the file
  std::mutex plansMutex_;                                     // guards what follows
  std::vector<std::shared_ptr<const Buffer>> constants_;      // null: no call has needed it yet
  std::vector<FunctionCalls> calls_;                          // [functions]
  std::vector<std::unique_ptr<CallInstance>> captured_;       // what callers' graphs use: it may run at any time
  std::vector<std::shared_ptr<const Buffer>> capturedCopies_; // likewise
  uint64_t clock_ = 0;                                        // counts look-ups: which plan was used last
  std::vector<std::vector<FunctionCalls>> blockCalls_;        // [functions, then the initializer][blocks]
  std::mutex globalsMutex_;                                   // guards what follows; held for a whole call that uses it
  std::vector<std::optional<Value>> globals_;                 // nothing: it was not stored yet
  bool areGlobalsReady_ = false;                              // they have their first values
};

/// Whether an executable has a variant of that name.
bool hasVariant(const abi::ExecutableView &view, std::string_view name);

} // namespace tenon::runtime
