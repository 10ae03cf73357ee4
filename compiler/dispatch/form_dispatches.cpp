// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-form-dispatches (Passes.td): each group of linalg operations of a host function is outlined, wrapped into an
// executable and replaced by a dispatch of it.
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dialect/tile_pins.h"
#include "compiler/dispatch/Passes.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/experts/route_products.h"
#include "compiler/dispatch/forming/form_groups.h"
#include "compiler/dispatch/forming/recompute.h"
#include "compiler/dispatch/forming/whole_or_parts.h"
#include "compiler/dispatch/host_operations.h"
#include "compiler/dispatch/log_sum.h"
#include "compiler/dispatch/open_softmax.h"
#include "compiler/dispatch/outline_along.h"
#include "compiler/dispatch/outline_kernel.h"
#include "compiler/dispatch/prepare/choice_keys.h"
#include "compiler/dispatch/prepare/equal_values.h"
#include "compiler/dispatch/prepare/hoist_vectors.h"
#include "compiler/dispatch/prepare/narrow_indices.h"
#include "compiler/dispatch/prepare/prepare.h"
#include "compiler/dispatch/sorted_scatters.h"
#include "compiler/dispatch/splits/split_reductions.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

#define GEN_PASS_DEF_FORMDISPATCHES
#include "compiler/dispatch/Passes.h.inc"

namespace {

constexpr StringLiteral kPlaceholderName = "kernel";

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

/// A name that is a symbol in MLIR and an identifier in PTX.
std::string kernelName(StringRef function, unsigned number) {
  std::string name;
  for (char c : function)
    name += llvm::isAlnum(c) || c == '_' || c == '$' ? c : '_';
  if (name.empty() || llvm::isDigit(name.front()))
    name.insert(0, "_");
  return name + "_dispatch_" + std::to_string(number);
}

hal::PipelineLayoutAttr layoutOf(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  SmallVector<Type> constants;
  SmallVector<hal::PipelineBindingAttr> bindings;
  auto addBinding = [&](bool readOnly) {
    bindings.push_back(hal::PipelineBindingAttr::get(context, abi::BindingKind::StorageBuffer, readOnly,
                                                     /*indirect=*/false, /*alignment=*/0));
  };
  for (Type type : kernel.getArgumentTypes()) {
    if (isa<RankedTensorType>(type))
      addBinding(/*readOnly=*/true);
    else
      constants.push_back(type);
  }
  for (unsigned result = 0; result < kernel.getNumResults(); ++result)
    addBinding(/*readOnly=*/false);
  return hal::PipelineLayoutAttr::get(context, constants.size(), constants, bindings, /*indirect=*/false, {});
}

/// count(%device, %sizes...) -> (1, 1, 1): a strategy says how many there are (codegen/choose_strategies.cpp).
void buildCount(Region &region, Location loc, size_t sizes) {
  OpBuilder b(region.getContext());
  Block *block = b.createBlock(&region);
  block->addArgument(hal::DeviceType::get(b.getContext()), loc);
  for (size_t i = 0; i < sizes; ++i)
    block->addArgument(b.getIndexType(), loc);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  hal::ReturnOp::create(b, loc, ValueRange{one, one, one});
}

/// --print-dispatches: what a kernel stores for another, and why the two are not one.
void printBoundaries(ArrayRef<Boundary> boundaries) {
  for (const Boundary &boundary : boundaries) {
    auto remark = boundary.consumer->emitRemark() << "another kernel computes what this reads: " << boundary.reason;
    remark.attachNote(boundary.producer->getLoc()) << "it is computed here";
  }
}

struct FormDispatches : impl::FormDispatchesBase<FormDispatches> {
  using FormDispatchesBase::FormDispatchesBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    llvm::StringMap<std::string> known; // text of a kernel -> its executable
    bool good = true;
    for (func::FuncOp function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (function.isExternal())
        continue;
      moveScalarsToKernels(function);
      good &= succeeded(prepareFunction(function)) && succeeded(formIn(function, symbols, known)) &&
              succeeded(verifyHostFunction(function));
    }
    if (!good || failed(checkTilePlaces(getOperation(), arrivedPins_)))
      signalPassFailure();
    arrivedPins_.clear();
  }

private:
  LogicalResult formIn(func::FuncOp function, SymbolTable &symbols, llvm::StringMap<std::string> &known) {
    narrowIndices(function);
    sortScatters(function);
    computePlaces(function);
    reduceChoicesByKeys(function);
    hoistVectors(function);
    routeProducts(function);
    for (Block &block : function.getBody())
      recomputeAtBoundaries(block);
    WholeOrParts forms;
    for (Block &block : function.getBody())
      forms.copyGroups(block);
    splitReductions(function);
    forms.markParts();
    generalizeFills(function);
    bool good = true;
    unsigned number = 0;
    for (Block &block : function.getBody()) {
      const GroupedBlock grouped = groupsOf(block);
      if (print)
        printBoundaries(grouped.boundaries);
      for (const Group &group : grouped.groups) {
        FailureOr<OutlinedKernel> kernel = outlineKernel(group, kPlaceholderName, forms.conditionOf(group));
        if (failed(kernel)) {
          good = false;
          continue;
        }
        kernel->function.walk([&](linalg::GenericOp op) {
          if (Attribute place = takeTilePlace(op))
            arrivedPins_.insert(place);
        });
        const std::string executable = executableOf(*kernel, function, number, symbols, known);
        if (print)
          linalg::GenericOp(group.ops.back()).emitRemark()
              << "kernel '" << executable << "' ends here: " << group.ops.size()
              << (group.ops.size() == 1 ? " operation" : " operations");
        replaceByDispatch(group, *kernel, executable);
      }
      if (good)
        joinForms(block);
      good &= succeeded(formAlong(block, function, number, symbols, known));
    }
    if (good) {
      eraseDeadOperations(function);
      shareEqualValues(function);
    }
    return success(good);
  }

