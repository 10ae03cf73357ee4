// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-write-in-place (Passes.td): which results of launches take the memory of what they are computed from.
#include "compiler/dialect/donation.h"
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dispatch/Passes.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/in_place/overwriting.h"
#include "compiler/dispatch/in_place/ownership.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

#define GEN_PASS_DEF_WRITEINPLACE
#include "compiler/dispatch/Passes.h.inc"

namespace {

/// What became of an argument that is given up.
struct Donation {
  Operation *writer = nullptr;                         // the first launch that writes over it
  SmallVector<std::pair<Operation *, std::string>> no; // launches that might, and why they do not
};

struct WriteInPlace : impl::WriteInPlaceBase<WriteInPlace> {
  using WriteInPlaceBase::WriteInPlaceBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    symbols_ = &symbols;
    findKernels();
    bool good = true;
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (!function.isExternal())
        good &= succeeded(runOn(function));
    kernels_.clear();
    knowing_.clear();
    if (!good)
      signalPassFailure();
  }

private:
  void findKernels() {
    for (auto source : getOperation().getOps<hal::ExecutableSourceOp>())
      if (source->hasAttr(kGeneratedAttr))
        for (auto exported : source.getBody().getOps<hal::ExecutableExportOp>())
          for (auto module : source.getBody().getOps<ModuleOp>())
            if (auto function = module.lookupSymbol<func::FuncOp>(exported.getSymName()))
              kernels_[entryPointOf(source, exported)] = {source, function};
    getOperation().walk([&](flow::DispatchOp launch) { ++launches_[launch.entryPoint()]; });
  }

  static SymbolRefAttr entryPointOf(hal::ExecutableSourceOp source, hal::ExecutableExportOp exported) {
    return SymbolRefAttr::get(source.getSymNameAttr(), {FlatSymbolRefAttr::get(exported.getSymNameAttr())});
  }

  LogicalResult runOn(func::FuncOp function) {
    donations_.clear();
    handedTo_.clear();
    for (BlockArgument argument : function.getArguments())
      if (isGivenUp(argument)) {
        donations_[argument] = {};
        followOn(argument, argument);
      }
    if (failed(placeAssignments(function)))
      return failure();
    const Ownership ownership(function);
    for (Block &block : function.getBody())
      for (auto launch : llvm::to_vector(block.getOps<flow::DispatchOp>()))
        chooseFor(launch, ownership);
    for (Block &block : function.getBody())
      for (auto alias : block.getOps<hal::TensorAliasOp>())
        if (std::string why = ownership.whyNotAtEndOver(alias.getStorage(), alias); !why.empty())
          return alias.emitOpError() << "assigns to an argument, and " << why << ", which is not supported";
    if (print)
      printDonations(function);
    return success();
  }

  /// Parameters of blocks that may be the argument.
  void followOn(Value argument, Value name) {
    for (OpOperand &use : name.getUses()) {
      Operation *user = use.getOwner();
      if (isRename(user) && use.getOperandNumber() < user->getNumResults())
        followOn(argument, user->getResult(use.getOperandNumber()));
      auto branch = dyn_cast<BranchOpInterface>(user);
      std::optional<BlockArgument> parameter =
          branch ? branch.getSuccessorBlockArgument(use.getOperandNumber()) : std::nullopt;
      if (parameter && handedTo_.insert({*parameter, argument}).second)
        followOn(argument, *parameter);
    }
  }

  /// What assigns to arguments stands at the end of its block: whatever reads them there reads what they were.
  static LogicalResult placeAssignments(func::FuncOp function) {
    llvm::DenseSet<Value> assigned;
    for (Block &block : function.getBody())
      for (auto alias : llvm::to_vector(block.getOps<hal::TensorAliasOp>())) {
        auto argument = dyn_cast<BlockArgument>(alias.getStorage());
        if (!argument || !argument.getOwner()->isEntryBlock())
          return alias.emitOpError() << "stores to what is no argument of the function";
        if (!assigned.insert(argument).second)
          return alias.emitOpError() << "stores to an argument that another one stores to";
        alias->moveBefore(block.getTerminator());
      }
    return success();
  }

