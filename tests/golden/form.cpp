// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/golden/form.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

namespace tenon::golden {
namespace {

struct TypeInfo {
  unsigned bits; // of the register; 1: predicate
  unsigned bytes;
};
const std::map<std::string, TypeInfo> kTypes = {
    {"pred", {1, 1}},   {"u8", {16, 1}},    {"s8", {16, 1}},     {"b8", {16, 1}},     {"u16", {16, 2}},
    {"s16", {16, 2}},   {"b16", {16, 2}},   {"f16", {16, 2}},    {"bf16", {16, 2}},   {"u32", {32, 4}},
    {"s32", {32, 4}},   {"b32", {32, 4}},   {"f32", {32, 4}},    {"f16x2", {32, 4}},  {"bf16x2", {32, 4}},
    {"u64", {64, 8}},   {"s64", {64, 8}},   {"b64", {64, 8}},    {"f64", {64, 8}},    {"tf32", {32, 4}},
    {"u16x2", {32, 4}}, {"s16x2", {32, 4}}, {"e4m3x2", {16, 2}}, {"e5m2x2", {16, 2}}, {"s8x4", {32, 4}},
    {"u8x4", {32, 4}}};

std::string trim(const std::string &text) {
  size_t from = text.find_first_not_of(" \t"), to = text.find_last_not_of(" \t");
  return from == std::string::npos ? "" : text.substr(from, to - from + 1);
}

std::vector<std::string> words(const std::string &text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;)
    out.push_back(word);
  return out;
}

/// At bars with a space before them: PTX has bars without one (%d0|%d1).
std::vector<std::string> fieldsOf(const std::string &text) {
  std::vector<std::string> out;
  size_t from = 0;
  for (size_t at; (at = text.find(" |", from)) != std::string::npos; from = at + 2)
    out.push_back(trim(text.substr(from, at - from)));
  out.push_back(trim(text.substr(from)));
  return out;
}

/// "f16x2*4 u32": four of the first, one of the second.
bool typesOf(const std::string &text, std::vector<std::string> &types) {
  for (const std::string &word : words(text)) {
    size_t star = word.find('*');
    std::string type = word.substr(0, star);
    if (!kTypes.count(type))
      return false;
    int times = star == std::string::npos ? 1 : atoi(word.c_str() + star + 1);
    types.insert(types.end(), static_cast<size_t>(std::max(times, 0)), type);
  }
  return true;
}

bool parseOption(const std::string &option, Form &form) {
  size_t equals = option.find('=');
  std::string key = option.substr(0, equals), value = equals == std::string::npos ? "" : option.substr(equals + 1);
  // 2^-20.5 as well as 0.001
  auto number = [&] {
    double power = value.rfind("2^", 0) == 0 ? atof(value.c_str() + 2) : 0;
    return value.rfind("2^", 0) == 0 ? __builtin_exp2(power) : atof(value.c_str());
  };
  if (key == "nan")
    form.tolerance.anyNan = true;
  else if (key == "ulp")
    form.tolerance.ulp = number();
  else if (key == "abs")
    form.tolerance.absolute = number();
  else if (key == "rel")
    form.tolerance.relative = number();
  else if (key == "values")
    form.values = value;
  else if (key == "arch")
    form.architecture = value;
  else if (key == "version")
    form.version = value;
  else if (key == "load")
    form.mayBeRefused = true;
  else
    return false;
  return true;
}

/// The instruction with its operands in order: "add.s32 %d0, %a0, %a1;".
std::string plainBody(const Form &form) {
  std::string text = form.instruction(), separator = " ";
  for (size_t k = 0; k < form.results.size(); ++k, separator = ", ")
    text += separator + "%d" + std::to_string(k);
  for (size_t k = 0; k < form.operands.size(); ++k, separator = ", ")
    text += separator + "%a" + std::to_string(k);
  return text + ";";
}

void replaceAll(std::string &text, const std::string &what, const std::string &with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

/// One line without its loops.
void parseForm(const std::string &text, int line, std::vector<Form> &forms, std::vector<std::string> &errors) {
  auto error = [&](const std::string &what) { errors.push_back("line " + std::to_string(line) + ": " + what); };
  std::vector<std::string> fields = fieldsOf(text);
  if (fields.size() < 2 || fields.size() > 4)
    return error("a form is 'NAME | RESULTS <- OPERANDS | OPTIONS | BODY'");
  Form form;
  form.name = fields[0];
  form.line = line;
  form.architecture = "sm_90";
  form.version = "8.4";
  size_t arrow = fields[1].find("<-");
  if (arrow == std::string::npos || !typesOf(fields[1].substr(0, arrow), form.results) ||
      !typesOf(fields[1].substr(arrow + 2), form.operands) || form.results.empty())
    return error("'" + fields[1] + "' is not 'TYPES <- TYPES'");
  if (fields.size() > 2)
    for (const std::string &option : words(fields[2]))
      if (!parseOption(option, form))
        return error("unknown option '" + option + "'");
  form.body = fields.size() > 3 && !fields[3].empty() ? fields[3] : plainBody(form);
  for (const Form &other : forms)
    if (other.name == form.name)
      return error("'" + form.name + "' is also on line " + std::to_string(other.line));
  forms.push_back(std::move(form));
}

/// Expands "for X in a b: REST" from the outside in.
void expand(const std::string &text, int line, std::vector<Form> &forms, std::vector<std::string> &errors) {
  if (text.rfind("for ", 0) != 0)
    return parseForm(text, line, forms, errors);
  size_t colon = text.find(": ");
  std::vector<std::string> loop = words(text.substr(0, colon));
  if (colon == std::string::npos || loop.size() < 4 || loop[2] != "in") {
    errors.push_back("line " + std::to_string(line) + ": a loop is 'for X in VALUES: ...'");
    return;
  }
  for (size_t k = 3; k < loop.size(); ++k) {
    std::string body = trim(text.substr(colon + 2));
    replaceAll(body, "$" + loop[1], loop[k] == "-" ? "" : loop[k]);
    expand(body, line, forms, errors);
  }
}

std::string load(const std::string &type, const std::string &name, size_t offset) {
  TypeInfo info = kTypes.at(type);
  std::string address = "[%in+" + std::to_string(8 * offset) + "]";
  if (info.bits == 1)
    return "  ld.global.u32 %t0, " + address + ";\n  and.b32 %t0, %t0, 1;\n  setp.ne.u32 " + name + ", %t0, 0;\n";
  return "  ld.global.b" + std::to_string(info.bits) + " " + name + ", " + address + ";\n";
}

std::string store(const std::string &type, const std::string &name, size_t offset) {
  TypeInfo info = kTypes.at(type);
  std::string address = "[%out+" + std::to_string(8 * offset) + "]";
  if (info.bits == 1)
    return "  selp.u32 %t0, 1, 0, " + name + ";\n  st.global.u32 " + address + ", %t0;\n";
  return "  st.global.b" + std::to_string(info.bits) + " " + address + ", " + name + ";\n";
}

} // namespace

unsigned resultBytes(const std::string &type) {
  auto found = kTypes.find(type);
  return found == kTypes.end() ? 0 : found->second.bytes;
}

std::vector<Form> parseForms(const std::string &text, std::vector<std::string> &errors) {
  std::vector<Form> forms;
  std::istringstream in(text);
  int line = 0;
  for (std::string row; std::getline(in, row);) {
    ++line;
    int first = line;
    while (!row.empty() && row.back() == '\\') { // goes on on the next line
      row.pop_back();
      std::string more;
      if (!std::getline(in, more))
        break;
      ++line;
      row += more;
    }
    row = trim(row);
    if (!row.empty() && row[0] != '#')
      expand(row, first, forms, errors);
  }
  return forms;
}

std::string kernelOf(const Form &form) {
  auto declare = [](const std::string &type, const std::string &name) {
    unsigned bits = kTypes.at(type).bits;
    return "  .reg ." + (bits == 1 ? std::string("pred") : "b" + std::to_string(bits)) + " " + name + ";\n";
  };
  std::string registers, loads, stores;
  for (size_t k = 0; k < form.operands.size(); ++k) {
    registers += declare(form.operands[k], "%a" + std::to_string(k));
    loads += load(form.operands[k], "%a" + std::to_string(k), k);
  }
  for (size_t k = 0; k < form.results.size(); ++k) {
    registers += declare(form.results[k], "%d" + std::to_string(k));
    stores += store(form.results[k], "%d" + std::to_string(k), k);
  }
  std::string inBytes = std::to_string(8 * form.operands.size()), outBytes = std::to_string(8 * form.results.size());
  return ".version " + form.version + "\n.target " + form.architecture + R"(
.address_size 64
.visible .entry k(.param .u64 inputs, .param .u64 outputs, .param .u64 scratch, .param .u32 count)
{
  .shared .align 128 .b8 memory[8192];
  .reg .b64 %in, %out, %sg, %p_global, %l<8>;
  .reg .b32 %ss, %p_shared, %lane, %thread, %index, %t<16>;
  .reg .b16 %h<8>;
  .reg .pred %q<8>;
)" + registers +
         R"(
  mov.u32 %lane, %laneid;
  mov.u32 %thread, %tid.x;
  mov.u32 %t0, %ctaid.x;
  shl.b32 %t0, %t0, 7;
  add.u32 %index, %t0, %thread;
  ld.param.u64 %out, [outputs];
  mul.wide.u32 %l0, %index, )" +
         outBytes + R"(;
  add.u64 %out, %out, %l0;
  ld.param.u64 %sg, [scratch];
  mul.wide.u32 %l0, %index, 64;
  add.u64 %sg, %sg, %l0;
  mov.u32 %ss, memory;
  shl.b32 %t0, %thread, 6;
  add.u32 %ss, %ss, %t0;
  mov.b64 %p_global, %sg;
  mov.b32 %p_shared, %ss;
  ld.param.u32 %t1, [count];
  rem.u32 %t0, %index, %t1;
  ld.param.u64 %in, [inputs];
  mul.wide.u32 %l0, %t0, )" +
         inBytes + R"(;
  add.u64 %in, %in, %l0;
)" + loads +
         "\n  " + form.body + "\n\n" + stores + "  ret;\n}\n";
}

} // namespace tenon::golden
