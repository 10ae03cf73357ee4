// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What most instructions that compute have in common: one destination and up to three sources of one type.
#pragma once

#include "emulator/decode/decoder.h"

namespace tenon::emulator {

/// sources: how many, 1 to 3. As the decode functions of Opcode, they emit the instruction or refuse it.
bool emitFloat(Decoder &decoder, Form &form, FloatForm floatForm, uint32_t sources);
/// All sources but the last are f16 or bf16, which f32 holds as they are: fma.rn.f32.f16 d, a, b, c. Since sm_100.
bool emitMixed(Decoder &decoder, Form &form, FloatForm floatForm, ptx::ScalarType narrow, uint32_t sources);
bool emitInteger(Decoder &decoder, Form &form, IntOp op, ptx::ScalarType type, uint32_t sources);

} // namespace tenon::emulator
