// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vote, match, redux, activemask, elect: instructions that see all lanes of a warp. `mask` is the set of lanes
// that execute together; the scheduler has already waited for every lane of the member mask.
#pragma once

#include "emulator/machine/handlers.h"

namespace tenon::emulator {

enum class VoteMode : uint8_t { All, Any, Uniform, Ballot };
/// a: predicate; kThirdNegated in `flag`: negated. d: predicate, or u32 for Ballot.
Handler voteHandler(VoteMode mode);
/// match.any / match.all: a of `bytes`; d: mask; `c` (predicate, optional, all only).
Handler matchHandler(bool all, uint32_t bytes);
enum class ReduceOp : uint8_t { Add, Min, Max, And, Or, Xor };
Handler reduxHandler(ReduceOp op, bool isSigned);
Handler activeMaskHandler();
/// d: leader's lane (optional), `c`: predicate, true in the leader.
Handler electHandler();

} // namespace tenon::emulator
