// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/tensor_core.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

SmallVector<Value> membersOf(KernelBuilder &k, Value all, size_t count) {
  SmallVector<Value> members;
  for (size_t i = 0; i < count; ++i)
    members.push_back(LLVM::ExtractValueOp::create(k.b, k.loc, all, int64_t(i)));
  return members;
}

Type structOf(KernelBuilder &k, Type member, size_t count) {
  return LLVM::LLVMStructType::getLiteral(k.b.getContext(), SmallVector<Type>(count, member));
}

/// Assembly whose last operands are registers that it changes: `sums`, its results; f32, or words.
SmallVector<Value> changing(KernelBuilder &k, const std::string &text, ArrayRef<Value> inputs, StringRef constraints,
                            ValueRange sums) {
  std::string all;
  for (Value sum : sums)
    (all += all.empty() ? "" : ",") += isa<FloatType>(sum.getType()) ? "=f" : "=r";
  if (!constraints.empty())
    (all += ",") += constraints;
  for (size_t i = 0; i < sums.size(); ++i)
    all += "," + std::to_string(i);
  SmallVector<Value> operands = llvm::to_vector(inputs);
  llvm::append_range(operands, sums);
  auto members = LLVM::LLVMStructType::getLiteral(k.b.getContext(), llvm::to_vector(sums.getTypes()));
  auto assembly =
      LLVM::InlineAsmOp::create(k.b, k.loc, members, operands, text, all + ",~{memory}",
                                /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                LLVM::AsmDialectAttr::get(k.b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  return membersOf(k, assembly.getResult(0), sums.size());
}

/// Assembly whose first operands are `count` new registers of f32, its results.
SmallVector<Value> making(KernelBuilder &k, const std::string &text, ArrayRef<Value> inputs, StringRef constraints,
                          size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i)
    all += "=f,";
  auto assembly = LLVM::InlineAsmOp::create(
      k.b, k.loc, structOf(k, k.b.getF32Type(), count), inputs, text, all + constraints.str() + ",~{memory}",
      /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(k.b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  return membersOf(k, assembly.getResult(0), count);
}

} // namespace

Value TensorCore::word(Value value, Type type) {
  return value.getType() == type ? value : LLVM::BitcastOp::create(k_.b, k_.loc, type, value).getResult();
}

void TensorCore::copyAsync(Value to, Value from, Value exists, uint32_t bytes) {
  constexpr uint32_t kVector = 16;
  if (copiesByThreads()) {
    assert(bytes == kVector);
    auto words = VectorType::get(4, k_.b.getI32Type());
    Value value = k_.load(words, from, kVector);
    if (exists)
      value = k_.select(exists, value, arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(words)));
    return k_.store(value, to, kVector);
  }
  Value read;
  if (exists)
    read = k_.select(exists, arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(int32_t(bytes))),
                     arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(0)));
  // Vectors alone pass the first-level cache by.
  const auto cache = bytes == kVector ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(k_.b, k_.loc, to, from, bytes, cache, read);
}

void TensorCore::copyVector(Value to, Value from, Value bytes) {
  constexpr uint32_t kVector = 16;
  assert(!copiesByThreads());
  NVVM::CpAsyncOp::create(k_.b, k_.loc, to, from, kVector, NVVM::LoadCacheModifierKind::CG, k_.word(bytes));
}

void TensorCore::closeGroup() {
  if (copiesByThreads())
    return;
  NVVM::CpAsyncCommitGroupOp::create(k_.b, k_.loc);
}

void TensorCore::waitForGroups(uint32_t pending) {
  if (copiesByThreads())
    return;
  NVVM::CpAsyncWaitGroupOp::create(k_.b, k_.loc, pending);
}

SmallVector<Value> TensorCore::loadMatrices(Value row, bool isTransposed) {
  MLIRContext *context = k_.b.getContext();
  Value all = NVVM::LdMatrixOp::create(k_.b, k_.loc, structOf(k_, k_.b.getI32Type(), 4), row, 4,
                                       isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
                                       NVVM::LdStMatrixShapeAttr::get(context, 8, 8), NVVM::LdStMatrixEltType::B16);
  return membersOf(k_, all, 4);
}

