// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emulated machine's moving parts, as the instruction handlers see them. One PTX instruction runs over the 32 lanes
// of a warp at once: a register is an array of 32 values (64-byte aligned) in the frame's register file, a predicate is
// one 32-bit mask, and a handler gets the mask of lanes it may change. Threads of a warp that take different ways are
// *groups* with their own program counter; the scheduler decides which group runs (scheduler.h).
//
// An operand is a 32-bit number: two bits choose the base (registers of the frame, constants of the kernel, special
// registers of the warp), thirty the byte offset. Immediates are spread over 32 lanes when the kernel is decoded, so
// that a handler never asks what an operand is.
#pragma once

#include "emulator/machine/check_options.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tenon::emulator {

inline constexpr uint32_t kLanes = 32;
inline constexpr uint32_t kAllLanes = 0xffffffffu;
inline constexpr uint32_t kNoOperand = 0xffffffffu; // a sink `_`, or not there
inline constexpr uint32_t kBaseShift = 30;
inline constexpr uint32_t kOffsetMask = (1u << kBaseShift) - 1;
inline constexpr uint32_t kRegisterBase = 0, kConstantBase = 1, kSpecialBase = 2;

// Generic addresses: global memory is the arena (memory.h); the other spaces have a window each, at addresses that no
// host mapping uses. The offset inside a window is the address in the space itself.
inline constexpr uint64_t kSharedWindow = 0x0100'0000'0000ull;
inline constexpr uint64_t kLocalWindow = 0x0200'0000'0000ull;
inline constexpr uint64_t kParamWindow = 0x0300'0000'0000ull;
inline constexpr uint64_t kWindowBytes = 1ull << 32;
inline constexpr uint64_t kFunctionBase = 0x0400'0000'0000ull; // "addresses" of functions, kFunctionStride apart
inline constexpr uint64_t kFunctionStride = 16;
inline constexpr uint32_t kSharedStart = 0x400; // shared addresses below it are the device's own
// Of those the first, which %reserved_smem_offset_... name: cooperative groups keep the barriers and the scratch of
// tiles of more than one warp there. A block finds zeros. (So it is on an H200, driver 13.0: begin, 0 and 1 are 0.)
inline constexpr uint32_t kReservedSharedBytes = 288;
inline constexpr uint32_t kLocalStart = 16; // so that address 0 is never a variable

class ShadowChecker;
struct BlockShadow;
struct Warp;
struct Decoded;
struct FunctionCode;
struct DecodedKernel;
class Memory;

using Handler = void (*)(Warp &warp, const Decoded &instruction, uint32_t mask);

/// How the scheduler treats an instruction.
enum class Kind : uint8_t {
  Alu,           // the handler cannot fail
  Checked,       // the handler may set Executor::fault
  Branch,        // to `target`
  BranchIndexed, // through a table, by register `a`
  Call,
  Return, // of a function; of the kernel it is Exit
  Exit,
  Barrier,     // bar.sync / arrive / red: BarrierKind in `flag`
  WarpSync,    // the handler runs when all lanes of the member mask `e` have arrived
  WarpSyncAny, // bar.warp.sync: arrivals at different places count together
  ClusterWait, // barrier.cluster.wait
};
enum class BarrierKind : uint8_t { Sync, Arrive, Popc, And, Or };

/// How a memory operand's address is formed.
enum class AddressMode : uint8_t { Register64, Register32, FrameLocal };

struct Decoded {
  Handler handler = nullptr;
  uint32_t d = kNoOperand, a = kNoOperand, b = kNoOperand, c = kNoOperand, e = kNoOperand;
  uint32_t predicate = kNoOperand;
  int64_t imm = 0;
  Kind kind = Kind::Alu;
  bool predicateNegated = false;
  uint8_t flag = 0;                                  // meaning by handler
  AddressMode addressMode = AddressMode::Register64; // memory operands
  uint32_t target = 0;                               // Branch: pc; Call: call site; others: by handler
  uint32_t list = 0;                                 // first of a run in FunctionCode::operands
  uint32_t instruction = 0;                          // index into ptx::Function::instructions
  uint32_t run = 0; // instructions from here on that only compute (Alu, Checked): they are executed without looking up
};

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// One activation of a function by some lanes of a warp.
struct Frame {
  const FunctionCode *code = nullptr;
  uint8_t *registers = nullptr;
  Frame *parent = nullptr;
  uint32_t localBase = 0; // this activation's variables, in the threads' local memory
  uint32_t depth = 0;
  uint32_t returnPc = 0;
  uint32_t callSite = 0; // in the parent's code
  uint32_t lanes = 0;    // still inside
};

/// Lanes that stand at one place.
struct Group {
  enum class State : uint8_t { Run, Barrier, WarpSync };
  uint32_t mask = 0;
  uint32_t pc = 0;
  Frame *frame = nullptr;
  uint32_t age = 0; // grows when the group is rotated behind the others
  State state = State::Run;
  uint8_t barrier = 0;
  uint32_t waitMask = 0; // WarpSync: the member mask
  uint32_t from = 0;     // 1 + pc of the last branch, for the check of barriers (Scheduler::kTaken); 0: none
};

