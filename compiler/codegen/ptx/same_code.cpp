// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/same_code.h"

#include "abi/arch_table.h"
#include "compiler/codegen/ptx/emit_ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr abi::TargetArch kFirst{75}, kFirstWithMaximum{80};
constexpr uint16_t kFirstUnknown = 100; // wider loads, pairs of f32

/// Elements of 8 and 16 bits come in pairs, bf16 with instructions, as targets get newer.
bool isOfEveryTarget(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    type = vector.getElementType();
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() == 1 || integer.getWidth() == 32 || integer.getWidth() == 64;
  return isa<Float32Type, Float64Type, LLVM::LLVMPointerType, LLVM::LLVMVoidType, LLVM::LLVMArrayType>(type);
}

/// Of libdevice, all but what asks which target it is compiled for, and cares whether that is later than sm_82.
bool isOfEveryTarget(LLVM::CallOp call) {
  const StringRef callee = call.getCallee().value_or("");
  return callee.starts_with("__nv_") && !llvm::is_contained({"__nv_sinpif", "__nv_cospif", "__nv_tgammaf"}, callee);
}

bool isOfEveryTarget(Operation &op) {
  if (auto call = dyn_cast<LLVM::CallOp>(op))
    return isOfEveryTarget(call);
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    return call.getIntrin().starts_with("llvm.nvvm.mulhi.");
  if (auto load = dyn_cast<LLVM::LoadOp>(op); load && load.getNontemporal())
    return false; // cache_hints.h
  // Names of the two floors: what is plain arithmetic and control flow, and registers that always were.
  const StringRef name = op.getName().getStringRef();
  if (name.starts_with("nvvm."))
    return name.starts_with("nvvm.read.ptx.sreg.") || isa<NVVM::Barrier0Op, NVVM::BarrierOp, NVVM::ShflOp>(op);
  return isa<ModuleOp, LLVM::LLVMFuncOp>(op) ||
         (name.starts_with("llvm.") &&
          !isa<LLVM::InlineAsmOp, LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp, LLVM::FenceOp>(op));
}

} // namespace

abi::TargetArch oldestWithSameCode(ModuleOp module, abi::TargetArch arch) {
  if (arch.number < kFirst.number || arch.number >= kFirstUnknown)
    return arch;
  bool isSame = true, hasMaximum = false;
  module.walk([&](Operation *op) {
    isSame &= isOfEveryTarget(*op) &&
              llvm::all_of(op->getResultTypes(), [](Type type) { return isOfEveryTarget(type); }) &&
              llvm::all_of(op->getOperandTypes(), [](Type type) { return isOfEveryTarget(type); });
    hasMaximum |= isa<LLVM::MaximumOp, LLVM::MinimumOp>(op);
  });
  if (!isSame)
    return arch;
  if (arch.number >= abi::kFirstWithDependentLaunch)
    return {abi::kFirstWithDependentLaunch};
  return hasMaximum && arch.number >= kFirstWithMaximum.number ? kFirstWithMaximum : kFirst;
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
