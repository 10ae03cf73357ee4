// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async.bulk, cp.reduce.async.bulk, their tensor forms, st.async and red.async: from operands to plans (async.h).
// Every active thread makes its own copy. Operands are a run at `list`; addresses are generic, in 64-bit registers.
#pragma once

#include "emulator/async/async.h"
#include "emulator/machine/handlers.h"

namespace tenon::emulator {

/// list: destination, source, bytes, mbarrier (kNoOperand: a bulk group), blocks of a multicast (or kNoOperand).
/// imm: packReduction.
Handler bulkCopyHandler();
/// list: tensor map, shared address, mbarrier or kNoOperand, blocks of a multicast or kNoOperand, coordinates. flag:
/// how many. imm: packReduction; a load exactly when there is an mbarrier.
Handler tensorCopyHandler();
int64_t packReduction(ElementOp op, ElementType type);

/// `imm` groups may stay pending; flag: only their sources have to be read.
Handler commitBulkHandler();
Handler waitBulkHandler();
/// list: address, mbarrier, values. flag: how many, of `imm` = packReduction's type.
Handler storeAsyncHandler();

/// tensormap.replace: `a` generic address of the map, `b` the new value (8 bytes), flag: TensorField, imm: the ordinal.
enum class TensorField : uint8_t { Address, Rank, Box, Size, Stride, Step, Type, Interleave, Swizzle, Fill };
Handler replaceFieldHandler();
/// tensormap.cp_fenceproxy: 128 bytes from `b` to `a`, both generic.
Handler copyMapHandler();
/// discard.L2: 128 bytes at `a` become indeterminate.
Handler discardHandler();

} // namespace tenon::emulator
