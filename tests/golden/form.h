// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One instruction form of the golden vectors: what it computes from what, and the kernel that runs it. The table of
// forms is text (forms.txt); its grammar is described there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::golden {

/// How a result may differ from the recorded one: by one of the bounds that are not 0.
struct Tolerance {
  bool anyNan = false; // any NaN for any NaN
  double ulp = 0, absolute = 0, relative = 0;
  bool isApproximate() const { return ulp != 0 || absolute != 0 || relative != 0; }
};

struct Form {
  std::string name;                  // unique; its first word is the instruction form
  std::vector<std::string> results;  // PTX types without the dot, "pred" and "f16x2" among them
  std::vector<std::string> operands; // likewise
  std::string body;                  // statements between the loads of %a0.. and the stores of %d0..
  Tolerance tolerance;
  std::string values;        // a set of values other than the edges: see values.h
  std::string architecture;  // sm_90 unless said
  std::string version;       // of PTX: 8.4 unless said
  bool mayBeRefused = false; // the driver's refusal is an answer too
  int line = 0;              // in forms.txt

  std::string instruction() const { return name.substr(0, name.find(' ')); }
};

/// Bytes of a value of that type in the recorded file: 1, 2, 4 or 8; 0: no such type.
unsigned resultBytes(const std::string &type);

/// Reads the table. Errors are appended as "line N: what".
std::vector<Form> parseForms(const std::string &text, std::vector<std::string> &errors);

/// A module with one entry `k(inputs, outputs, scratch, count)`: thread t takes tuple t modulo `count`, eight bytes to
/// an operand, and writes eight bytes to a result. Blocks of 128 threads; 64 bytes of scratch and of shared memory
/// each.
std::string kernelOf(const Form &form);

} // namespace tenon::golden
