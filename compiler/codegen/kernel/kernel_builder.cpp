// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/kernel_builder.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

#include <utility>

using namespace mlir;

namespace tenon::compiler::codegen {

Value KernelBuilder::number(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}

void KernelBuilder::inWords(llvm::function_ref<void()> body) {
  const bool before = std::exchange(isInWords_, true);
  body();
  isInWords_ = before;
}
void KernelBuilder::outOfWords(llvm::function_ref<void()> body) {
  const bool before = std::exchange(isInWords_, false);
  body();
  isInWords_ = before;
}

/// The lower half of a position; null of a constant that has more.
Value KernelBuilder::asWord(Value number) {
  APInt known;
  if (matchPattern(number, m_ConstantInt(&known)))
    return known.isSignedIntN(32) ? number32(known.getSExtValue()) : Value();
  Operation *op = number.getDefiningOp();
  const bool isWidened = isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(op);
  return isWidened && op->getOperand(0).getType().isInteger(32) ? op->getOperand(0) : word(number);
}

std::optional<std::pair<Value, Value>> KernelBuilder::asWords(Value x, Value y) {
  if (!isInWords_ || !x.getType().isInteger(64))
    return std::nullopt;
  Value right = asWord(y), left = right ? asWord(x) : Value();
  return left ? std::optional(std::pair(left, right)) : std::nullopt;
}

/// What comes out of words may be below zero, and is then in 64 bits what it would have been there.
template <typename Op> Value KernelBuilder::compute(Value x, Value y) {
  auto words = asWords(x, y);
  if (!words)
    return b.createOrFold<Op>(loc, x, y);
  Value result = b.createOrFold<Op>(loc, words->first, words->second);
  return b.createOrFold<arith::ExtSIOp>(loc, b.getI64Type(), result);
}

Value KernelBuilder::add(Value x, Value y) {
  return compute<arith::AddIOp>(x, y);
}
Value KernelBuilder::sub(Value x, Value y) {
  return compute<arith::SubIOp>(x, y);
}
Value KernelBuilder::mul(Value x, Value y) {
  return compute<arith::MulIOp>(x, y);
}
Value KernelBuilder::div(Value x, Value y) {
  return compute<arith::DivUIOp>(x, y);
}
Value KernelBuilder::rem(Value x, Value y) {
  return compute<arith::RemUIOp>(x, y);
}
Value KernelBuilder::min(Value x, Value y) {
  return compute<arith::MinUIOp>(x, y);
}
Value KernelBuilder::less(Value x, Value y) {
  if (auto words = asWords(x, y))
    std::tie(x, y) = *words;
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, x, y);
}
Value KernelBuilder::equal(Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, x, y);
}
Value KernelBuilder::both(Value x, Value y) {
  return b.createOrFold<arith::AndIOp>(loc, x, y);
}
Value KernelBuilder::exclusiveOr(Value x, Value y) {
  return b.createOrFold<arith::XOrIOp>(loc, x, y);
}
Value KernelBuilder::select(Value condition, Value x, Value y) {
  return b.createOrFold<arith::SelectOp>(loc, condition, x, y);
}

std::optional<bool> KernelBuilder::known(Value condition) {
  APInt value;
  return matchPattern(condition, m_ConstantInt(&value)) ? std::optional(!value.isZero()) : std::nullopt;
}

namespace {
template <typename X, typename Y, typename Z> Value special(KernelBuilder &k, unsigned dimension) {
  Type i32 = k.b.getI32Type();
  Value value = dimension == 0   ? X::create(k.b, k.loc, i32).getResult()
                : dimension == 1 ? Y::create(k.b, k.loc, i32).getResult()
                                 : Z::create(k.b, k.loc, i32).getResult();
  return arith::ExtUIOp::create(k.b, k.loc, k.b.getI64Type(), value);
}
} // namespace

Value KernelBuilder::block(unsigned dimension) {
  return special<NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp>(*this, dimension);
}
Value KernelBuilder::blocks() {
  return special<NVVM::GridDimXOp, NVVM::GridDimYOp, NVVM::GridDimZOp>(*this, 0);
}
Value KernelBuilder::thread(unsigned dimension) {
  if (inTeam_ && dimension == 0)
    return inTeam_;
  return special<NVVM::ThreadIdXOp, NVVM::ThreadIdYOp, NVVM::ThreadIdZOp>(*this, dimension);
}

