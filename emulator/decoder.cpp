#include "emulator/decoder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

namespace tenon::emulator {

using ptx::ScalarType;
using ptx::StateSpace;
using Operand = ptx::Operand;

namespace {

uint64_t roundUp(uint64_t value, uint64_t to) {
  return to ? (value + to - 1) / to * to : value;
}

bool isSigned(ScalarType type) {
  return type == ScalarType::S8 || type == ScalarType::S16 || type == ScalarType::S32 || type == ScalarType::S64;
}

ScalarType unsignedOf(uint32_t bytes) {
  return bytes == 1 ? ScalarType::U8 : bytes == 2 ? ScalarType::U16 : bytes == 4 ? ScalarType::U32 : ScalarType::U64;
}
ScalarType signedOf(uint32_t bytes) {
  return bytes == 1 ? ScalarType::S8 : bytes == 2 ? ScalarType::S16 : bytes == 4 ? ScalarType::S32 : ScalarType::S64;
}

struct SpecialName {
  std::string_view name;
  Special special;
};
constexpr SpecialName kSpecialNames[] = {
    {"%tid.x", Special::TidX},
    {"%tid.y", Special::TidY},
    {"%tid.z", Special::TidZ},
    {"%ntid.x", Special::NtidX},
    {"%ntid.y", Special::NtidY},
    {"%ntid.z", Special::NtidZ},
    {"%ctaid.x", Special::CtaidX},
    {"%ctaid.y", Special::CtaidY},
    {"%ctaid.z", Special::CtaidZ},
    {"%nctaid.x", Special::NctaidX},
    {"%nctaid.y", Special::NctaidY},
    {"%nctaid.z", Special::NctaidZ},
    {"%laneid", Special::LaneId},
    {"%warpid", Special::WarpId},
    {"%nwarpid", Special::NwarpId},
    {"%smid", Special::SmId},
    {"%nsmid", Special::NsmId},
    {"%gridid", Special::GridId},
    {"%lanemask_eq", Special::LanemaskEq},
    {"%lanemask_le", Special::LanemaskLe},
    {"%lanemask_lt", Special::LanemaskLt},
    {"%lanemask_ge", Special::LanemaskGe},
    {"%lanemask_gt", Special::LanemaskGt},
    {"%clusterid.x", Special::ClusterIdX},
    {"%clusterid.y", Special::ClusterIdY},
    {"%clusterid.z", Special::ClusterIdZ},
    {"%nclusterid.x", Special::NclusterIdX},
    {"%nclusterid.y", Special::NclusterIdY},
    {"%nclusterid.z", Special::NclusterIdZ},
    {"%cluster_ctaid.x", Special::ClusterCtaidX},
    {"%cluster_ctaid.y", Special::ClusterCtaidY},
    {"%cluster_ctaid.z", Special::ClusterCtaidZ},
    {"%cluster_nctaid.x", Special::ClusterNctaidX},
    {"%cluster_nctaid.y", Special::ClusterNctaidY},
    {"%cluster_nctaid.z", Special::ClusterNctaidZ},
    {"%cluster_ctarank", Special::ClusterCtarank},
    {"%cluster_nctarank", Special::ClusterNctarank},
    {"%dynamic_smem_size", Special::DynamicSmemSize},
    {"%total_smem_size", Special::TotalSmemSize},
    {"%aggr_smem_size", Special::AggrSmemSize},
    {"%envreg1", Special::EnvReg1},
    {"%envreg2", Special::EnvReg2},
};

void forEachName(const Operand &operand, const std::function<void(std::string_view)> &visit) {
  if (operand.kind == Operand::Kind::Name)
    visit(operand.name);
  for (const Operand &element : operand.elements)
    forEachName(element, visit);
}

} // namespace

uint64_t functionAddress(const ptx::Module &module, std::string_view name) {
  const ptx::Function *function = module.findFunction(name);
  return function ? kFunctionBase + kFunctionStride * static_cast<uint64_t>(function - module.functions.data()) : 0;
}

// ---- ProgramBuilder

uint32_t ProgramBuilder::constant(uint64_t value, uint32_t bytes) {
  if (bytes < 8)
    value &= (uint64_t(1) << (8 * bytes)) - 1;
  auto [it, isNew] = constants_.try_emplace({value, bytes}, 0);
  if (isNew) {
    std::vector<uint8_t> &pool = program->constants;
    size_t at = roundUp(pool.size(), 64);
    pool.resize(at + kLanes * bytes);
    for (uint32_t l = 0; l < kLanes; ++l)
      memcpy(pool.data() + at + l * bytes, &value, bytes);
    it->second = kConstantBase << kBaseShift | static_cast<uint32_t>(at);
  }
  return it->second;
}

uint32_t ProgramBuilder::special(Special special) {
  auto &used = program->specials;
  auto at = std::lower_bound(used.begin(), used.end(), special);
  if (at == used.end() || *at != special)
    used.insert(at, special);
  return kSpecialBase << kBaseShift | kSpecialStride * static_cast<uint32_t>(special);
}

void ProgramBuilder::collectFunctions(const ptx::Function &entry) {
  std::set<std::string_view> seen;
  std::vector<const ptx::Function *> queue = {&entry};
  bool indirect = false;
  std::set<std::string_view> sharedUsed;
  auto consider = [&](std::string_view name) {
    if (!seen.insert(name).second)
      return;
    if (const ptx::Function *function = module.findFunction(name);
        function && !function->isDeclaration && !function->isEntry)
      queue.push_back(function);
  };
  seen.insert(entry.name);
  for (size_t k = 0; k < queue.size(); ++k) {
    for (const ptx::Instruction &instruction : queue[k]->instructions) {
      for (const Operand &operand : instruction.operands)
        forEachName(operand, consider);
      if (instruction.opcode == "call") {
        const Operand &first = instruction.operands.empty() ? Operand() : instruction.operands[0];
        const Operand &target =
            first.kind == Operand::Kind::List && instruction.operands.size() > 1 ? instruction.operands[1] : first;
        indirect |= target.kind == Operand::Kind::Name && !module.findFunction(target.name);
      }
    }
    // A call through a pointer can reach whatever has an address.
    if (indirect && k + 1 == queue.size())
      for (const ptx::Function &function : module.functions)
        if (!function.isDeclaration && !function.isEntry)
          consider(function.name);
  }
  for (const ptx::Variable &variable : module.variables)
    if (variable.space == StateSpace::Shared && seen.count(variable.name))
      sharedOffsets[variable.name] = 0;
  functions = std::move(queue);
  for (const ptx::Function *function : functions) {
    program->functions.push_back(std::make_unique<FunctionCode>());
    FunctionCode *code = program->functions.back().get();
    code->program = program.get();
    code->function = function;
    codes_[function] = code;
    program->byAddress[functionAddress(module, function->name)] = code;
  }
}

FunctionCode *ProgramBuilder::codeOf(const ptx::Function *function) {
  auto it = codes_.find(function);
  return it == codes_.end() ? nullptr : it->second;
}

/// Static variables one after the other; all `extern .shared` arrays begin together behind them.
void ProgramBuilder::layoutShared() {
  uint64_t end = kSharedStart;
  uint32_t dynamicAlignment = 16;
  auto place = [&](const ptx::Variable &variable) {
    uint64_t at = roundUp(end, variable.effectiveAlignment());
    end = at + variable.bytes();
    return static_cast<uint32_t>(std::min<uint64_t>(at, UINT32_MAX));
  };
  auto isDynamic = [](const ptx::Variable &variable) { return variable.isExtern || variable.bytes() == 0; };
  for (const ptx::Variable &variable : module.variables)
    if (sharedOffsets.count(variable.name)) {
      if (isDynamic(variable))
        dynamicAlignment = std::max(dynamicAlignment, variable.effectiveAlignment());
      else
        sharedOffsets[variable.name] = place(variable);
    }
  for (const ptx::Function *function : functions)
    for (const ptx::Variable &variable : function->declarations)
      if (variable.space == StateSpace::Shared) {
        if (isDynamic(variable))
          dynamicAlignment = std::max(dynamicAlignment, variable.effectiveAlignment());
        else
          sharedInFunctions[{function, &variable}] = place(variable);
      }
  program->staticShared = static_cast<uint32_t>(std::min<uint64_t>(end - kSharedStart, UINT32_MAX / 2));
  program->dynamicSharedStart = static_cast<uint32_t>(roundUp(kSharedStart + program->staticShared, dynamicAlignment));
  for (const ptx::Variable &variable : module.variables)
    if (sharedOffsets.count(variable.name) && isDynamic(variable)) {
      sharedOffsets[variable.name] = program->dynamicSharedStart;
      program->usesDynamicShared = true;
    }
  for (const ptx::Function *function : functions)
    for (const ptx::Variable &variable : function->declarations)
      if (variable.space == StateSpace::Shared && isDynamic(variable)) {
        sharedInFunctions[{function, &variable}] = program->dynamicSharedStart;
        program->usesDynamicShared = true;
      }
}

void ProgramBuilder::layoutParameters(const ptx::Function &entry) {
  uint32_t end = 0;
  for (const ptx::Variable &parameter : entry.parameters) {
    ParameterSlot slot;
    slot.alignment = std::max(1u, parameter.effectiveAlignment());
    slot.bytes = static_cast<uint32_t>(parameter.bytes());
    slot.offset = static_cast<uint32_t>(roundUp(end, slot.alignment));
    end = slot.offset + slot.bytes;
    program->parameters.push_back(slot);
    kernelParameters[parameter.name] = slot;
  }
  program->parameterBytes = end;
}

/// The deepest chain of frames; a program that recurses or calls through pointers gets room by the stack limit.
void ProgramBuilder::computeLocalBytes(uint32_t stackLimit) {
  std::map<const FunctionCode *, uint32_t> depth; // bytes below and including; being computed: UINT32_MAX
  bool open = false;
  std::function<uint32_t(const FunctionCode *)> visit = [&](const FunctionCode *code) -> uint32_t {
    auto [it, isNew] = depth.try_emplace(code, UINT32_MAX);
    if (!isNew) {
      if (it->second == UINT32_MAX) {
        open = true;
        return 0;
      }
      return it->second;
    }
    uint32_t below = 0;
    for (const CallSite &site : code->callSites) {
      if (site.pointer != kNoOperand)
        open = true;
      if (site.callee)
        below = std::max(below, visit(site.callee) + 16);
    }
    return depth[code] = code->localBytes + below;
  };
  program->frameLocalBytes = program->functions[0]->localBytes;
  program->localBytesPerThread = visit(program->functions[0].get());
  program->isRecursive = open;
  if (open) {
    for (const auto &code : program->functions)
      program->localBytesPerThread = std::max(program->localBytesPerThread, visit(code.get()));
    program->localBytesPerThread += std::max(stackLimit * 16, 65536u);
  }
}

// ---- Form

bool Form::take(std::string_view modifier) {
  for (size_t k = 0; k < instruction_.modifiers.size() && k < 64; ++k)
    if (!(taken_ >> k & 1) && instruction_.modifiers[k] == modifier) {
      taken_ |= uint64_t(1) << k;
      return true;
    }
  return false;
}

int Form::takeOneOf(std::initializer_list<std::string_view> choices) {
  int index = 0;
  for (std::string_view choice : choices) {
    if (take(choice))
      return index;
    ++index;
  }
  return -1;
}

ScalarType Form::takeType() {
  for (size_t k = 0; k < instruction_.modifiers.size() && k < 64; ++k)
    if (!(taken_ >> k & 1))
      if (ScalarType type = ptx::parseScalarType(instruction_.modifiers[k]); type != ScalarType::None) {
        taken_ |= uint64_t(1) << k;
        return type;
      }
  return ScalarType::None;
}

Rounding Form::takeRounding() {
  switch (takeOneOf({"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"})) {
  case 0:
    return Rounding::Rn;
  case 1:
    return Rounding::Rz;
  case 2:
    return Rounding::Rm;
  case 3:
    return Rounding::Rp;
  case 4:
    return Rounding::Rna;
  case 5:
    return Rounding::Rni;
  case 6:
    return Rounding::Rzi;
  case 7:
    return Rounding::Rmi;
  case 8:
    return Rounding::Rpi;
  default:
    return Rounding::None;
  }
}

std::string_view Form::left() const {
  for (size_t k = 0; k < instruction_.modifiers.size(); ++k)
    if (k >= 64 || !(taken_ >> k & 1))
      return instruction_.modifiers[k];
  return {};
}

// ---- FunctionDecoder

FunctionDecoder::FunctionDecoder(ProgramBuilder &builder, const ptx::Function &function, FunctionCode &code)
    : builder_(builder), function_(function), code_(code) {
  scopes_.emplace_back();
  if (!function.isEntry) {
    for (const ptx::Variable &variable : function.parameters) {
      FrameSlot slot = allocateLocal(variable);
      code_.parameters.push_back(slot);
      scopes_[0].symbols[variable.name] = {slot, false};
    }
    for (const ptx::Variable &variable : function.returns) {
      FrameSlot slot = allocateLocal(variable);
      code_.results.push_back(slot);
      scopes_[0].symbols[variable.name] = {slot, false};
    }
  }
  for (const ptx::LabelTable &table : function.tables)
    tables_[table.name] = &table;
}

bool FunctionDecoder::fail(const std::string &message) {
  const SourceFile &source = *builder_.module.source;
  SourceLocation where{source.name(), in_ ? in_->line : function_.line, in_ ? in_->column : function_.column};
  builder_.diagnostics.error(where, "", message);
  return false;
}

bool FunctionDecoder::unsupported(const std::string &why) {
  return fail("the emulator does not support '" + in_->form() + "'" + (why.empty() ? "" : ": " + why));
}

FrameSlot FunctionDecoder::allocateLocal(const ptx::Variable &variable) {
  FrameSlot slot;
  slot.bytes = static_cast<uint32_t>(variable.bytes());
  // Frames begin at multiples of 16; what wants more is rare and refused.
  if (variable.effectiveAlignment() > 16)
    fail("local variable '" + std::string(variable.name) + "' has alignment " +
         std::to_string(variable.effectiveAlignment()) + ", the emulator supports 16");
  slot.offset = static_cast<uint32_t>(roundUp(code_.localBytes, std::max(1u, variable.effectiveAlignment())));
  code_.localBytes = slot.offset + slot.bytes;
  return slot;
}

uint32_t FunctionDecoder::allocateRegister(uint32_t bytes) {
  uint32_t size = bytes == 0 ? 4 : bytes * kLanes;
  uint32_t at = static_cast<uint32_t>(roundUp(code_.registerBytes, bytes == 0 ? 4 : 64));
  code_.registerBytes = at + size;
  return at;
}

void FunctionDecoder::declare(const ptx::Variable &variable) {
  Scope &scope = scopes_[scope_];
  if (variable.space == StateSpace::Reg) {
    uint32_t bytes = variable.type == ScalarType::Pred ? 0 : ptx::byteSize(variable.type);
    Declared declared{variable.type, variable.registerCount, {}};
    if (variable.vectorWidth > 1 || bytes > 8) {
      fail("the emulator does not support registers of type '" + std::string(ptx::spelling(variable.type)) + "'" +
           (variable.vectorWidth > 1 ? " in vectors" : ""));
      return;
    }
    // Registers get their place when they are first used: a debug build declares many more.
    declared.offsets.assign(std::max(1u, variable.registerCount), kNoOperand);
    scope.registers[variable.name] = std::move(declared);
    return;
  }
  if (variable.space == StateSpace::Shared) {
    uint32_t offset = builder_.sharedInFunctions[{&function_, &variable}];
    scope.symbols[variable.name] = {{offset, static_cast<uint32_t>(variable.bytes())}, true};
    return;
  }
  if (variable.space == StateSpace::Local || variable.space == StateSpace::Param) {
    scope.symbols[variable.name] = {allocateLocal(variable), false};
    return;
  }
  fail("a variable of this space cannot be declared in a function: '" + std::string(variable.name) + "'");
}

std::optional<FunctionDecoder::Register> FunctionDecoder::findRegister(std::string_view name) {
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
    --digits;
  uint64_t number = 0;
  bool numbered = digits < name.size() && name.size() - digits < 10;
  for (size_t k = digits; numbered && k < name.size(); ++k)
    number = number * 10 + static_cast<uint64_t>(name[k] - '0');
  for (uint32_t s = scope_;; s = scopes_[s].parent) {
    auto &registers = scopes_[s].registers;
    auto use = [&](Declared &declared, size_t index) {
      uint32_t bytes = declared.type == ScalarType::Pred ? 0 : ptx::byteSize(declared.type);
      if (declared.offsets[index] == kNoOperand)
        declared.offsets[index] = allocateRegister(bytes);
      return Register{declared.offsets[index], bytes};
    };
    if (auto it = registers.find(name); it != registers.end() && it->second.count == 0)
      return use(it->second, 0);
    if (numbered)
      if (auto it = registers.find(name.substr(0, digits)); it != registers.end() && number < it->second.count)
        return use(it->second, number);
    if (s == 0)
      return std::nullopt;
  }
}

const FunctionDecoder::Symbol *FunctionDecoder::findSymbol(std::string_view name) const {
  for (uint32_t s = scope_;; s = scopes_[s].parent) {
    auto it = scopes_[s].symbols.find(name);
    if (it != scopes_[s].symbols.end())
      return &it->second;
    if (s == 0)
      return nullptr;
  }
}

bool FunctionDecoder::expectOperands(size_t least, size_t most) {
  size_t count = in_->operands.size();
  if (count >= least && count <= most)
    return true;
  return fail("'" + in_->form() + "' has " + std::to_string(count) + " operands, it takes " + std::to_string(least) +
              (most == least ? "" : " to " + std::to_string(most)));
}

uint32_t FunctionDecoder::addOperands(const std::vector<uint32_t> &operands) {
  uint32_t at = static_cast<uint32_t>(code_.operands.size());
  code_.operands.insert(code_.operands.end(), operands.begin(), operands.end());
  return at;
}

void FunctionDecoder::emit(Decoded decoded) {
  decoded.instruction = index_;
  decoded.predicate = predicate_;
  decoded.predicateNegated = predicateNegated_;
  code_.code.push_back(decoded);
}

void FunctionDecoder::emitConversion(uint32_t to, uint32_t toBytes, uint32_t from, uint32_t fromBytes, bool isSigned) {
  Decoded decoded;
  decoded.d = to;
  decoded.a = from;
  ConvertForm form;
  form.to = isSigned ? signedOf(toBytes) : unsignedOf(toBytes);
  form.from = isSigned ? signedOf(fromBytes) : unsignedOf(fromBytes);
  decoded.handler = handlers().convert(form);
  emit(decoded);
}

bool FunctionDecoder::finish(Form &form, Decoded &decoded) {
  if (std::string_view left = form.left(); !left.empty())
    return unsupported("modifier '." + std::string(left) + "'");
  if (!decoded.handler)
    return unsupported();
  emit(decoded);
  return true;
}

bool FunctionDecoder::source(const Operand &operand, ScalarType type, uint32_t &out, bool relaxed) {
  uint32_t bytes = ptx::byteSize(type);
  bool isFloat = type == ScalarType::F32 || type == ScalarType::F64;
  if (type == ScalarType::Pred) {
    bool negated = false;
    if (!predicateSource(operand, out, negated))
      return false;
    return !negated || unsupported("a negated predicate operand");
  }
  switch (operand.kind) {
  case Operand::Kind::Integer:
    if (isFloat || type == ScalarType::F16 || type == ScalarType::BF16)
      return fail("operand '" + std::to_string(static_cast<int64_t>(operand.bits)) + "' of '" + in_->form() +
                  "' is an integer, a floating-point number is wanted");
    out = builder_.constant(operand.bits, bytes);
    return true;
  case Operand::Kind::Float32:
  case Operand::Kind::Float64: {
    uint64_t bits = operand.bits;
    bool isSingle = operand.kind == Operand::Kind::Float32;
    if (type == ScalarType::F32 && !isSingle) {
      double wide;
      memcpy(&wide, &bits, 8);
      float narrow = static_cast<float>(wide);
      uint32_t narrowBits;
      memcpy(&narrowBits, &narrow, 4);
      bits = narrowBits;
    } else if (type == ScalarType::F64 && isSingle) {
      float narrow;
      uint32_t narrowBits = static_cast<uint32_t>(bits);
      memcpy(&narrow, &narrowBits, 4);
      double wide = narrow;
      memcpy(&bits, &wide, 8);
    } else if (!isFloat && bytes != (isSingle ? 4 : 8)) {
      return fail("a floating-point operand of '" + in_->form() + "' does not fit its type");
    }
    out = builder_.constant(bits, bytes);
    return true;
  }
  case Operand::Kind::Name:
    break;
  default:
    return fail("an operand of '" + in_->form() + "' is not a register, a constant or a name");
  }
  if (operand.minus)
    return unsupported("a minus before a register");
  if (operand.negated)
    return fail("'!' before '" + std::string(operand.name) + "', which is no predicate");
  std::optional<Register> found = findRegister(operand.name);
  if (!found) {
    if (operand.name.starts_with('%'))
      return specialSource(operand.name, bytes, out);
    return symbolAddress(operand, bytes, out);
  }
  if (found->bytes == bytes) {
    out = found->offset;
    return true;
  }
  if (found->bytes < bytes || !relaxed)
    return fail("register '" + std::string(operand.name) + "' has " + std::to_string(found->bytes * 8) + " bits, '" +
                in_->form() + "' wants " + std::to_string(bytes * 8));
  out = allocateRegister(bytes);
  emitConversion(out, bytes, found->offset, found->bytes, false);
  return true;
}

bool FunctionDecoder::destination(const Operand &operand, ScalarType type, uint32_t &out, bool relaxed) {
  uint32_t bytes = ptx::byteSize(type);
  if (type == ScalarType::Pred)
    return predicateDestination(operand, out);
  if (operand.kind == Operand::Kind::Sink) {
    out = allocateRegister(bytes);
    return true;
  }
  if (operand.kind != Operand::Kind::Name)
    return fail("the destination of '" + in_->form() + "' is not a register");
  std::optional<Register> found = findRegister(operand.name);
  if (!found)
    return fail("'" + std::string(operand.name) + "', the destination of '" + in_->form() +
                "', is not a declared register");
  if (found->bytes == bytes) {
    out = found->offset;
    return true;
  }
  if (found->bytes < bytes || !relaxed)
    return fail("register '" + std::string(operand.name) + "' has " + std::to_string(found->bytes * 8) + " bits, '" +
                in_->form() + "' writes " + std::to_string(bytes * 8));
  out = allocateRegister(bytes);
  after_.push_back({found->offset, found->bytes, out, bytes, isSigned(type)});
  return true;
}

bool FunctionDecoder::predicateSource(const Operand &operand, uint32_t &out, bool &negated) {
  negated = operand.negated;
  if (operand.kind == Operand::Kind::Integer) {
    out = builder_.constant(operand.bits ? 0xffffffffu : 0, 4);
    return true;
  }
  std::optional<Register> found = operand.kind == Operand::Kind::Name ? findRegister(operand.name) : std::nullopt;
  if (!found && operand.name == "%is_explicit_cluster") { // the only special register that is a predicate
    out = builder_.special(Special::IsExplicitCluster);
    return true;
  }
  if (!found || found->bytes != 0)
    return fail("'" + std::string(operand.name) + "' in '" + in_->form() + "' is not a predicate");
  out = found->offset;
  return true;
}

bool FunctionDecoder::predicateDestination(const Operand &operand, uint32_t &out) {
  if (operand.kind == Operand::Kind::Sink) {
    out = kNoOperand;
    return true;
  }
  bool negated = false;
  if (operand.kind == Operand::Kind::Name && operand.name.starts_with("%is_explicit"))
    return fail("'" + std::string(operand.name) + "' cannot be written");
  if (operand.kind != Operand::Kind::Name || !predicateSource(operand, out, negated))
    return operand.kind == Operand::Kind::Name ? false
                                               : fail("the destination of '" + in_->form() + "' is not a predicate");
  return true;
}

bool FunctionDecoder::specialSource(std::string_view name, uint32_t bytes, uint32_t &out) {
  auto adapt = [&](uint32_t from, uint32_t fromBytes) {
    out = from;
    if (bytes != fromBytes) {
      out = allocateRegister(bytes);
      emitConversion(out, bytes, from, fromBytes, false);
    }
    return true;
  };
  for (const SpecialName &special : kSpecialNames)
    if (special.name == name)
      return adapt(builder_.special(special.special), 4);
  if (name.starts_with("%envreg"))
    return adapt(builder_.special(Special::EnvRegOther), 4);
  struct Clock {
    std::string_view name;
    uint32_t bytes, shift;
  };
  for (const Clock &clock : {Clock{"%clock", 4, 0},
                             {"%clock_hi", 4, 32},
                             {"%clock64", 8, 0},
                             {"%globaltimer", 8, 0},
                             {"%globaltimer_lo", 4, 0},
                             {"%globaltimer_hi", 4, 32}})
    if (clock.name == name) {
      Decoded decoded;
      decoded.d = allocateRegister(clock.bytes);
      decoded.imm = clock.shift;
      decoded.handler = clockHandler(clock.bytes);
      uint32_t from = decoded.d;
      emit(decoded);
      return adapt(from, clock.bytes);
    }
  return fail("the emulator does not support the register '" + std::string(name) +
              "' (not declared, not a special register it knows)");
}

/// The address of a variable or function, in its own space (generic: as a generic address).
bool FunctionDecoder::symbolAddress(const Operand &operand, uint32_t bytes, uint32_t &out, bool generic) {
  uint64_t offset = static_cast<uint64_t>(operand.offset);
  if (bytes != 8 && bytes != 4)
    return fail("the address of '" + std::string(operand.name) + "' needs 32 or 64 bits");
  if (const Symbol *symbol = findSymbol(operand.name)) {
    if (symbol->isShared) {
      out = builder_.constant(symbol->slot.offset + offset + (generic ? kSharedWindow : 0), bytes);
      return true;
    }
    Decoded decoded;
    decoded.d = out = allocateRegister(bytes);
    decoded.imm = static_cast<int64_t>(symbol->slot.offset + offset);
    decoded.flag = generic;
    decoded.handler = frameAddressHandler(bytes);
    emit(decoded);
    return true;
  }
  if (function_.isEntry)
    if (auto it = builder_.kernelParameters.find(operand.name); it != builder_.kernelParameters.end()) {
      out = builder_.constant(it->second.offset + offset + (generic ? kParamWindow : 0), bytes);
      return true;
    }
  if (auto it = builder_.sharedOffsets.find(operand.name); it != builder_.sharedOffsets.end()) {
    out = builder_.constant(it->second + offset + (generic ? kSharedWindow : 0), bytes);
    return true;
  }
  if (std::optional<uint64_t> address = builder_.variableAddress(operand.name)) {
    if (bytes != 8)
      return fail("the address of '" + std::string(operand.name) + "' needs 64 bits");
    out = builder_.constant(*address + offset, bytes);
    return true;
  }
  if (uint64_t address = functionAddress(builder_.module, operand.name)) {
    out = builder_.constant(address + offset, bytes);
    return true;
  }
  return fail("'" + std::string(operand.name) + "' in '" + in_->form() + "' is not declared");
}

bool FunctionDecoder::address(const Operand &operand, MemorySpace &space, Decoded &decoded) {
  if (operand.kind != Operand::Kind::Address || operand.elements.size() != 1)
    return fail("'" + in_->form() + "' wants an address in [ ]");
  const Operand &base = operand.elements[0];
  decoded.imm = operand.offset;
  decoded.addressMode = AddressMode::Register64;
  if (base.kind == Operand::Kind::Integer) {
    decoded.a = builder_.constant(base.bits, 8);
    return true;
  }
  if (base.kind != Operand::Kind::Name)
    return fail("the base of an address is a register, a variable or a number");
  if (std::optional<Register> found = findRegister(base.name)) {
    if (found->bytes != 8 && found->bytes != 4)
      return fail("register '" + std::string(base.name) + "' has " + std::to_string(found->bytes * 8) +
                  " bits, an address has 32 or 64");
    decoded.a = found->offset;
    decoded.addressMode = found->bytes == 8 ? AddressMode::Register64 : AddressMode::Register32;
    if (space == MemorySpace::Param && function_.isEntry) {
      decoded.imm += static_cast<int64_t>(kParamWindow);
      if (found->bytes == 4)
        return unsupported("a 32-bit address in .param");
    } else if (space == MemorySpace::Param) {
      space = MemorySpace::Local;
    }
    return true;
  }
  if (const Symbol *symbol = findSymbol(base.name); symbol && !symbol->isShared) {
    if (space == MemorySpace::Shared || space == MemorySpace::Global || space == MemorySpace::Const)
      return fail("'" + std::string(base.name) + "' is not in the space of '" + in_->form() + "'");
    decoded.imm += symbol->slot.offset;
    decoded.addressMode = AddressMode::FrameLocal;
    space = MemorySpace::Local;
    return true;
  }
  Operand name = base;
  name.offset = 0;
  if (!symbolAddress(name, 8, decoded.a, space == MemorySpace::Generic))
    return false;
  if (space == MemorySpace::Param)
    decoded.imm += static_cast<int64_t>(kParamWindow);
  return true;
}

void FunctionDecoder::resolveLabels() {
  for (const Fixup &fixup : fixups_) {
    std::optional<uint32_t> target;
    for (uint32_t s = fixup.scope;; s = scopes_[s].parent) {
      auto it = scopes_[s].labels.find(fixup.label);
      if (it != scopes_[s].labels.end())
        target = it->second;
      if (target || s == 0)
        break;
    }
    if (!target) {
      builder_.diagnostics.error({builder_.module.source->name(), fixup.line, fixup.column}, "",
                                 "label '" + std::string(fixup.label) + "' is not in '" + std::string(function_.name) +
                                     "'");
      continue;
    }
    (fixup.isTable ? code_.operands[fixup.at] : code_.code[fixup.at].target) = *target;
  }
}

void FunctionDecoder::decode() {
  uint32_t mark = 0;
  code_.marks.assign(function_.instructions.size(), 0);
  std::vector<uint32_t> open;
  // Labels of a block are seen from inside it, also before they stand: targets are resolved at the end.
  for (const ptx::Statement &statement : function_.statements) {
    using Kind = ptx::Statement::Kind;
    switch (statement.kind) {
    case Kind::Label:
      scopes_[scope_].labels[statement.name] = static_cast<uint32_t>(code_.code.size());
      break;
    case Kind::Declaration:
      declare(function_.declarations[statement.index]);
      break;
    case Kind::BlockBegin:
      open.push_back(scope_);
      scopes_.emplace_back();
      scopes_.back().parent = scope_;
      scope_ = static_cast<uint32_t>(scopes_.size() - 1);
      break;
    case Kind::BlockEnd:
      if (!open.empty()) {
        scope_ = open.back();
        open.pop_back();
      }
      break;
    case Kind::Loc:
      mark = statement.index + 1;
      break;
    case Kind::Pragma:
    case Kind::BranchTargets:
    case Kind::CallTargets:
    case Kind::CallPrototype:
      break;
    case Kind::Instruction: {
      index_ = statement.index;
      in_ = &function_.instructions[index_];
      code_.marks[index_] = mark;
      predicate_ = kNoOperand;
      predicateNegated_ = in_->predicateNegated;
      after_.clear();
      if (!in_->predicate.empty()) {
        std::optional<Register> found = findRegister(in_->predicate);
        if (!found || found->bytes != 0) {
          fail("'" + std::string(in_->predicate) + "' is not a predicate");
          break;
        }
        predicate_ = found->offset;
      }
      const Opcode *opcode = findOpcode(in_->opcode);
      if (!opcode) {
        unsupported();
        break;
      }
      if ((this->*opcode->decode)())
        for (const Widening &widening : std::vector<Widening>(after_))
          emitConversion(widening.to, widening.toBytes, widening.from, widening.fromBytes, widening.isSigned);
      break;
    }
    }
  }
  in_ = nullptr;
  // Falling off the end returns.
  index_ = static_cast<uint32_t>(function_.instructions.size());
  predicate_ = kNoOperand;
  Decoded last;
  last.kind = function_.isEntry ? Kind::Exit : Kind::Return;
  last.handler = nothingHandler();
  emit(last);
  resolveLabels();
}

std::unique_ptr<Program> decodeKernel(const ptx::Module &module, const ptx::Function &entry,
                                      const VariableAddress &variableAddress, uint32_t stackLimit,
                                      Diagnostics &diagnostics) {
  ProgramBuilder builder(module, variableAddress, diagnostics);
  Program &program = *builder.program;
  program.name = std::string(entry.name);
  program.module = &module;
  program.entry = &entry;
  builder.collectFunctions(entry);
  builder.layoutShared();
  builder.layoutParameters(entry);
  // Frames of callees first: a call site copies into them.
  std::vector<std::unique_ptr<FunctionDecoder>> decoders;
  for (const ptx::Function *function : builder.functions)
    decoders.push_back(std::make_unique<FunctionDecoder>(builder, *function, *builder.codeOf(function)));
  for (auto &decoder : decoders)
    decoder->decode();
  builder.computeLocalBytes(stackLimit);
  auto product = [](const std::array<uint32_t, 3> &extent) { return uint64_t(extent[0]) * extent[1] * extent[2]; };
  if (entry.maxThreads) // .reqntid does not show in the attribute: a device says 1024
    program.maxThreads = static_cast<uint32_t>(std::min<uint64_t>(1024, product(*entry.maxThreads)));
  program.registersPerThread = std::min(255u, std::max(8u, program.functions[0]->registerBytes / 256));
  return std::move(builder.program);
}

} // namespace tenon::emulator
