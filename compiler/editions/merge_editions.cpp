// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/editions/merge_editions.h"

#include "compiler/dialect/editions.h"
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/util/UtilOps.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"
#include "compiler/dispatch/analysis/products/warp_tiles.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tenon::compiler::editions {
namespace {

constexpr StringLiteral kDevicesAttr = "hal.device.targets";

std::string textOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream, OpPrintingFlags().useLocalScope().assumeVerified());
  return text;
}

std::string replaceAll(StringRef text, StringRef from, StringRef to) {
  std::string out;
  for (size_t at; (at = text.find(from)) != StringRef::npos; text = text.drop_front(at + from.size()))
    out += (text.take_front(at) + to).str();
  return out + text.str();
}

/// Whether a type has fewer bits than f32: tensor cores and copies take such elements, of Hopper in ways of its own.
bool isNarrow(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() > 1 && element.getIntOrFloatBitWidth() < 32;
}

/// A sum over what several tensors hold, or what is no operation of loops.
bool mayBePlanned(Operation *op) {
  if (auto computed = dyn_cast<linalg::LinalgOp>(op))
    return computed.getNumReductionLoops() != 0 && computed.getNumDpsInputs() > 1;
  return false;
}

/// Whether a kernel whose plan is chosen is written by what its targets say. Exact products of f32 and f64 are not:
/// threads multiply them, and what clusters or fewer threads do is said by the plan.
bool isWrittenByTargets(func::FuncOp function) {
  bool isAnyPlanned = false, isAnyNarrow = function->hasAttr(dispatch::kTf32Attr);
  const WalkResult found = function.walk([&](Operation *op) {
    if (op->getNumRegions() != 0 && !isa<func::FuncOp, linalg::LinalgOp>(op))
      return WalkResult::interrupt();
    isAnyPlanned |= mayBePlanned(op);
    isAnyNarrow |= llvm::any_of(op->getOperandTypes(), isNarrow) || llvm::any_of(op->getResultTypes(), isNarrow);
    return WalkResult::advance();
  });
  return found.wasInterrupted() || (isAnyPlanned && isAnyNarrow);
}

/// What the targets of a program say of a kernel that is the same for all of them.
void dropTargetNotes(hal::ExecutableSourceOp source) {
  source.walk([](func::FuncOp function) {
    if (isWrittenByTargets(function))
      return;
    function->removeAttr(dispatch::kHopperOnlyAttr);
    function->removeAttr(dispatch::kWarpDeviceAttr);
  });
}

/// The executable without its name.
std::string keyOf(hal::ExecutableSourceOp source) {
  dropTargetNotes(source);
  return replaceAll(textOf(source), source.getSymName(), "<name>");
}

class Merger {
public:
  Merger(ModuleOp module, ArrayRef<hal::ExecutableTargetAttr> kind) : module_(module), symbols_(module) {
    for (auto source : module.getOps<hal::ExecutableSourceOp>()) {
      known_.try_emplace(keyOf(source), source);
      addTargets(source, kind);
    }
    for (auto function : module.getOps<func::FuncOp>())
      functions_[function.getName()] = function;
  }

  LogicalResult add(ModuleOp from, ArrayRef<hal::ExecutableTargetAttr> kind) {
    if (failed(checkGlobals(from)))
      return failure();
    llvm::DenseMap<Attribute, SymbolRefAttr> meant; // entry points of `from`
    auto mean = [&](StringAttr name, hal::ExecutableSourceOp source, hal::ExecutableSourceOp known) {
      addTargets(known, kind);
      for (auto [old, now] : llvm::zip_equal(exportsOf(source), exportsOf(known)))
        meant[SymbolRefAttr::get(name, {FlatSymbolRefAttr::get(old)})] =
            SymbolRefAttr::get(known.getSymNameAttr(), {FlatSymbolRefAttr::get(now)});
    };
    SmallVector<hal::ExecutableSourceOp> own;
    for (auto source : from.getOps<hal::ExecutableSourceOp>()) {
      if (hal::ExecutableSourceOp known = known_.lookup(keyOf(source)))
        mean(source.getSymNameAttr(), source, known);
      else
        own.push_back(source);
    }
    for (hal::ExecutableSourceOp source : own) {
      const StringAttr name = source.getSymNameAttr();
      source->remove();
      source.setSymName(nameFor(name.getValue(), kind));
      symbols_.insert(source); // makes the name unique
      mean(name, source, source);
    }
    SmallVector<func::FuncOp> functions;
    for (auto function : from.getOps<func::FuncOp>())
      if (!function.isExternal() && (function.isPublic() || function->hasAttr(util::kInitializerAttr)))
        functions.push_back(function);
    bool isAnyOther = false;
    for (func::FuncOp function : functions) {
      function.walk([&](flow::DispatchOp dispatch) { launch(dispatch, meant); });
      func::FuncOp own = functions_.lookup(function.getName());
      isAnyOther |= !own || !areAlike(own, function);
    }
    if (!isAnyOther)
      return success();
    Builder b(module_.getContext());
    const Attribute targets = b.getArrayAttr(SmallVector<Attribute>(kind.begin(), kind.end()));
    for (func::FuncOp function : functions) {
      function->setAttr(kEditionOfAttr, function.getSymNameAttr());
      function->setAttr(kEditionTargetsAttr, targets);
      function->remove();
      function.setName((function.getName() + "_" + nameOf(kind)).str());
      symbols_.insert(function);
    }
    return success();
  }