void KernelBuilder::when(Value condition, llvm::function_ref<void()> body) {
  branch(condition, body, [] {});
}

void KernelBuilder::branch(Value condition, llvm::function_ref<void()> yes, llvm::function_ref<void()> no) {
  if (std::optional<bool> outcome = known(condition))
    return *outcome ? yes() : no();
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op.thenBlock()->getTerminator());
  yes();
  b.setInsertionPoint(op.elseBlock()->getTerminator());
  no();
}

SmallVector<Value> KernelBuilder::choose(Value condition, TypeRange types, llvm::function_ref<SmallVector<Value>()> yes,
                                         llvm::function_ref<SmallVector<Value>()> no) {
  if (std::optional<bool> outcome = known(condition))
    return *outcome ? yes() : no();
  auto op = scf::IfOp::create(b, loc, types, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  scf::YieldOp::create(b, loc, yes());
  b.setInsertionPointToStart(op.elseBlock());
  scf::YieldOp::create(b, loc, no());
  return llvm::to_vector_of<Value>(op.getResults());
}

SmallVector<Value> KernelBuilder::loop(Value first, Value last, Value step, ValueRange carried,
                                       llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(b, loc, first, last, step, carried);
  OpBuilder::InsertionGuard guard(b);
  Block *block = op.getBody();
  const bool terminated = block->mightHaveTerminator();
  b.setInsertionPointToStart(block);
  SmallVector<Value> next = body(op.getInductionVar(), op.getRegionIterArgs());
  if (!terminated)
    scf::YieldOp::create(b, loc, next);
  return llvm::to_vector_of<Value>(op.getResults());
}

void KernelBuilder::barrier() {
  if (!inTeam_)
    NVVM::Barrier0Op::create(b, loc);
  else
    NVVM::BarrierOp::create(b, loc, Type(), arith::TruncIOp::create(b, loc, b.getI32Type(), teamBarrier_),
                            number32(threads), NVVM::BarrierReductionAttr(), Value());
}

void KernelBuilder::syncWarp() {
  NVVM::SyncWarpOp::create(b, loc, number32(-1));
}

void KernelBuilder::asTeam(Value number, uint32_t count, Value barrier, llvm::function_ref<void()> body) {
  const uint32_t all = threads;
  Value outer = inTeam_, outerBarrier = teamBarrier_;
  inTeam_ = number;
  threads = count;
  teamBarrier_ = barrier;
  body();
  inTeam_ = outer;
  teamBarrier_ = outerBarrier;
  threads = all;
}

void KernelBuilder::takeRegisters(uint32_t count) {
  NVVM::SetMaxRegisterOp::create(b, loc, count, NVVM::SetMaxRegisterAction::increase);
}
void KernelBuilder::leaveRegisters(uint32_t count) {
  NVVM::SetMaxRegisterOp::create(b, loc, count, NVVM::SetMaxRegisterAction::decrease);
}

// Where dynamic shared memory begins: CUDA's linker puts it behind what a kernel has besides at the next multiple of
// 16, whatever is asked for, and nobody may reckon with more.
static constexpr uint32_t kDynamicAlignment = 1024, kDynamicAlignmentBehindOthers = 16;

Value KernelBuilder::shared(Type element, uint64_t count, uint32_t alignment) {
  auto module = function_->getParentOfType<ModuleOp>();
  std::string name = (function_.getName() + "_shared_" + Twine(arenas_++)).str();
  auto type = LLVM::LLVMArrayType::get(element, count);
  OpBuilder atStart = OpBuilder::atBlockBegin(module.getBody());
  auto global = LLVM::GlobalOp::create(atStart, loc, type, /*isConstant=*/false, LLVM::Linkage::Internal, name,
                                       Attribute(), alignment, /*addrSpace=*/3);
  OpBuilder inside = OpBuilder::atBlockBegin(&global.getInitializerRegion().emplaceBlock());
  LLVM::ReturnOp::create(inside, loc, ValueRange(LLVM::UndefOp::create(inside, loc, type)));
  if (auto dynamic = module.lookupSymbol<LLVM::GlobalOp>((function_.getName() + "_shared").str()))
    dynamic.setAlignment(kDynamicAlignmentBehindOthers);
  return LLVM::AddressOfOp::create(b, loc, global);
}

void KernelBuilder::assembly(const std::string &text, ArrayRef<Value> operands, const std::string &constraints) {
  LLVM::InlineAsmOp::create(b, loc, TypeRange(), operands, text,
                            constraints + (constraints.empty() ? "" : ",") + "~{memory}",
                            /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                            LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
}

Value KernelBuilder::opaque(Value integer) {
  const bool isWide = integer.getType().getIntOrFloatBitWidth() == 64;
  return LLVM::InlineAsmOp::create(b, loc, integer.getType(), integer, isWide ? "mov.b64 $0, $1;" : "mov.b32 $0, $1;",
                                   isWide ? "=l,l" : "=r,r", /*has_side_effects=*/true, /*is_align_stack=*/false,
                                   LLVM::TailCallKind::None,
                                   LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
      .getResult(0);
}

Value KernelBuilder::word(Value number) {
  if (isa<LLVM::LLVMPointerType>(number.getType()))
    return LLVM::PtrToIntOp::create(b, loc, b.getI32Type(), number);
  return arith::TruncIOp::create(b, loc, b.getI32Type(), number);
}

void KernelBuilder::wantResident(uint32_t blocks) {
  function_->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(int32_t(blocks)));
}

void KernelBuilder::requireClusters(uint32_t blocks) {
  function_->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(), b.getDenseI32ArrayAttr({int32_t(blocks), 1, 1}));
}

Value KernelBuilder::hasClusters() {
  auto module = function_->getParentOfType<ModuleOp>();
  auto query = module.lookupSymbol<LLVM::LLVMFuncOp>(kHasClusters);
  if (!query) {
    OpBuilder atStart = OpBuilder::atBlockBegin(module.getBody());
    query = LLVM::LLVMFuncOp::create(atStart, loc, kHasClusters, LLVM::LLVMFunctionType::get(b.getI1Type(), {}));
  }
  return LLVM::CallOp::create(b, loc, query, ValueRange()).getResult();
}

void KernelBuilder::arriveAtCluster() {
  NVVM::ClusterArriveOp::create(b, loc, b.getUnitAttr());
}

void KernelBuilder::waitForCluster() {
  NVVM::ClusterWaitOp::create(b, loc, b.getUnitAttr());
}

void KernelBuilder::meetInCluster() {
  NVVM::ClusterArriveOp::create(b, loc, UnitAttr());
  NVVM::ClusterWaitOp::create(b, loc, UnitAttr());
}

Value KernelBuilder::ofPeer(Value shared, Value rank) {
  auto peers = LLVM::LLVMPointerType::get(b.getContext(), unsigned(NVVM::NVVMMemorySpace::SharedCluster));
  return NVVM::MapaOp::create(b, loc, peers, shared, arith::TruncIOp::create(b, loc, b.getI32Type(), rank));
}

Value KernelBuilder::dynamicShared() {
  auto module = function_->getParentOfType<ModuleOp>();
  const std::string name = (function_.getName() + "_shared").str();
  auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!global) {
    OpBuilder atStart = OpBuilder::atBlockBegin(module.getBody());
    global = LLVM::GlobalOp::create(atStart, loc, LLVM::LLVMArrayType::get(b.getI8Type(), 0), /*isConstant=*/false,
                                    LLVM::Linkage::External, name, Attribute(),
                                    arenas_ ? kDynamicAlignmentBehindOthers : kDynamicAlignment, /*addrSpace=*/3);
  }
  return LLVM::AddressOfOp::create(b, loc, global);
}

