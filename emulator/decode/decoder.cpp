// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/decode/decoder.h"

#include "emulator/decode/kernel_builder.h"
#include "emulator/handlers/data.h"

namespace tenon::emulator {
namespace {

using ptx::ScalarType;

ScalarType unsignedOf(uint32_t bytes) {
  return bytes == 1 ? ScalarType::U8 : bytes == 2 ? ScalarType::U16 : bytes == 4 ? ScalarType::U32 : ScalarType::U64;
}
ScalarType signedOf(uint32_t bytes) {
  return bytes == 1 ? ScalarType::S8 : bytes == 2 ? ScalarType::S16 : bytes == 4 ? ScalarType::S32 : ScalarType::S64;
}

} // namespace

Decoder::Decoder(KernelBuilder &builder, const ptx::Function &function, FunctionCode &code)
    : builder_(builder), function_(function), code_(code), names_(function, code) {}

const ptx::Module &Decoder::module() const {
  return builder_.module;
}

const CheckOptions &Decoder::checks() const {
  return builder_.checks;
}

SourceLocation Decoder::place() const {
  return {builder_.module.source->name(), in_ ? in_->line : function_.line, in_ ? in_->column : function_.column};
}

bool Decoder::fail(const std::string &message) {
  builder_.diagnostics.error(place(), "", message);
  return false;
}

bool Decoder::refuse(const std::string &message) {
  const std::string kernel = "kernel '" + builder_.kernel->name + "'";
  builder_.refusals.error(place(), "",
                          message + (function_.isEntry ? " (" + kernel + ")"
                                                       : " (function '" + std::string(function_.name) + "', which " +
                                                             kernel + " can call)"));
  return false;
}

bool Decoder::unsupported(const std::string &why) {
  return refuse("the emulator does not support '" + in_->form() + "'" + (why.empty() ? "" : ": " + why));
}

bool Decoder::expectOperands(size_t least, size_t most) {
  size_t count = in_->operands.size();
  if (count >= least && count <= most)
    return true;
  return fail("'" + in_->form() + "' has " + std::to_string(count) + " operands, it takes " + std::to_string(least) +
              (most == least ? "" : " to " + std::to_string(most)));
}

bool Decoder::needsTarget(uint16_t number, bool specific) {
  const abi::TargetArch &target = builder_.module.target;
  if (target.number >= number && (!specific || target.suffix != abi::ArchSuffix::None))
    return true;
  return fail("'" + in_->form() + "' needs .target sm_" + std::to_string(number) + (specific ? "a" : " or higher") +
              ", the module has " + target.toString());
}

uint32_t Decoder::constant(uint64_t value, uint32_t bytes) {
  return builder_.constant(value, bytes);
}

std::optional<uint64_t> Decoder::constantValue(uint32_t operand) const {
  return builder_.constantValue(operand);
}

uint32_t Decoder::parameter(uint32_t offset, uint32_t bytes) {
  return builder_.parameter(offset, bytes);
}

bool Decoder::bindConstant(const Form &form, const Operand &destination, uint32_t bytes, uint32_t constant) {
  return predicate_ == kNoOperand && destination.kind == Operand::Kind::Name &&
         constant >> kBaseShift != kRegisterBase && form.left().empty() &&
         names_.bind(destination.name, bytes, constant);
}

uint32_t Decoder::carryRegister() {
  if (code_.carry == kNoOperand)
    code_.carry = allocateRegister(0);
  return code_.carry;
}

uint32_t Decoder::addOperands(const std::vector<uint32_t> &operands) {
  uint32_t at = static_cast<uint32_t>(code_.operands.size());
  code_.operands.insert(code_.operands.end(), operands.begin(), operands.end());
  return at;
}

uint32_t Decoder::cacheSlot() {
  return builder_.kernel->checkedInstructions++;
}

uint32_t Decoder::addCallSite(CallSite site) {
  code_.callSites.push_back(std::move(site));
  return static_cast<uint32_t>(code_.callSites.size() - 1);
}

const FunctionCode *Decoder::codeOf(const ptx::Function *function) const {
  return builder_.codeOf(function);
}

void Decoder::emit(Decoded decoded) {
  decoded.instruction = index_;
  decoded.predicate = predicate_;
  decoded.predicateNegated = predicateNegated_;
  code_.code.push_back(decoded);
}

void Decoder::emitConversion(uint32_t to, uint32_t toBytes, uint32_t from, uint32_t fromBytes, bool isSigned) {
  Decoded decoded;
  decoded.d = to;
  decoded.a = from;
  ConvertForm form;
  form.to = isSigned ? signedOf(toBytes) : unsignedOf(toBytes);
  form.from = isSigned ? signedOf(fromBytes) : unsignedOf(fromBytes);
  decoded.handler = handlers().convert(form);
  emit(decoded);
}

bool Decoder::finish(Form &form, Decoded &decoded) {
  if (std::string_view left = form.left(); !left.empty())
    return unsupported("modifier '." + std::string(left) + "'");
  if (!decoded.handler)
    return unsupported();
  emit(decoded);
  return true;
}

void Decoder::branchTo(std::string_view label) {
  fixups_.push_back({code_.code.size(), false, names_.scope(), label, in_->line, in_->column});
}

bool Decoder::branchTable(std::string_view name, Decoded &decoded) {
  const ptx::LabelTable *found = nullptr;
  for (const ptx::LabelTable &table : function_.tables)
    if (table.name == name)
      found = &table;
  if (!found)
    return fail("'" + std::string(name) + "' is not a table of branch targets");
  decoded.list = static_cast<uint32_t>(code_.operands.size());
  decoded.imm = static_cast<int64_t>(found->entries.size());
  for (std::string_view label : found->entries) {
    fixups_.push_back({code_.operands.size(), true, names_.scope(), label, in_->line, in_->column});
    code_.operands.push_back(0);
  }
  return true;
}

bool Decoder::begin(uint32_t index) {
  index_ = index;
  in_ = &function_.instructions[index];
  predicate_ = kNoOperand;
  predicateNegated_ = in_->predicateNegated;
  after_.clear();
  if (in_->predicate.empty())
    return true;
  std::optional<FunctionNames::Register> found = findRegister(in_->predicate);
  if (!found || found->bytes != 0)
    return fail("'" + std::string(in_->predicate) + "' is not a predicate");
  predicate_ = found->offset;
  return true;
}

void Decoder::end() {
  for (const Widening &widening : after_)
    emitConversion(widening.to, widening.toBytes, widening.from, widening.fromBytes, widening.isSigned);
}

/// Falling off the end returns.
void Decoder::endFunction() {
  in_ = nullptr;
  index_ = static_cast<uint32_t>(function_.instructions.size());
  predicate_ = kNoOperand;
  Decoded last;
  last.kind = function_.isEntry ? Kind::Exit : Kind::Return;
  last.handler = nothingHandler();
  emit(last);
}

void Decoder::resolveLabels() {
  for (const Fixup &fixup : fixups_)
    if (std::optional<uint32_t> target = names_.findLabel(fixup.label, fixup.scope))
      (fixup.isTable ? code_.operands[fixup.at] : code_.code[fixup.at].target) = *target;
    else
      builder_.diagnostics.error({builder_.module.source->name(), fixup.line, fixup.column}, "",
                                 "label '" + std::string(fixup.label) + "' is not in '" + std::string(function_.name) +
                                     "'");
}

} // namespace tenon::emulator
