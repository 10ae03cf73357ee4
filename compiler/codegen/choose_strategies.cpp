// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-choose-strategies (Passes.td): which strategy computes each kernel that the compiler formed, and how many
// blocks its launches take.
#include "compiler/codegen/Passes.h"
#include "compiler/codegen/along/lines/lines.h"
#include "compiler/codegen/along/write_along.h"
#include "compiler/codegen/contraction/product.h"
#include "compiler/codegen/decisions/build_count.h"
#include "compiler/codegen/decisions/choose_tiles.h"
#include "compiler/codegen/decisions/early_launches.h"
#include "compiler/codegen/decisions/narrow_softmax.h"
#include "compiler/codegen/decisions/short_keys.h"
#include "compiler/codegen/decisions/targets.h"
#include "compiler/codegen/kernel/reciprocal.h"
#include "compiler/codegen/strategies/products/attention.h"
#include "compiler/codegen/strategies/strategies.h"
#include "compiler/dialect/donation.h"
#include "compiler/dialect/editions.h"
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/hal/default_targets.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/tile_factors.h"
#include "compiler/dispatch/analysis/products/warp_tiles.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tenon::compiler::codegen {

#define GEN_PASS_DEF_CHOOSESTRATEGIES
#include "compiler/codegen/Passes.h.inc"

namespace {

/// Of scratch memory, which the runtime allocates.
constexpr uint32_t kScratchAlignment = 16;

/// One thread for each element of a result: what is left to kernels that no strategy takes.
SmallVector<GridFactor> elementsGrid(const KernelFunction &kernel, const GroupShape &shape) {
  return {{extentsOf(shape.parallelAxes()), int64_t(kernel.threads) * kernel.elementsPerThread}};
}

/// The symbol that dispatches of a kernel name.
SymbolRefAttr entryPointOf(hal::ExecutableSourceOp source, hal::ExecutableExportOp exported) {
  return SymbolRefAttr::get(source.getSymNameAttr(), {FlatSymbolRefAttr::get(exported.getSymNameAttr())});
}

/// A program whose function takes what the kernel takes, and launches it once.
std::string programOf(hal::ExecutableSourceOp source, hal::ExecutableExportOp exported, func::FuncOp kernel) {
  OwningOpRef<ModuleOp> program = ModuleOp::create(source.getLoc());
  OpBuilder b(program->getBodyRegion());
  b.clone(*source);
  const Location loc = kernel.getLoc();
  auto function = func::FuncOp::create(b, loc, kTunedFunction, kernel.getFunctionType());
  Block *body = function.addEntryBlock();
  b.setInsertionPointToStart(body);
  auto sizesOf = [&](Type type, Attribute positions, SmallVectorImpl<Value> &sizes) {
    if (auto dims = dyn_cast_or_null<DenseI64ArrayAttr>(positions); dims && isa<RankedTensorType>(type))
      for (int64_t position : dims.asArrayRef())
        sizes.push_back(arith::IndexCastOp::create(b, loc, b.getIndexType(), body->getArgument(position)));
  };
  SmallVector<Value> workload, argumentDims, resultDims;
  for (unsigned size = 0; size + 1 < exported.getWorkgroupCount().getNumArguments(); ++size)
    workload.push_back(arith::IndexCastOp::create(b, loc, b.getIndexType(), body->getArgument(size)));
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes()))
    sizesOf(type, kernel.getArgAttr(index, dispatch::kDimsAttr), argumentDims);
  for (auto [index, type] : llvm::enumerate(kernel.getResultTypes()))
    sizesOf(type, kernel.getResultAttr(index, dispatch::kDimsAttr), resultDims);
  auto dispatch = flow::DispatchOp::create(b, loc, entryPointOf(source, exported), workload, kernel.getResultTypes(),
                                           resultDims, body->getArguments(), argumentDims);
  func::ReturnOp::create(b, loc, dispatch.getResults());
  std::string text;
  llvm::raw_string_ostream stream(text);
  program->print(stream);
  return text;
}

struct ChooseStrategies : impl::ChooseStrategiesBase<ChooseStrategies> {
  using ChooseStrategiesBase::ChooseStrategiesBase;
  ChooseStrategies(ChooseStrategiesOptions options, std::vector<TunableContraction> *found)
      : ChooseStrategiesBase(std::move(options)), found_(found) {}