Value KernelBuilder::at(Value base, Type element, Value index) {
  return LLVM::GEPOp::create(b, loc, base.getType(), element, base, ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(index)},
                             LLVM::GEPNoWrapFlags::inbounds);
}

Value KernelBuilder::load(Type type, Value from, uint32_t alignment, bool isStreamed, bool isWhole) {
  return LLVM::LoadOp::create(b, loc, type, from, alignment, /*isVolatile=*/false, /*isNonTemporal=*/isStreamed,
                              /*isInvariant=*/isWhole);
}

Value KernelBuilder::loadWhere(Value condition, IntegerType type, Value from) {
  // A branch would be a block of its own, and a selection needs an address that may be read.
  const std::string bits = std::to_string(type.getWidth());
  const std::string text = "mov.b" + bits + " $0, 0;\n\t@$2 ld.global.nc.b" + bits + " $0, [$1];";
  const char *constraints = type.getWidth() == 64 ? "=&l,l,b" : type.getWidth() == 32 ? "=&r,l,b" : "=&h,l,b";
  return LLVM::InlineAsmOp::create(b, loc, type, ValueRange{from, condition}, text, constraints,
                                   /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                   LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
      .getResult(0);
}

SmallVector<Value> KernelBuilder::loadWordsWhere(Value condition, Value from) {
  constexpr unsigned words = 4;
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(words, b.getI32Type()));
  const char *text = "mov.b32 $0, 0;\n\tmov.b32 $1, 0;\n\tmov.b32 $2, 0;\n\tmov.b32 $3, 0;\n\t"
                     "@$5 ld.global.nc.v4.b32 {$0, $1, $2, $3}, [$4];";
  Value all =
      LLVM::InlineAsmOp::create(b, loc, type, ValueRange{from, condition}, text, "=&r,=&r,=&r,=&r,l,b",
                                /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
          .getResult(0);
  SmallVector<Value> loaded;
  for (unsigned word = 0; word < words; ++word)
    loaded.push_back(LLVM::ExtractValueOp::create(b, loc, all, word));
  return loaded;
}

void KernelBuilder::store(Value value, Value to, uint32_t alignment) {
  LLVM::StoreOp::create(b, loc, value, to, alignment);
}

Value KernelBuilder::number32(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
}

Value KernelBuilder::shuffle32(Value value, Shuffle kind, Value operand) {
  const NVVM::ShflKind how = kind == Shuffle::Xor  ? NVVM::ShflKind::bfly
                             : kind == Shuffle::Up ? NVVM::ShflKind::up
                                                   : NVVM::ShflKind::idx;
  // The last operand bounds the lanes that are read: from below where values move up.
  return NVVM::ShflOp::create(b, loc, b.getI32Type(), number32(-1), value, operand,
                              number32(kind == Shuffle::Up ? 0 : 31), how, UnitAttr());
}

Value KernelBuilder::shuffle(Value value, Shuffle kind, Value operand) {
  Type type = value.getType();
  const unsigned bits = type.getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(bits);
  Value raw = isa<IntegerType>(type) ? value : arith::BitcastOp::create(b, loc, integer, value).getResult();
  Type i32 = b.getI32Type();
  if (bits == 64) {
    Value high = arith::ShRUIOp::create(b, loc, raw, number(32));
    Value low = shuffle32(arith::TruncIOp::create(b, loc, i32, raw), kind, operand);
    high = shuffle32(arith::TruncIOp::create(b, loc, i32, high), kind, operand);
    high = arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, integer, high), number(32));
    raw = arith::OrIOp::create(b, loc, high, arith::ExtUIOp::create(b, loc, integer, low));
  } else {
    if (bits < 32)
      raw = arith::ExtUIOp::create(b, loc, i32, raw);
    raw = shuffle32(raw, kind, operand);
    if (bits < 32)
      raw = arith::TruncIOp::create(b, loc, integer, raw);
  }
  return isa<IntegerType>(type) ? raw : arith::BitcastOp::create(b, loc, type, raw).getResult();
}

Value KernelBuilder::shuffleXor(Value value, uint32_t mask) {
  return shuffle(value, Shuffle::Xor, number32(mask));
}
Value KernelBuilder::shuffleUp(Value value, uint32_t delta) {
  return shuffle(value, Shuffle::Up, number32(delta));
}
Value KernelBuilder::ballot(Value condition) {
  return NVVM::VoteSyncOp::create(b, loc, b.getI32Type(), number32(-1), condition, NVVM::VoteSyncKind::ballot);
}
Value KernelBuilder::shuffleFrom(Value value, Value lane) {
  return shuffle(value, Shuffle::From, arith::TruncIOp::create(b, loc, b.getI32Type(), lane));
}

} // namespace tenon::compiler::codegen
