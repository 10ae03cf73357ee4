// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function: its declarations, its instructions in order, its labels. Which family decodes an instruction is in
// families.h.
#pragma once

#include "emulator/decode/decoder.h"

namespace tenon::emulator {

class FunctionDecoder {
public:
  /// Lays out the function's own parameters and results: callers copy into them, so all functions of a kernel are
  /// constructed before one is decoded.
  FunctionDecoder(KernelBuilder &builder, const ptx::Function &function, FunctionCode &code);
  void decode();

private:
  void declare(const ptx::Variable &variable);
  FrameSlot allocateLocal(const ptx::Variable &variable);
  void decodeInstruction(uint32_t index);

  KernelBuilder &builder_;
  const ptx::Function &function_;
  FunctionCode &code_;
  Decoder decoder_;
};

} // namespace tenon::emulator