struct Block;
class Grid;
struct Executor;
struct AsyncWork;

/// One cp.async that is not yet visible.
struct PendingCopy {
  uint32_t shared = 0; // destination offset
  uint32_t bytes = 0;
  uint32_t lane = 0;
  uint8_t data[16] = {};
};

struct Warp {
  uint8_t *bases[4] = {}; // by kRegisterBase, kConstantBase, kSpecialBase
  Frame *frame = nullptr; // of the group that runs
  Block *block = nullptr;
  Executor *executor = nullptr;
  uint8_t *shared = nullptr; // host address of shared address 0: a block's addresses hold its rank (cluster.h)
  uint8_t *local = nullptr;  // lane 0's local memory
  uint32_t localStride = 0;  // bytes between lanes
  uint32_t sharedBegin = 0;  // first shared address of the block
  uint32_t sharedEnd = 0;    // first shared address past the block's allocation
  uint32_t index = 0;        // in the block
  uint32_t live = 0;         // lanes that have not exited
  uint32_t clock = 0;
  uint32_t clusterArrived = 0; // lanes between barrier.cluster.arrive and .wait
  uint32_t clusterPending = 0; // of these, whose phase is not complete
  bool yields = false;         // a wait that failed: others run at the next backward branch
  std::vector<Group> groups;
  Frame entryFrame;
  // cp.async: copies of the open group, then committed groups, per lane in issue order.
  std::vector<PendingCopy> openCopies;
  std::vector<std::vector<PendingCopy>> committedCopies;
  std::shared_ptr<AsyncWork> async; // bulk copies and wgmma that are not yet done (async.h); null: never any
};

struct BarrierState {
  uint32_t arrived = 0, needed = 0, trueVotes = 0;
};

/// Lanes that left the kernel, kept until the next barrier of their block for the check of barriers.
struct Departure {
  uint32_t warp = 0, lanes = 0;
  const FunctionCode *code = nullptr;
  uint32_t pc = 0; // the last place that tells which way they went
};

struct Cluster;

struct Block {
  Dim3 id;
  uint64_t linear = 0;
  Cluster *cluster = nullptr;
  uint32_t rank = 0; // in the cluster
  uint32_t threads = 0, exited = 0;
  std::vector<Warp> warps;
  BarrierState barriers[16];
  std::vector<Departure> departures; // since the last barrier, where barriers are checked
  uint8_t *sharedMemory = nullptr;   // from offset 0; the first kSharedStart bytes are never used
  uint8_t *registerMemory = nullptr;
  uint8_t *localMemory = nullptr;
  uint64_t sharedBytes = 0, registerBytes = 0, localBytes = 0;
  bool spun = false;             // ran out of fuel in a loop
  bool yielded = false;          // a warp waits for an mbarrier
  bool finished = false;         // its memory stays until the cluster is done
  BlockShadow *shadow = nullptr; // of the checks that keep one (shadow_checker.h)
};

/// Where and why a kernel stopped. `code` is a CUresult.
struct Fault {
  int code = 0;
  std::string message;
};

/// Bytes that a launch may read only. name: what a report calls them.
struct ReadOnlyRange {
  uint64_t begin = 0, bytes = 0;
  std::string name;
  uint64_t end() const { return begin + bytes; }
};

/// How a launch is ended from outside (machine/run_control.h).
struct RunControl;

struct Launch {
  const DecodedKernel *kernel = nullptr;
  Dim3 grid, block, cluster;
  uint32_t dynamicShared = 0;
  const uint8_t *parameters = nullptr;
  uint32_t parameterBytes = 0;
  CheckOptions checks;
  std::vector<ReadOnlyRange> readOnly;
  uint64_t gridWorkspace = 0;    // device address for cooperative groups' grid barrier (%envreg1/2); 0: not cooperative
  RunControl *control = nullptr; // null: it runs until it is done
};

/// Addresses [low, high) known to be accessible to one instruction.
struct CheckedRange {
  int64_t low = 0, high = 0;
};

/// What the handlers of one running launch share.
struct Executor {
  const Launch *launch = nullptr;
  Memory *memory = nullptr;
  ShadowChecker *checker = nullptr; // null: no shadow memory
  uint64_t hostBias = 0;            // host address = device address + hostBias (mod 2^64)
  std::vector<CheckedRange> ranges; // by Decoded::target of memory instructions
  std::vector<uint8_t> constants;
  uint64_t instructions = 0;         // executed warp instructions: the virtual clock
  uint64_t threadInstructions = 0;   // the same times the lanes of the group, predicated off or not
  Grid *shared = nullptr;            // other executors run blocks of the same launch now; null: this is the only one
  const Decoded *runBegin = nullptr; // the run that is executed is counted when it ends
  uint64_t slept = 0;                // virtual nanoseconds spent in nanosleep
  Fault fault;
  bool failed() const { return fault.code != 0; }
};

} // namespace tenon::emulator