  void runOnOperation() override {
    FailureOr<SmallVector<Target>> targets = findTargets(getOperation());
    if (failed(targets))
      return signalPassFailure();
    auto takesMaps = [](const Target &target) { return target.arch == kHopper; };
    hasMapTarget_ = llvm::any_of(*targets, takesMaps);
    hasOnlyMapTargets_ = hasMapTarget_ && llvm::all_of(*targets, takesMaps);
    warpDevice_ =
        dispatch::WarpDevice::of(llvm::map_to_vector(*targets, [](const Target &target) { return target.arch; }));
    TileChooser tiles(&getContext(), *targets, print, found_ != nullptr);
    if (!tuning.empty() && failed(tiles.read(tuning, getOperation().getLoc())))
      return signalPassFailure();
    tiles_ = &tiles;
    getOperation().walk([&](flow::DispatchOp op) { dispatchesOf_[op.entryPoint()].push_back(op); });
    for (auto source : getOperation().getOps<hal::ExecutableSourceOp>())
      if (source->hasAttr(dispatch::kGeneratedAttr))
        for (auto module : source.getBody().getOps<ModuleOp>())
          for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
            // What is chosen already stays: a module that was written out here, and perhaps changed.
            if (!function->hasAttr(dispatch::kStrategyAttr) && failed(choose(source, function)))
              signalPassFailure();
    SmallVector<hal::ExecutableTargetAttr> others;
    if (auto said = getOperation()->getAttrOfType<ArrayAttr>(kOtherTargetsAttr))
      llvm::append_range(others, said.getAsRange<hal::ExecutableTargetAttr>());
    tiles.finish(others);
    tiles_ = nullptr;
    dispatchesOf_.clear();
    chooseEarlyLaunches(getOperation());
  }

private:
  LogicalResult choose(hal::ExecutableSourceOp source, func::FuncOp function) {
    OpBuilder b(&getContext());
    if (tf32)
      function->setAttr(dispatch::kTf32Attr, b.getUnitAttr());
    if (narrowSums)
      function->setAttr(kNarrowSumsAttr, b.getUnitAttr());
    if (hasOnlyMapTargets_)
      function->setAttr(dispatch::kHopperOnlyAttr, b.getUnitAttr());
    function->removeAttr(dispatch::kWarpDeviceAttr);
    if (warpDevice_)
      function->setAttr(dispatch::kWarpDeviceAttr, warpDevice_->attribute(&getContext()));
    FailureOr<KernelFunction> kernel = KernelFunction::read(function);
    if (failed(kernel))
      return failure();
    hal::ExecutableExportOp exported;
    for (auto each : source.getBody().getOps<hal::ExecutableExportOp>())
      if (each.getSymName() == function.getName())
        exported = each;
    if (!exported)
      return function.emitError() << "no export offers this kernel function";
    if (kernel->along.op) {
      AlongPlans plans = alongStrategyOf(*kernel).plans(*kernel);
      for (const Scratch &scratch : plans.scratch)
        addScratch(exported, function, scratch);
      addVariants(source, exported, function, plans.kernels, {});
      return success();
    }
    if (narrowSoftmax(*kernel) && failed(kernel = KernelFunction::read(function)))
      return failure();
    const GroupShape shape = GroupShape::of(*kernel);
    auto [taking, plans] = plansOf(*kernel, shape);
    if (!plans.empty()) {
      FailureOr<std::vector<Plan>> chosen = tiles_->choose(*kernel, shape, *taking, std::move(plans));
      if (failed(chosen))
        return failure();
      if (found_ && tiles_->last()) {
        found_->push_back(*tiles_->last());
        found_->back().program = programOf(source, exported, function);
      }
      if (taking->dividesBySizes())
        addReciprocals(exported, *kernel, shape, taking->asksForSmall(*kernel, shape),
                       dispatchesOf_[entryPointOf(source, exported)]);
      for (const Scratch &scratch : chosen->front().scratch)
        addScratch(exported, function, scratch);
      const ShortForm shorter = taking->dividesBySizes() ? shortFormOf(function, *chosen) : ShortForm();
      addVariants(source, exported, function, *chosen, shorter);
      return success();
    }
    if (kernel->ops.size() > 1)
      return function.emitError() << "no strategy computes this group of operations";
    function->setAttr(dispatch::kElementsPerThreadAttr, b.getI64IntegerAttr(1));
    exported.setWorkgroupSizeAttr(b.getIndexArrayAttr({kernel->threads, 1, 1}));
    buildCount(exported, function, elementsGrid(*kernel, shape), {});
    return success();
  }