/// What the instruction is told of the elements.
static NVVM::MMATypes typeOf(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return integer.isUnsigned() ? NVVM::MMATypes::u8 : NVVM::MMATypes::s8;
  if (isa<Float8E4M3FNType, Float8E5M2Type>(element))
    return isa<Float8E4M3FNType>(element) ? NVVM::MMATypes::e4m3 : NVVM::MMATypes::e5m2;
  return element.isTF32() ? NVVM::MMATypes::tf32 : element.isBF16() ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
}

/// In memory.
static uint32_t bitsOf(Type element) {
  return element.isTF32() ? 32 : element.getIntOrFloatBitWidth();
}

/// MLIR has no operation for these.
SmallVector<Value> TensorCore::multiplyF8(ValueRange left, ValueRange right, ValueRange sums) {
  const std::string name = "llvm.nvvm.mma.m16n8k32.row.col.f32." + NVVM::stringifyMMATypes(typeOf(element_)).str() +
                           "." + NVVM::stringifyMMATypes(typeOf(right_)).str() + ".f32";
  SmallVector<Value> operands;
  for (ValueRange side : {left, right})
    for (Value value : side)
      operands.push_back(word(value, k_.b.getI32Type()));
  llvm::append_range(operands, sums);
  auto all = LLVM::CallIntrinsicOp::create(k_.b, k_.loc, structOf(k_, k_.b.getF32Type(), 4), k_.b.getStringAttr(name),
                                           operands);
  return membersOf(k_, all.getResult(0), 4);
}

/// Of m16n8k16 the registers are those of two m16n8k8 beside each other; of m16n8k32 of int8, those of four m8n8k16.
SmallVector<Value> TensorCore::multiplyOnTuring(ValueRange left, ValueRange right, ValueRange sums) {
  if (element_.isF16()) {
    const SmallVector<Value> first = multiplyOnce(left.take_front(2), right.take_front(1), sums, {16, 8, 8});
    return multiplyOnce(left.drop_front(2), right.drop_front(1), first, {16, 8, 8});
  }
  SmallVector<Value> next = llvm::to_vector(sums);
  for (uint32_t part = 0; part < 2; ++part)
    for (uint32_t half = 0; half < 2; ++half)
      llvm::copy(multiplyOnce(left[2 * part + half], right[part], ArrayRef<Value>(next).slice(2 * half, 2), {8, 8, 16}),
                 next.begin() + 2 * half);
  return next;
}

SmallVector<Value> TensorCore::multiply(ValueRange left, ValueRange right, ValueRange sums) {
  if (element_.isF64())
    return multiplyDoubles(left, right, sums);
  if (isa<Float8E4M3FNType, Float8E5M2Type>(element_))
    return multiplyF8(left, right, sums);
  return target_ < 80 ? multiplyOnTuring(left, right, sums)
                      : multiplyOnce(left, right, sums, {16, 8, 256 / bitsOf(element_)});
}

SmallVector<Value> TensorCore::multiplyOnce(ValueRange left, ValueRange right, ValueRange sums,
                                            ArrayRef<int64_t> shape) {
  Type i32 = k_.b.getI32Type(), pair = element_.isF16() ? Type(VectorType::get(2, element_)) : i32;
  auto words = [&](ValueRange values) {
    SmallVector<Value> result;
    for (Value value : values) {
      if (element_.isTF32())
        value = toTf32(word(value, k_.b.getF32Type()));
      result.push_back(word(value, pair));
    }
    return result;
  };
  const NVVM::MMATypes type = typeOf(element_);
  const bool isInteger = isa<IntegerType>(element_);
  const size_t count = sums.size();
  Value all = NVVM::MmaOp::create(k_.b, k_.loc, structOf(k_, isInteger ? i32 : Type(k_.b.getF32Type()), count),
                                  words(left), words(right), sums, shape, std::nullopt,
                                  isInteger ? std::optional(NVVM::MMAIntOverflow::wrapped) : std::nullopt,
                                  std::array<NVVM::MMATypes, 2>{type, type},
                                  std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
  return membersOf(k_, all, count);
}

SmallVector<Value> TensorCore::multiplyDoubles(ValueRange left, ValueRange right, ValueRange sums) {
  auto multiply = [&](StringRef shape, ArrayRef<Value> operands, size_t count) {
    auto all = LLVM::CallIntrinsicOp::create(k_.b, k_.loc, structOf(k_, k_.b.getF64Type(), count),
                                             k_.b.getStringAttr("llvm.nvvm.mma." + shape + ".row.col.f64"), operands);
    return membersOf(k_, all.getResult(0), count);
  };
  if (target_ >= 90)
    return multiply("m16n8k4", {left[0], left[1], right[0], sums[0], sums[1], sums[2], sums[3]}, 4);
  SmallVector<Value> next = multiply("m8n8k4", {left[0], right[0], sums[0], sums[1]}, 2);
  llvm::append_range(next, multiply("m8n8k4", {left[1], right[0], sums[2], sums[3]}, 2));
  return next;
}

Value TensorCore::toTf32(Value value) {
  return NVVM::ConvertFloatToTF32Op::create(k_.b, k_.loc, k_.b.getI32Type(), value, NVVM::FPRoundingMode::RNA);
}

Value TensorCore::pair(Value low, Value high) {
  Value both = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(2, k_.b.getF32Type()));
  both = LLVM::InsertElementOp::create(k_.b, k_.loc, both, low, k_.number(0));
  both = LLVM::InsertElementOp::create(k_.b, k_.loc, both, high, k_.number(1));
  Value narrow = LLVM::FPTruncOp::create(k_.b, k_.loc, VectorType::get(2, element_), both);
  return LLVM::BitcastOp::create(k_.b, k_.loc, k_.b.getI32Type(), narrow);
}