  /// A softmax whose products are no one kernel is taken apart, as others were before.
  static GroupedBlock groupsOf(Block &block) {
    GroupedBlock grouped = formGroups(block);
    bool isApart = false;
    for (auto softmax : llvm::to_vector(block.getOps<linalg::SoftmaxOp>()))
      if (llvm::none_of(grouped.groups, [&](const Group &group) { return group.contains(softmax); }))
        isApart |= openSoftmax(softmax);
    for (auto op : llvm::to_vector(block.getOps<linalg::GenericOp>()))
      if (op->hasAttr(kLogSumExp) &&
          llvm::none_of(grouped.groups, [&](const Group &group) { return group.logSum == op; })) {
        openLogSum(op);
        isApart = true;
      }
    return isApart ? formGroups(block) : std::move(grouped);
  }

  /// Operations along a dimension, each a dispatch of its own.
  LogicalResult formAlong(Block &block, func::FuncOp function, unsigned &number, SymbolTable &symbols,
                          llvm::StringMap<std::string> &known) {
    bool good = true;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!linalg_ext::isAlongOp(&op) || op.use_empty())
        continue;
      FailureOr<OutlinedKernel> kernel = outlineAlong(&op, kPlaceholderName);
      if (failed(kernel)) {
        good = false;
        continue;
      }
      const std::string executable = executableOf(*kernel, function, number, symbols, known);
      if (print)
        op.emitRemark() << "kernel '" << executable
                        << (isa<linalg_ext::TileTransformOp>(op)
                                ? "' transforms tiles of this convolution"
                                : "' computes this alone: no kernel of linalg runs along a dimension");
      OpBuilder b(&op);
      auto dispatch = createDispatch(b, op.getLoc(), *kernel, executable);
      for (auto [result, replacement] : llvm::zip_equal(kernel->results, dispatch.getResults()))
        result.replaceAllUsesWith(replacement);
      op.erase();
    }
    return success(good);
  }

  /// That of an equal kernel, or a new one.
  std::string executableOf(OutlinedKernel &kernel, func::FuncOp function, unsigned &number, SymbolTable &symbols,
                           llvm::StringMap<std::string> &known) {
    std::string &executable = known[textOf(*kernel.module)];
    if (executable.empty())
      executable = buildExecutable(kernel, kernelName(function.getName(), number++), symbols);
    return executable;
  }

  std::string buildExecutable(OutlinedKernel &kernel, std::string name, SymbolTable &symbols) {
    OpBuilder b(&getContext());
    const Location loc = kernel.function.getLoc();
    auto source = hal::ExecutableSourceOp::create(b, loc, b.getStringAttr(name), b.getStringAttr("private"),
                                                  hal::ExecutableObjectsAttr());
    source->setAttr(kGeneratedAttr, b.getUnitAttr());
    symbols.insert(source); // makes the name unique
    name = source.getSymName().str();
    Block *body = &source.getBody().emplaceBlock();
    b.setInsertionPointToStart(body);
    auto kernelExport = hal::ExecutableExportOp::create(
        b, loc, b.getStringAttr(name), b.getStringAttr("public"), b.getIndexAttr(0), layoutOf(kernel.function),
        b.getIndexArrayAttr({1, 1, 1}), IntegerAttr(), IntegerAttr(), FlatSymbolRefAttr());
    buildCount(kernelExport.getWorkgroupCount(), loc, kernel.workload.size());
    kernel.function.setName(name);
    body->push_back(kernel.module.release());
    return name;
  }

  flow::DispatchOp createDispatch(OpBuilder &b, Location loc, OutlinedKernel &kernel, StringRef executable) {
    auto entryPoint =
        SymbolRefAttr::get(b.getContext(), executable, {FlatSymbolRefAttr::get(b.getContext(), executable)});
    SmallVector<Value> arguments = kernel.scalars;
    llvm::append_range(arguments, kernel.tensors);
    return flow::DispatchOp::create(b, loc, entryPoint, kernel.workload, TypeRange(ValueRange(kernel.results)),
                                    kernel.resultDims, arguments, kernel.tensorDims);
  }

  /// At the group's last operation; the operations themselves are dead then.
  void replaceByDispatch(const Group &group, OutlinedKernel &kernel, StringRef executable) {
    linalg::GenericOp last = group.ops.back();
    OpBuilder b(last);
    auto dispatch = createDispatch(b, last.getLoc(), kernel, executable);
    for (auto [result, replacement] : llvm::zip_equal(kernel.results, dispatch.getResults()))
      result.replaceUsesWithIf(replacement, [&](OpOperand &use) { return !group.contains(use.getOwner()); });
    if (linalg::SoftmaxOp softmax = group.softmax)
      softmax->dropAllUses();
    for (linalg::GenericOp op : llvm::reverse(group.ops)) {
      op->dropAllUses();
      op.erase();
    }
    if (group.softmax)
      linalg::SoftmaxOp(group.softmax).erase();
  }

  llvm::DenseSet<Attribute> arrivedPins_; // places of `tenon.tile` on contractions that are in kernels
};

} // namespace

} // namespace tenon::compiler::dispatch
