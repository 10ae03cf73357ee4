// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/decisions/early_launches.h"

#include "compiler/codegen/plan/plan.h"
#include "compiler/codegen/strategies/products/attention.h"
#include "compiler/codegen/strategies/products/plans/shared_sums.h"
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Of a product, a launch of more blocks than the other multiprocessors have place for.
constexpr int64_t kMostBlocks = 4096, kMostOfProduct = 64;

struct Kernel {
  func::FuncOp function;
  std::optional<int64_t> blocks; // where it is known

  DictionaryAttr plan() const { return function->getAttrOfType<DictionaryAttr>(dispatch::kStrategyAttr); }
  bool isProduct() const {
    auto plan = this->plan();
    auto name = plan ? plan.getAs<StringAttr>("name") : StringAttr();
    return name && llvm::is_contained({"contraction", "skinny", "attention"}, name.getValue()) && !plan.get(kAddsParts);
  }
  /// Its blocks are one round, behind which small ones add up what they leave.
  bool leavesParts() const { return plan() && plan().get(kKeyParts); }
  bool isLargeProduct() const { return isProduct() && !(blocks && *blocks <= kMostOfProduct); }
  /// One block, which is gone when the next kernel's blocks have found their places.
  bool isBrief() const {
    auto clears = plan() ? plan().getAs<IntegerAttr>(kClearsFlags) : IntegerAttr();
    return clears && clears.getInt() != 0;
  }
  /// Whether its blocks must not crowd.
  bool needsRoom() const { return plan() && ((isLargeProduct() && !plan().get(kOneBlock)) || plan().get(kBlocksWait)); }
};

/// Blocks of a launch, if they do not depend on sizes.
std::optional<int64_t> blocksOf(hal::ExecutableExportOp exported) {
  if (!exported.hasCount())
    return std::nullopt;
  int64_t blocks = 1;
  for (Value extent : exported.getWorkgroupCount().front().getTerminator()->getOperands()) {
    APInt known;
    if (!matchPattern(extent, m_ConstantInt(&known)))
      return std::nullopt;
    blocks *= known.getSExtValue();
  }
  return blocks;
}

/// The kernels that the compiler generated, by the symbol that dispatches name.
llvm::DenseMap<Attribute, Kernel> kernelsOf(ModuleOp program) {
  llvm::DenseMap<Attribute, Kernel> kernels;
  for (auto source : program.getOps<hal::ExecutableSourceOp>()) {
    if (!source->hasAttr(dispatch::kGeneratedAttr))
      continue;
    for (auto exported : source.getBody().getOps<hal::ExecutableExportOp>())
      for (auto module : source.getBody().getOps<ModuleOp>())
        if (auto function = module.lookupSymbol<func::FuncOp>(exported.getSymName()))
          kernels[SymbolRefAttr::get(source.getSymNameAttr(), {FlatSymbolRefAttr::get(exported.getSymNameAttr())})] = {
              function, blocksOf(exported)};
  }
  return kernels;
}

} // namespace

void chooseEarlyLaunches(ModuleOp program) {
  llvm::DenseMap<Attribute, Kernel> kernels = kernelsOf(program);
  llvm::DenseSet<Attribute> withoutRoom;
  auto follows = [&](Attribute last, Attribute next) {
    const auto found = kernels.find(next), before = kernels.find(last);
    const bool isBrief = before != kernels.end() && before->second.isBrief();
    if (!isBrief && found != kernels.end() && found->second.needsRoom())
      withoutRoom.insert(last);
  };
  program.walk([&](Block *block) {
    SmallVector<Attribute> launched;
    for (auto dispatch : block->getOps<flow::DispatchOp>())
      launched.push_back(dispatch.entryPoint());
    // Behind the last one, the first one of the next call, or of the loop's next round.
    for (auto [number, last] : llvm::enumerate(launched))
      follows(last, launched[(number + 1) % launched.size()]);
  });
  for (auto &[entryPoint, kernel] : kernels) {
    const bool isProduct = kernel.isProduct() && !kernel.leavesParts();
    const int64_t most = isProduct ? kMostOfProduct : kMostBlocks;
    if (withoutRoom.contains(entryPoint) || (kernel.blocks && *kernel.blocks > most) || (isProduct && !kernel.blocks))
      continue;
    kernel.function->setAttr(kEarlyLaunchAttr,
                             Builder(program.getContext()).getI64IntegerAttr(kernel.blocks ? 0 : most));
  }
}

} // namespace tenon::compiler::codegen
