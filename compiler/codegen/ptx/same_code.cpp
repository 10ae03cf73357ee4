// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/same_code.h"

#include "abi/arch_table.h"
#include "compiler/codegen/kernel/kernel_builder.h"
#include "compiler/codegen/ptx/emit_ptx.h"
#include "compiler/codegen/ptx/rewrites/named_numbers.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr abi::TargetArch kFirst{75}, kFirstWithMaximum{80}, kFirstWithHalves{86};
constexpr uint16_t kFirstUnknown = 100; // wider loads, pairs of f32

/// Elements of 8 and 16 bits come in pairs, bf16 with instructions, as targets get newer.
bool isOfEveryTarget(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    type = vector.getElementType();
  if (auto several = dyn_cast<LLVM::LLVMStructType>(type))
    return llvm::all_of(several.getBody(), [](Type each) { return isOfEveryTarget(each); });
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() == 1 || integer.getWidth() == 32 || integer.getWidth() == 64;
  return isa<Float32Type, Float64Type, LLVM::LLVMPointerType, LLVM::LLVMVoidType, LLVM::LLVMArrayType>(type);
}

/// Of libdevice, all but what asks which target it is compiled for, and cares whether that is later than sm_82.
bool isOfEveryTarget(LLVM::CallOp call) {
  const StringRef callee = call.getCallee().value_or("");
  static constexpr StringLiteral kAsking[] = {"__nv_sinpif", "__nv_cospif", "__nv_tgammaf"};
  return callee == kHasClusters || callee.starts_with(kNumberPrefix) ||
         (callee.starts_with("__nv_") && !llvm::is_contained(kAsking, callee));
}

bool isOfEveryTarget(Operation &op) {
  if (auto call = dyn_cast<LLVM::CallOp>(op))
    return isOfEveryTarget(call);
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    return call.getIntrin().starts_with("llvm.nvvm.mulhi.") || call.getIntrin() == "llvm.nvvm.rsqrt.approx.f";
  if (auto load = dyn_cast<LLVM::LoadOp>(op); load && load.getNontemporal())
    return false; // cache_hints.h
  // Assembly is printed as it stands. Names of the two floors: what is plain arithmetic and control flow, and registers
  // that always were.
  const StringRef name = op.getName().getStringRef();
  if (name.starts_with("nvvm."))
    return name.starts_with("nvvm.read.ptx.sreg.") ||
           isa<NVVM::Barrier0Op, NVVM::BarrierOp, NVVM::MatchSyncOp, NVVM::ShflOp, NVVM::SyncWarpOp, NVVM::VoteSyncOp>(
               op);
  return isa<ModuleOp, LLVM::LLVMFuncOp>(op) ||
         (name.starts_with("llvm.") && !isa<LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp, LLVM::FenceOp>(op));
}

/// What stands behind a question for clusters: where the answer is no, nothing is left of it.
bool isOfClusters(Operation &op) {
  return isa<NVVM::ClusterArriveOp, NVVM::ClusterWaitOp, NVVM::MapaOp>(op) ||
         llvm::any_of(op.getOperandTypes(), [](Type type) {
           auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
           return pointer && pointer.getAddressSpace() == unsigned(NVVM::NVVMMemorySpace::SharedCluster);
         });
}

bool asksForClusters(Operation &op) {
  auto call = dyn_cast<LLVM::CallOp>(op);
  return (call && call.getCallee() == StringRef(kHasClusters)) ||
         op.hasAttr(NVVM::NVVMDialect::getClusterDimAttrName());
}

/// Whether a register of 64 bits is taken apart, of which one half may not be wanted: PTX 7.1 has a word for that.
bool takesHalves(Operation &op) {
  if (isa<LLVM::CallOp>(op))
    return llvm::any_of(op.getResultTypes(), [](Type type) { return type.isF64(); });
  if (isa<LLVM::BitcastOp>(op))
    return isa<VectorType>(op.getOperand(0).getType()) || isa<VectorType>(op.getResult(0).getType());
  return isa<LLVM::LShrOp>(op) && op.getResult(0).getType().isInteger(64);
}

} // namespace

abi::TargetArch oldestWithSameCode(ModuleOp module, abi::TargetArch arch) {
  if (arch.number < kFirst.number || arch.number >= kFirstUnknown)
    return arch;
  if (isaNeededBy(module, {abi::kFirstWithClusters}) != 0)
    return arch;
  const bool mayHaveClusters = arch.number >= abi::kFirstWithDependentLaunch; // the same targets
  bool isSame = true, hasMaximum = false, hasHalves = false;
  module.walk([&](Operation *op) {
    if (!mayHaveClusters && isOfClusters(*op))
      return;
    isSame &= !(mayHaveClusters && asksForClusters(*op)) && isOfEveryTarget(*op) &&
              llvm::all_of(op->getResultTypes(), [](Type type) { return isOfEveryTarget(type); }) &&
              llvm::all_of(op->getOperandTypes(), [](Type type) { return isOfEveryTarget(type); });
    hasMaximum |= isa<LLVM::MaximumOp, LLVM::MinimumOp>(op);
    hasHalves |= takesHalves(*op);
  });
  if (!isSame)
    return arch;
  if (arch.number >= abi::kFirstWithDependentLaunch && !plainWaitsOf(module))
    return {abi::kFirstWithDependentLaunch};
  if (hasHalves && arch.number >= kFirstWithHalves.number)
    return kFirstWithHalves;
  return hasMaximum && arch.number >= kFirstWithMaximum.number ? kFirstWithMaximum : kFirst;
}

std::optional<PlainWaits> waitsToWrite(ModuleOp module, abi::TargetArch arch) {
  if (arch.number < abi::kFirstWithDependentLaunch ||
      oldestWithSameCode(module, arch).number >= abi::kFirstWithDependentLaunch)
    return std::nullopt;
  return plainWaitsOf(module);
}

std::string retargetPtx(StringRef ptx, abi::TargetArch arch) {
  const uint16_t isa = generatedIsa(arch);
  std::string result;
  auto [head, body] = ptx.split("\n.address_size");
  for (StringRef line : llvm::split(head, '\n')) {
    if (line.starts_with(".version "))
      result += ".version " + std::to_string(isa / 10) + "." + std::to_string(isa % 10);
    else if (line.starts_with(".target "))
      result += ".target " + arch.toString();
    else
      result += line;
    result += "\n";
  }
  return result + ".address_size" + body.str();
}

} // namespace tenon::compiler::codegen
