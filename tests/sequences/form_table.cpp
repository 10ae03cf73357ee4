// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/sequences/form_table.h"

#include "tests/sequences/sequence.h"

#include <algorithm>
#include <set>

namespace tenon::sequences {
namespace {

using golden::Form;

bool contains(const std::string &text, const std::string &what) {
  return text.find(what) != std::string::npos;
}

bool isFloating(const std::string &type) {
  return type[0] == 'f' || type.rfind("bf", 0) == 0;
}

bool isLeftOut(const Form &form, const std::string &opcode) {
  if (form.mayBeRefused || form.architecture != "sm_90" || form.version != "8.4")
    return true;
  if (contains(form.body, "mma.") || contains(form.body, "matrix"))
    return true;
  const std::string plain = form.instruction();
  const bool isPlain = plain == form.name;
  if ((opcode == "div" || opcode == "rem") && isPlain && !isFloating(form.operands[0]))
    return true;
  if (opcode == "mul" && isFloating(form.results[0]))
    return !contains(plain, ".rn") && !contains(plain, ".rz") && !contains(plain, ".rm") && !contains(plain, ".rp");
  return false;
}

/// What README.md lists among the errors of ptxas is kept out, so that what is new is seen.
FormEntry entryOf(const Form &form, const std::string &opcode) {
  static const std::set<std::string> warp = {"shfl", "vote", "match", "redux", "activemask", "elect", "bar"};
  static const std::set<std::string> arithmetic = {"add", "sub", "mul",  "fma",  "div",   "rcp",
                                                   "min", "max", "sqrt", "setp", "testp", "cvt"};
  const bool isPlain = form.instruction() == form.name, isFloat = isFloating(form.results[0]);
  const bool takesFloats = !form.operands.empty() && isFloating(form.operands[0]);
  FormEntry entry;
  entry.form = &form;
  const bool isVideo = opcode[0] == 'v' && opcode != "vote";
  entry.isUnread = form.tolerance.isApproximate() || (contains(form.body, "abs.s") && !isFloat) ||
                   (opcode == "set" && isFloat && form.results[0] != "f32") || isVideo ||
                   (opcode == "cvt" && contains(form.name, ".sat.") && !isFloat);
  // PTX leaves the NaN of abs and neg open; that of conversions, and of the smaller of one number and itself, is one
  // thing on the device and another in ptxas.
  static const std::set<std::string> loose = {"abs", "neg", "min", "max", "setp", "atom"};
  entry.givesLoose = form.tolerance.anyNan || (isFloat && (loose.count(opcode) || (opcode == "cvt" && takesFloats)));
  entry.takesLoose = isPlain && arithmetic.count(opcode) && !contains(form.name, "xorsign") &&
                     std::all_of(form.operands.begin(), form.operands.end(), isFloating);
  entry.ofWarp = warp.count(opcode) != 0;
  entry.needsAllLanes = opcode == "activemask" || opcode == "elect";
  entry.isSingle = std::count(form.body.begin(), form.body.end(), ';') == 1 && opcode != "testp" && opcode != "set" &&
                   !(isVideo && contains(form.name, ".add"));
  entry.isExtended = opcode == "ld" || (opcode == "cvt" && bitsOf(form.results[0]) == 32 && !takesFloats &&
                                        !form.operands.empty() && bitsOf(form.operands[0]) == 16);
  entry.readsBits = opcode == "st" || isVideo || contains(form.body, "st.") ||
                    ((opcode == "shl" || opcode == "shr") && !form.operands.empty() && bitsOf(form.operands[0]) == 64);
  return entry;
}

} // namespace

std::string opcodeOf(const Form &form) {
  return form.name.substr(0, form.name.find_first_of(". "));
}

std::vector<OpcodeForms> tableOf(const std::vector<Form> &forms) {
  std::vector<OpcodeForms> table;
  for (const Form &form : forms) {
    const std::string opcode = opcodeOf(form);
    if (isLeftOut(form, opcode))
      continue;
    auto found = std::find_if(table.begin(), table.end(), [&](const OpcodeForms &row) { return row.opcode == opcode; });
    if (found == table.end())
      found = table.insert(table.end(), {opcode, {}});
    found->forms.push_back(entryOf(form, opcode));
  }
  return table;
}

} // namespace tenon::sequences