  void chooseFor(flow::DispatchOp launch, const Ownership &ownership) {
    SmallVector<int64_t> over(launch.getNumResults(), -1);
    for (unsigned result = 0; result < launch.getNumResults(); ++result)
      for (unsigned operand : launch.tensorArguments()) {
        const Overwriting how = howOver(launch, result, operand);
        if (how == Overwriting::No || llvm::is_contained(over, int64_t(operand)) ||
            !takeOver(launch, operand, how, ownership))
          continue;
        over[result] = operand;
        if (how == Overwriting::IfItKnows)
          tell(launch, operand);
        break;
      }
    if (llvm::any_of(over, [](int64_t operand) { return operand >= 0; }))
      launch->setAttr(kInPlaceAttr, DenseI64ArrayAttr::get(&getContext(), over));
  }

  Overwriting howOver(flow::DispatchOp launch, unsigned result, unsigned operand) const {
    Value tensor = launch.getArguments()[operand];
    const bool isHanded = isa<BlockArgument>(withoutRenames(tensor));
    auto kernel = kernels_.find(launch.entryPoint());
    // Results that are tied to memory of the call's own are told apart when commands are made (host/dispatch_lowering).
    if (std::optional<unsigned> tied = launch.getTiedOperandIndex(result))
      return tied == operand && isHanded && kernel == kernels_.end() ? Overwriting::AsItIs : Overwriting::No;
    func::FuncOp formed = kernel == kernels_.end() ? func::FuncOp() : kernel->second.function;
    if (!formed || operand >= formed.getNumArguments() || result >= formed.getNumResults())
      return Overwriting::No;
    const Overwriting how = overwrites(formed, result, operand);
    // Of the call's own memory there is enough for another tensor.
    return how == Overwriting::IfItKnows && !isHanded ? Overwriting::No : how;
  }

  bool takeOver(flow::DispatchOp launch, unsigned operand, Overwriting how, const Ownership &ownership) {
    Value tensor = launch.getArguments()[operand];
    const Value root = withoutRenames(tensor);
    auto handed = handedTo_.find(root);
    auto donation = donations_.find(handed == handedTo_.end() ? root : handed->second);
    if (donation != donations_.end())
      delay(launch, root);
    const auto readers = llvm::count_if(
        launch.tensorArguments(), [&](unsigned other) { return withoutRenames(launch.getArguments()[other]) == root; });
    std::string why = readers > 1 ? "it reads it twice" : ownership.whyNotOver(tensor, launch);
    if (donation == donations_.end())
      return why.empty();
    if (!why.empty())
      donation->second.no.push_back({launch, why});
    else if (!donation->second.writer)
      donation->second.writer = launch;
    return why.empty();
  }

  /// Whether `launch` writes over something that `reader` reads, which then has to stay in front of it.
  static bool writesOver(Operation *launch, flow::DispatchOp reader) {
    auto over = launch->getAttrOfType<DenseI64ArrayAttr>(kInPlaceAttr);
    if (!over)
      return false;
    auto writer = cast<flow::DispatchOp>(launch);
    return llvm::any_of(over.asArrayRef(), [&](int64_t operand) {
      return operand >= 0 && llvm::any_of(reader.tensorArguments(), [&](unsigned read) {
               return withoutRenames(reader.getArguments()[read]) ==
                      withoutRenames(writer.getArguments()[unsigned(operand)]);
             });
    });
  }