  void finish(Attribute devices, size_t targetCount) {
    module_->setAttr(kDevicesAttr, devices);
    for (StringRef name : {StringRef(kOtherTargetsAttr), StringRef(dispatch::kHopperOnlyAttr),
                           StringRef(dispatch::kWarpDeviceAttr)}) // functions say it themselves
      module_->removeAttr(name);
    for (auto &[source, targets] : targetsOf_)
      if (targets.size() != targetCount && !source->getRegion(0).front().getOps<ModuleOp>().empty())
        source->setAttr(kSomeTargetsAttr,
                        ArrayAttr::get(module_.getContext(), SmallVector<Attribute>(targets.begin(), targets.end())));
  }

private:
  void addTargets(hal::ExecutableSourceOp source, ArrayRef<hal::ExecutableTargetAttr> kind) {
    for (hal::ExecutableTargetAttr target : kind)
      if (auto &targets = targetsOf_[source]; !llvm::is_contained(targets, target))
        targets.push_back(target);
  }

  /// Files that show the kernels of a target are called by executable and target: no name that has one already.
  std::string nameFor(StringRef name, ArrayRef<hal::ExecutableTargetAttr> kind) {
    auto isTaken = [&](StringRef candidate) {
      Operation *other = symbols_.lookup(candidate);
      return other && llvm::is_contained(targetsOf_.lookup(other), kind.front());
    };
    std::string candidate = name.str();
    for (unsigned number = 1; isTaken(candidate); ++number)
      candidate = (name + "_" + Twine(number)).str();
    return candidate + "_" + nameOf(kind);
  }

  /// They are the program's, whichever edition it runs.
  LogicalResult checkGlobals(ModuleOp from) {
    if (llvm::equal(module_.getOps<util::GlobalOp>(), from.getOps<util::GlobalOp>(),
                    [](util::GlobalOp a, util::GlobalOp b) { return areAlike(a, b); }))
      return success();
    return module_.emitError("globals differ between the targets of the program, which is a bug in the compiler");
  }

  static bool areAlike(Operation *a, Operation *b) {
    return OperationEquivalence::isEquivalentTo(a, b, OperationEquivalence::IgnoreLocations);
  }

  static SmallVector<StringAttr> exportsOf(hal::ExecutableSourceOp source) {
    return llvm::map_to_vector(source.getBody().getOps<hal::ExecutableExportOp>(),
                               [](hal::ExecutableExportOp op) { return op.getSymNameAttr(); });
  }

  static void launch(flow::DispatchOp dispatch, const llvm::DenseMap<Attribute, SymbolRefAttr> &meant) {
    const auto entryPoints = llvm::map_to_vector(dispatch.getEntryPoints(), [&](Attribute symbol) -> Attribute {
      const SymbolRefAttr now = meant.lookup(symbol);
      return now ? Attribute(now) : symbol;
    });
    dispatch.setEntryPointsAttr(ArrayAttr::get(dispatch.getContext(), entryPoints));
  }

  ModuleOp module_;
  SymbolTable symbols_;
  llvm::StringMap<hal::ExecutableSourceOp> known_; // by keyOf()
  llvm::MapVector<Operation *, TargetKind> targetsOf_;
  llvm::StringMap<func::FuncOp> functions_;
};

} // namespace

LogicalResult mergeEditions(ModuleOp module, ArrayRef<hal::ExecutableTargetAttr> kind, MutableArrayRef<Planned> others,
                            Attribute devices) {
  Merger merger(module, kind);
  size_t targetCount = kind.size();
  for (Planned &each : others) {
    if (failed(merger.add(*each.module, each.kind)))
      return failure();
    targetCount += each.kind.size();
  }
  merger.finish(devices, targetCount);
  return success();
}

} // namespace tenon::compiler::editions