  /// The first strategy that takes the kernel, and its plans.
  static std::pair<const Strategy *, std::vector<Plan>> plansOf(const KernelFunction &kernel, const GroupShape &shape) {
    for (const Strategy *strategy : strategies()) {
      if (shape.gatesAxis && strategy->name() != kBySkinny) // the one that has all gates of a unit in a thread
        continue;
      if (std::vector<Plan> plans = strategy->plans(kernel, shape); !plans.empty())
        return {strategy, std::move(plans)};
    }
    return {};
  }

  /// A copy of a function that computes the same of rows that are not too long for it, with plans of its own.
  struct ShortForm {
    OwningOpRef<func::FuncOp> function; // null: there is none
    std::vector<Plan> plans;
  };

  /// Leaves the longer rows to `plans`.
  static ShortForm shortFormOf(func::FuncOp function, std::vector<Plan> &plans) {
    ShortForm form{function.clone(), {}};
    const std::optional<int64_t> longest = shortenKeys(*form.function);
    if (!longest)
      return {};
    FailureOr<KernelFunction> kernel = KernelFunction::read(*form.function);
    if (failed(kernel))
      return {};
    const GroupShape shape = GroupShape::of(*kernel);
    const SmallVector<Extent> length = extentsOf(shape.reducedAxes());
    auto isOfLength = [&](const Guard &guard) {
      return llvm::equal(guard.length, length, [](const Extent &a, const Extent &b) {
        return a.size == b.size && (!a.value == !b.value) && (!a.value || argumentOf(a.value) == argumentOf(b.value));
      });
    };
    const Strategy *taking = nullptr;
    std::tie(taking, form.plans) = plansOf(*kernel, shape);
    if (!taking || !taking->dividesBySizes() || !form.plans.front().scratch.empty())
      return {};
    auto isLonger = [&](const Guard &guard) { return isOfLength(guard) && guard.above >= *longest; };
    auto isShorter = [&](const Guard &guard) { return isOfLength(guard) && guard.most && *guard.most <= *longest; };
    if (llvm::all_of(plans, [&](const Plan &plan) { return llvm::any_of(plan.guards, isShorter); }))
      return {}; // all are for short rows: none would be left for the function
    llvm::erase_if(form.plans, [&](const Plan &plan) { return llvm::any_of(plan.guards, isLonger); });
    llvm::erase_if(plans, [&](const Plan &plan) { return llvm::any_of(plan.guards, isShorter); });
    const bool takesEmpty = llvm::any_of(form.plans, [&](const Plan &plan) {
      return llvm::all_of(plan.guards, [&](const Guard &guard) { return !isOfLength(guard) || guard.orEmpty; });
    });
    for (Plan &plan : form.plans)
      plan.guards.push_back(Guard{.length = length, .most = longest, .orEmpty = takesEmpty});
    for (Plan &plan : plans)
      plan.guards.push_back(Guard{.length = length, .above = *longest, .orEmpty = !takesEmpty});
    return form;
  }

  /// Memory that the kernels of an operation share is one more result, which nobody reads.
  void addScratch(hal::ExecutableExportOp exported, func::FuncOp function, const Scratch &scratch) {
    Operation *terminator = function.front().getTerminator();
    OpBuilder b(terminator);
    const std::optional<int64_t> known = knownProduct(scratch.extents);
    const int64_t size =
        known ? int64_t(llvm::divideCeil(uint64_t(*known), uint64_t(scratch.share))) : ShapedType::kDynamic;
    auto type = RankedTensorType::get({size}, scratch.element);
    SmallVector<Value> sizes;
    if (!known)
      sizes.push_back(sizeOf(b, function.getLoc(), scratch, [&](Value size) -> Value {
        return size.getType().isIndex() ? size
                                        : arith::IndexCastOp::create(b, function.getLoc(), b.getIndexType(), size);
      }));
    terminator->insertOperands(terminator->getNumOperands(),
                               tensor::EmptyOp::create(b, function.getLoc(), type, sizes).getResult());
    (void)function.insertResult(function.getNumResults(), type, {});
    auto layout = exported.getLayout();
    SmallVector<hal::PipelineBindingAttr> bindings(layout.getBindings());
    const hal::PipelineBindingAttr result = bindings.back();
    bindings.push_back(hal::PipelineBindingAttr::get(&getContext(), result.getKind(), result.getReadOnly(),
                                                     result.getIndirect(), kScratchAlignment));
    exported.setLayoutAttr(hal::PipelineLayoutAttr::get(&getContext(), layout.getConstantCount(),
                                                        layout.getConstantTypes(), bindings, /*indirect=*/false, {}));
    for (flow::DispatchOp &dispatch :
         dispatchesOf_[entryPointOf(exported->getParentOfType<hal::ExecutableSourceOp>(), exported)])
      dispatch = withScratch(dispatch, type, scratch);
  }

