// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The forms that sequences are made of: those of tests/golden/forms.txt and of more_forms.txt whose result is the same
// wherever they stand.
#pragma once

#include "tests/golden/form.h"

#include <string>
#include <vector>

namespace tenon::sequences {

struct FormEntry {
  const golden::Form *form = nullptr;
  bool isUnread = false;      // its results are stored, and nobody else reads them: they are approximate, or ptxas is
                              // known to misunderstand them
  bool givesLoose = false;    // its NaN may be any
  bool takesLoose = false;    // it asks of a number only whether it is a NaN
  bool ofWarp = false;        // all lanes execute it together
  bool needsAllLanes = false; // and nothing before it parted them
  bool isSingle = false;      // one instruction, of PTX and of ptxas: what it is made of may have one guard
  bool isExtended = false;    // gives 32 bits of fewer
  bool readsBits = false;     // no registers of floating-point types for it
};

/// The forms of one opcode.
struct OpcodeForms {
  std::string opcode;
  std::vector<FormEntry> forms;
};

std::string opcodeOf(const golden::Form &form);

/// Of all forms, in their order. What is left out: forms that a driver may refuse, products of matrices, division by
/// what may be zero, and products that may become part of a fused sum (PTX lets `mul.f32` and `add.f32` be one fma).
std::vector<OpcodeForms> tableOf(const std::vector<golden::Form> &forms);

} // namespace tenon::sequences