Value TensorCore::halves(Value low, Value high, bool areHigh) {
  return ofWords(areHigh ? "prmt.b32 $0, $1, $2, 0x7632;" : "prmt.b32 $0, $1, $2, 0x5410;", {low, high}, "=r,r,r",
                 /*isOfWarp=*/false);
}

Value TensorCore::transposed(Value pair) {
  return ofWords("movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", pair, "=r,r", /*isOfWarp=*/true);
}

/// A register that an instruction makes of others; of the warp's together, where it is.
Value TensorCore::ofWords(const char *text, ValueRange operands, const char *constraints, bool isOfWarp) {
  return LLVM::InlineAsmOp::create(k_.b, k_.loc, k_.b.getI32Type(), operands, text, constraints,
                                   /*has_side_effects=*/isOfWarp, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                   LLVM::AsmDialectAttr::get(k_.b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
      .getResult(0);
}

void TensorCore::publish() {
  MLIRContext *context = k_.b.getContext();
  NVVM::FenceProxyOp::create(k_.b, k_.loc, NVVM::ProxyKindAttr::get(context, NVVM::ProxyKind::async_shared),
                             NVVM::SharedSpaceAttr::get(context, NVVM::SharedSpace::shared_cta));
}

/// {$0, $1, ...}
static std::string registersFrom(size_t first, size_t count) {
  std::string registers = "{";
  for (size_t i = 0; i < count; ++i)
    registers += (i == 0 ? "$" : ", $") + std::to_string(first + i);
  return registers + "}";
}

/// Four quarters of 32 bytes, behind each other: sums, then the two descriptors are the operands; `keepsSums`: of the
/// first quarter.
std::string TensorCore::groupText(const Step &step, uint32_t columns, size_t registers, StringRef keepsSums) {
  const std::string left = NVVM::stringifyMMATypes(typeOf(element_)).str(),
                    right = NVVM::stringifyMMATypes(typeOf(right_)).str();
  const bool isInteger = isa<IntegerType>(element_);
  const std::string shape = "m64n" + std::to_string(columns) + "k" + std::to_string(256 / bitsOf(element_)) +
                            (isInteger ? ".s32." : ".f32.") + left + "." + right;
  const std::string sums = registersFrom(0, registers);
  const std::string leftName = "$" + std::to_string(registers), rightName = "$" + std::to_string(registers + 1);
  std::string text = "wgmma.fence.sync.aligned;\n";
  for (uint32_t part = 0; part < 4; ++part) {
    // Descriptors count in 16 bytes.
    text += "add.s64 a, " + leftName + ", " + std::to_string(part * step.leftBytes / 16) + ";\n";
    text += "add.s64 b, " + rightName + ", " + std::to_string(part * step.rightBytes / 16) + ";\n";
    text += "wgmma.mma_async.sync.aligned." + shape + " " + sums + ", a, b, " + (part == 0 ? keepsSums.str() : "1");
    if (!isInteger)
      text += ", 1, 1"; // neither is negated
    if (bitsOf(element_) == 16)
      text += std::string(step.leftIsAcross ? ", 1" : ", 0") + (step.rightIsAcross ? ", 1" : ", 0");
    text += ";\n";
  }
  return text + "wgmma.commit_group.sync.aligned;\n}";
}

SmallVector<Value> TensorCore::multiplyGroup(const Step &step, uint32_t columns, Value keepsSums, ValueRange sums) {
  const std::string keeps = "$" + std::to_string(sums.size() + 2);
  const std::string text = "{\n.reg .pred p;\n.reg .b64 a, b;\nsetp.ne.b32 p, " + keeps + ", 0;\n" +
                           groupText(step, columns, sums.size(), "p");
  return changing(k_, text, {step.left, step.right, keepsSums}, "l,l,r", sums);
}

SmallVector<Value> TensorCore::multiplyGroup(const Step &step, uint32_t columns) {
  const size_t count = columns / 2;
  return making(k_, "{\n.reg .b64 a, b;\n" + groupText(step, columns, count, "0"), {step.left, step.right}, "l,l",
                count);
}

SmallVector<Value> TensorCore::multiplyTiles(Value left, Value right, uint32_t depth, uint32_t leftTileBytes,
                                             uint32_t rightTileBytes, uint32_t columns) {
  constexpr uint32_t kStep = 16, kStepBytes = 32, kSteps = 4; // elements; of a tile
  const size_t count = columns / 2;
  const std::string type = element_.isBF16() ? "bf16" : "f16", registers = registersFrom(0, count);
  const std::string leftName = "$" + std::to_string(count), rightName = "$" + std::to_string(count + 1);
  std::string text = "{\n.reg .b64 a, b;\nwgmma.fence.sync.aligned;\n";
  for (uint32_t step = 0; step < llvm::divideCeil(depth, kStep); ++step) {
    const uint32_t tile = step / kSteps, inTile = step % kSteps * kStepBytes;
    // Descriptors count in 16 bytes.
    text += "add.s64 a, " + leftName + ", " + std::to_string((tile * leftTileBytes + inTile) / 16) + ";\n";
    text += "add.s64 b, " + rightName + ", " + std::to_string((tile * rightTileBytes + inTile) / 16) + ";\n";
    text += "wgmma.mma_async.sync.aligned.m64n" + std::to_string(columns) + "k16.f32." + type + "." + type + " " +
            registers + ", a, b, " + (step == 0 ? "0" : "1") + ", 1, 1, 0, 0;\n";
  }
  text += "wgmma.commit_group.sync.aligned;\n}";
  return making(k_, text, {left, right}, "l,l", count);
}

SmallVector<Value> TensorCore::multiplyRegisters(ValueRange left, Value right, uint32_t rightBytes, uint32_t columns,
                                                 ValueRange sums) {
  const size_t count = sums.size();
  const std::string type = NVVM::stringifyMMATypes(typeOf(element_)).str(), registers = registersFrom(0, count);
  const std::string shape = "m64n" + std::to_string(columns) + "k" + std::to_string(256 / bitsOf(element_));
  const std::string rightName = "$" + std::to_string(count + left.size());
  std::string text = "{\n.reg .b64 b;\nwgmma.fence.sync.aligned;\n", constraints;
  for (size_t step = 0; step < left.size() / 4; ++step) {
    text += "add.s64 b, " + rightName + ", " + std::to_string(step * rightBytes / 16) + ";\n";
    text += "wgmma.mma_async.sync.aligned." + shape + ".f32." + type + "." + type + " " + registers + ", " +
            registersFrom(count + 4 * step, 4) + ", b, 1, 1, 1" + (element_.isTF32() ? ";\n" : ", 1;\n");
  }
  text += "wgmma.commit_group.sync.aligned;\n}";
  SmallVector<Value> inputs = llvm::to_vector(left);
  inputs.push_back(right);
  for (size_t i = 0; i < left.size(); ++i)
    constraints += "r,";
  return changing(k_, text, inputs, constraints + "l", sums);
}

SmallVector<Value> TensorCore::waitForProducts(uint32_t pending, ValueRange sums) {
  return changing(k_, "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";", {}, "", sums);
}

} // namespace tenon::compiler::codegen