  /// Elements of scratch memory; `read` gives a size that is not known.
  static Value sizeOf(OpBuilder &b, Location loc, const Scratch &scratch, function_ref<Value(Value)> read) {
    auto number = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
    Value size = number(1);
    for (const Extent &extent : scratch.extents)
      size = b.createOrFold<arith::MulIOp>(loc, size, extent.value ? read(extent.value) : number(extent.size));
    if (scratch.share != 1)
      size = b.createOrFold<arith::DivUIOp>(loc, b.createOrFold<arith::AddIOp>(loc, size, number(scratch.share - 1)),
                                            number(scratch.share));
    if (scratch.most)
      size = b.createOrFold<arith::MinSIOp>(loc, size, number(*scratch.most));
    return size;
  }

  static flow::DispatchOp withScratch(flow::DispatchOp before, RankedTensorType type, const Scratch &scratch) {
    OpBuilder b(before);
    SmallVector<Type> types = llvm::to_vector_of<Type>(before.getResultTypes());
    types.push_back(type);
    SmallVector<Value> dims = llvm::to_vector(before.getResultDims());
    if (!type.hasStaticShape()) {
      dims.push_back(
          sizeOf(b, before.getLoc(), scratch, [&](Value extent) { return before.getWorkload()[*argumentOf(extent)]; }));
    }
    SmallVector<int64_t> tied(before.getTiedOperands().value_or(ArrayRef<int64_t>()));
    if (!tied.empty())
      tied.push_back(-1);
    auto after = flow::DispatchOp::create(b, before.getLoc(), before.entryPoint(), before.getWorkload(), types, dims,
                                          before.getArguments(), before.getArgumentDims(), tied);
    after->setDiscardableAttrs(before->getDiscardableAttrDictionary());
    for (auto [old, replacement] : llvm::zip(before.getResults(), after.getResults()))
      old.replaceAllUsesWith(replacement);
    before.erase();
    return after;
  }

  /// The first plan is the kernel's; each other one is a copy of it, or of its short form, that writes over the same
  /// results.
  void addVariants(hal::ExecutableSourceOp source, hal::ExecutableExportOp exported, func::FuncOp function,
                   ArrayRef<Plan> plansOfFunction, const ShortForm &shorter) {
    OpBuilder b(&getContext());
    const SymbolRefAttr entryPoint = entryPointOf(source, exported);
    SmallVector<std::pair<func::FuncOp, hal::ExecutableExportOp>> variants = {{function, exported}};
    std::vector<Plan> plans(plansOfFunction.begin(), plansOfFunction.end());
    llvm::append_range(plans, shorter.plans);
    for (size_t i = 1; i < plans.size(); ++i) {
      auto copy = cast<hal::ExecutableExportOp>(exported->clone());
      const std::string name = (exported.getSymName() + "_" + Twine(i)).str();
      copy.setSymName(name);
      copy.setOrdinalAttr(IntegerAttr::get(IndexType::get(&getContext()), int64_t(i)));
      exported->getBlock()->getOperations().insertAfter(variants.back().second->getIterator(), copy);
      func::FuncOp form = i < plansOfFunction.size() ? function : func::FuncOp(*shorter.function);
      variants.push_back({writingOver(form, name, *function->getBlock()), copy});
      for (flow::DispatchOp &dispatch : dispatchesOf_[entryPoint]) {
        flow::DispatchOp before = dispatch;
        dispatch = launchAfter(before, name);
        if (Attribute inPlace = before->getAttr(kInPlaceAttr))
          dispatch->setAttr(kInPlaceAttr, inPlace);
        if (plans[i - 1].copiesStart)
          before->setAttr(kCopiesStartAttr, b.getUnitAttr());
      }
    }
    for (auto [variant, plan] : llvm::zip_equal(variants, plans)) {
      variant.first->setAttr(dispatch::kStrategyAttr, plan.attribute(&getContext()));
      variant.second.setWorkgroupSizeAttr(b.getIndexArrayAttr({plan.threads, 1, 1}));
      if (plan.dynamicSharedBytes != 0)
        variant.second.setWorkgroupLocalMemoryAttr(b.getIndexAttr(plan.dynamicSharedBytes));
      if (!plan.tensorMaps.empty() && hasMapTarget_)
        addTensorMaps(variant.second, variant.first, plan.tensorMaps);
      buildCount(variant.second, variant.first, plan.grid, plan.guards);
    }
  }