  /// Puts a launch behind those that read what it might write over, if nothing up to there wants its results, or writes
  /// over what it reads.
  static void delay(flow::DispatchOp launch, Value root) {
    Operation *last = launch;
    for (Operation *behind = launch->getNextNode(); behind && !behind->hasTrait<OpTrait::IsTerminator>();
         behind = behind->getNextNode()) {
      const bool reads = llvm::any_of(behind->getOperands(), [&](Value operand) {
        return isa<RankedTensorType>(operand.getType()) && withoutRenames(operand) == root;
      });
      if (reads && !isRename(behind) && !isa<hal::TensorAliasOp, tensor::DimOp>(behind))
        last = behind;
    }
    for (Operation *passed = launch; passed != last; passed = passed->getNextNode())
      if (writesOver(passed->getNextNode(), launch))
        return;
    const bool isFree = llvm::none_of(launch->getUsers(), [&](Operation *user) {
      Operation *here = launch->getBlock()->findAncestorOpInBlock(*user);
      return here && (here == last || here->isBeforeInBlock(last));
    });
    if (last != launch && isFree)
      launch->moveAfter(last);
  }

  /// Has the launch's kernel know that a result lies where it reads: the kernel itself, or a copy where others launch
  /// it.
  void tell(flow::DispatchOp launch, unsigned operand) {
    const SymbolRefAttr before = launch.entryPoint();
    SymbolRefAttr &knowing = knowing_[{before, operand}];
    if (!knowing) {
      FormedKernel kernel = kernels_[before];
      knowing = before;
      if (launches_[before] > 1) {
        kernel = copyOf(kernel);
        knowing = SymbolRefAttr::get(kernel.source.getSymNameAttr(), {FlatSymbolRefAttr::get(kernel.function)});
        kernels_[knowing] = kernel;
      }
      kernel.function.setArgAttr(operand, kOverwrittenAttr, UnitAttr::get(&getContext()));
    }
    if (knowing == before)
      return;
    --launches_[before];
    ++launches_[knowing];
    launch.setEntryPointsAttr(ArrayAttr::get(&getContext(), {knowing}));
  }

  FormedKernel copyOf(FormedKernel kernel) {
    auto source = cast<hal::ExecutableSourceOp>(kernel.source->clone());
    const std::string name = kernel.function.getName().str();
    const StringAttr unique = symbols_->insert(source, std::next(Block::iterator(kernel.source)));
    for (auto exported : source.getBody().getOps<hal::ExecutableExportOp>())
      if (exported.getSymName() == name)
        exported.setSymNameAttr(unique);
    for (auto module : source.getBody().getOps<ModuleOp>())
      if (auto function = module.lookupSymbol<func::FuncOp>(name)) {
        function.setName(unique);
        return {source, function};
      }
    llvm_unreachable("a copy has what it is a copy of");
  }

  /// --print-dispatches: what became of the arguments that are given up.
  void printDonations(func::FuncOp function) {
    for (auto &[root, donation] : donations_) {
      const unsigned number = cast<BlockArgument>(root).getArgNumber();
      const Location where = donation.writer ? donation.writer->getLoc() : function.getLoc();
      InFlightDiagnostic remark = emitRemark(where) << "argument " << number;
      if (donation.writer)
        remark << " is given up, and written over here";
      else if (donation.no.empty())
        remark << " is given up, but no kernel puts elements into it or computes each of its elements anew";
      else
        remark << " is given up, but not written over";
      for (auto &[launch, why] : donation.no)
        remark.attachNote(launch->getLoc()) << "a result that is computed from it here has memory of its own: " << why;
    }
  }

  SymbolTable *symbols_ = nullptr; // while it runs
  llvm::DenseMap<Attribute, FormedKernel> kernels_;
  llvm::DenseMap<Attribute, unsigned> launches_;
  llvm::DenseMap<std::pair<Attribute, unsigned>, SymbolRefAttr> knowing_;
  llvm::MapVector<Value, Donation> donations_;
  llvm::DenseMap<Value, Value> handedTo_; // the argument that a parameter of a block may be
};

} // namespace

} // namespace tenon::compiler::dispatch
