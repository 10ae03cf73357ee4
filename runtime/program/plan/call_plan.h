// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a call of a function will do, for inputs of given shapes and scalars: everything but addresses. Made once by the
// first such call; later calls only bind buffers to it (call_instance.h).
//
//   registers   computed, then forgotten: grids, constants, ranges and shapes are plain numbers here
//   checks      of the function, of every range and grid: a plan that exists needs no further looking
//   memory      transients lie in one arena, where those that are never alive together share bytes, as the file says; a
//               transient that is a result is memory of its own
//   commands    those that do something, with the edges that their memory asks for (command_order.h)
#pragma once

#include "abi/format/program_generated.h"
#include "runtime/commands/command_order.h"
#include "runtime/device/stream_commands.h"
#include "runtime/executable/executable.h"
#include "runtime/program/plan/call_inputs.h"

#include <array>
#include <memory>
#include <string>

namespace tenon::runtime {

/// Bytes of a buffer of the function.
struct PlannedRange {
  uint32_t buffer = 0;
  uint64_t offset = 0, bytes = 0;
};

/// A command of the function, with everything computed but addresses.
struct PlannedCommand {
  enum class Kind : uint8_t { Dispatch, Copy, Fill };
  Kind kind = Kind::Dispatch;
  const abi::fb::Function *function = nullptr; // that has it, or the block; null: the runtime's own copy of a result
  uint32_t index = 0;                          // in there
  const LoadedExport *kernel = nullptr;
  std::array<uint32_t, 3> grid = {};
  std::vector<PlannedRange> ranges; // bindings; source and target; target
  std::vector<uint64_t> constants;
  uint32_t pattern = 0, patternBytes = 0;
};

struct CallPlan {
  enum class Place : uint8_t { Input, Constant, Arena, Result };
  struct Buffer {
    Place place = Place::Input;
    uint32_t index = 0; // of the input, constant, or among `resultBuffers`
    uint64_t bytes = 0;
    uint64_t offset = 0; // in the arena
  };
  struct Result {
    bool isScalar = false;
    Scalar scalar; // not of one that a block reads back
    abi::ElementType element = abi::ElementType::F32;
    Shape shape;
    uint32_t buffer = 0;
    uint64_t bytes = 0;
  };
  /// What the host compares once the call has ended: indices into `results`, behind those of the function.
  struct Expectation {
    const abi::fb::Expectation *source = nullptr;
    uint32_t found = 0, wanted = 0; // the same where nothing is compared with
  };

  CallKey key;
  const abi::fb::Function *function = nullptr;
  std::vector<Buffer> buffers;          // of the function
  std::vector<uint32_t> resultBuffers;  // indices into `buffers`: new memory of each call
  std::vector<PlannedCommand> commands; // without empty grids and ranges
  std::vector<OrderedNode> order;       // [commands]
  std::vector<Result> results;          // of the function, then what its expectations compare
  size_t returned = 0;                  // results of the function
  std::vector<Expectation> expectations;
  uint64_t arenaBytes = 0;
  uint64_t launches = 0; // dispatches among `commands`

  /// "f.mlir:5:7: function 'f', command 0 (Dispatch of 'add', variant 'sm_80')".
  std::string describeCommand(const PlannedCommand &command) const;
  /// A fault of the device, with the dispatches that may have caused it.
  Status describeFault(Status status) const;
};

/// Places the transients of a plan by the commands that use them, for a file that does not. OutOfRange: they pass 2^62
/// bytes.
Status packTransients(CallPlan &plan);
/// Gives the commands of a plan the edges that their memory asks for.
void orderCommands(CallPlan &plan);

/// The constants of a dispatch, of other registers than those that the plan was made with.
/// @return whether they are others than before
bool takeConstants(const PlannedCommand &command, std::span<const int64_t> registers, std::vector<uint64_t> &constants);

/// InvalidArgument: the first check of the function that does not hold.
/// @param registers [registers of the function] values
/// @param takesArguments its inputs are what the caller gave; a block that is not the first takes values of others
Status evaluateChecks(const abi::fb::Function &function, std::span<const int64_t> registers,
                      bool takesArguments = true);

/// [inputs] true: a scalar that decides neither sizes nor grids nor patterns. A counter of a loop mostly is one: the
/// plan of the first round serves every other, with other constants (CallInstance::Options::registers).
CallKey::IgnoredScalars planIndependentScalars(const abi::fb::Function &block);

} // namespace tenon::runtime