  /// Tensor maps are constants behind the others, which dispatches pass nothing for.
  void addTensorMaps(hal::ExecutableExportOp exported, func::FuncOp function, ArrayRef<Type> maps) {
    auto layout = exported.getLayout();
    SmallVector<Type> constants(layout.getConstantTypes());
    assert(constants.size() == layout.getConstantCount() && "kernels that are formed have constants with types");
    llvm::append_range(constants, maps);
    layout = hal::PipelineLayoutAttr::get(&getContext(), constants.size(), constants, layout.getBindings(),
                                          /*indirect=*/false, {});
    exported.setLayoutAttr(layout);
    function->setAttr(dispatch::kLayoutAttr, layout);
  }

  /// A copy of the function whose results take the memory of arguments behind the others.
  func::FuncOp writingOver(func::FuncOp function, StringRef name, Block &block) {
    OpBuilder b(&getContext());
    func::FuncOp copy = function.clone();
    copy.setName(name);
    for (unsigned result = 0; result < function.getNumResults(); ++result) {
      const unsigned argument = copy.getNumArguments();
      SmallVector<NamedAttribute> attributes;
      if (Attribute dims = function.getResultAttr(result, dispatch::kDimsAttr))
        attributes.push_back(b.getNamedAttr(dispatch::kDimsAttr, dims));
      (void)copy.insertArgument(argument, function.getResultTypes()[result], b.getDictionaryAttr(attributes),
                                function.getLoc());
      copy.setResultAttr(result, dispatch::kTiedAttr, b.getI64IntegerAttr(argument));
    }
    block.push_back(copy);
    return copy;
  }

  /// A dispatch of another variant into the results of `before`, which all others read from it then.
  flow::DispatchOp launchAfter(flow::DispatchOp before, StringRef name) {
    OpBuilder b(before);
    b.setInsertionPointAfter(before);
    SymbolRefAttr first = before.entryPoint();
    auto entryPoint = SymbolRefAttr::get(first.getRootReference(), {FlatSymbolRefAttr::get(b.getContext(), name)});
    SmallVector<Value> arguments = llvm::to_vector(before.getArguments());
    SmallVector<Value> dims = llvm::to_vector(before.getArgumentDims());
    for (const size_t own = ownArguments(before); arguments.size() > own; arguments.pop_back())
      dims.truncate(dims.size() - before.argumentDims(unsigned(arguments.size() - 1)).size());
    SmallVector<int64_t> tied;
    for (Value result : before.getResults()) {
      tied.push_back(arguments.size());
      arguments.push_back(result);
    }
    llvm::append_range(dims, before.getResultDims());
    auto after = flow::DispatchOp::create(b, before.getLoc(), entryPoint, before.getWorkload(), before.getResultTypes(),
                                          before.getResultDims(), arguments, dims, tied);
    for (auto [old, replacement] : llvm::zip_equal(before.getResults(), after.getResults()))
      old.replaceAllUsesExcept(replacement, after);
    return after;
  }

  llvm::DenseMap<Attribute, SmallVector<flow::DispatchOp>> dispatchesOf_; // by entry point
  bool hasMapTarget_ = false; // code is made for a target whose kernels take tensor maps
  bool hasOnlyMapTargets_ = false;
  std::optional<dispatch::WarpDevice> warpDevice_;
  TileChooser *tiles_ = nullptr; // while it runs
  std::vector<TunableContraction> *found_ = nullptr;
};

} // namespace

std::unique_ptr<Pass> createListingChooseStrategies(ChooseStrategiesOptions options,
                                                    std::vector<TunableContraction> *found) {
  return std::make_unique<ChooseStrategies>(std::move(options), found);
}

} // namespace tenon::compiler::codegen
