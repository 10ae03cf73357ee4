// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/write_kernel.h"

#include "compiler/codegen/strategies/products/plans/contraction_plans.h"
#include "compiler/codegen/strategies/products/plans/shared_sums.h"
#include "compiler/codegen/strategies/products/skinny.h"
#include "compiler/codegen/strategies/strategies.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

/// The strategy that the kernel names, if it takes the group with these choices.
FailureOr<const Strategy *> strategyOf(const KernelFunction &kernel, const GroupShape &shape) {
  func::FuncOp function = kernel.function;
  auto name = kernel.strategy.getAs<StringAttr>("name");
  const Strategy *strategy = name ? strategyNamed(name) : nullptr;
  if (!strategy) {
    auto error = function.emitError() << "'" << dispatch::kStrategyAttr << "' names no strategy; there are";
    for (const Strategy *each : strategies())
      error << " '" << each->name() << "'";
    return error;
  }
  std::optional<Plan> plan = strategy->plan(kernel, shape);
  if (!plan)
    return function.emitError() << "strategy '" << name.getValue() << "' does not take this kernel's operations";
  for (auto [choice, value] : plan->choices) {
    auto given = kernel.strategy.getAs<IntegerAttr>(choice);
    // Of a tile that somebody gave: patches are chosen with all their sides, the kernel is for any rows, and warps take
    // one step after the other.
    if ((choice == kImagesOfPatch || choice == kRowStarts || choice == kTurnsOfWarp || choice == kRing) && !given)
      continue;
    // Threads and lanes are divided by halves; how many vectors a thread keeps is any number, as are Hopper's tiles.
    const bool isHalved = choice != "chunks" && choice != "shared" && choice != "unrolled" && choice != "columns" &&
                          choice != "lines" && choice != "run" && choice != "warpgroup_rows" &&
                          choice != "warpgroup_columns" && choice != "narrow" && choice != kParts &&
                          choice != kClearsFlags;
    if (!given || given.getInt() < 0 || given.getInt() > 1024 || (isHalved && !llvm::isPowerOf2_64(given.getInt())))
      return function.emitError() << "strategy '" << name.getValue() << "' needs '" << choice << "', "
                                  << (isHalved ? "a power of two" : "a number") << " up to 1024, for example " << value;
    if (!strategy->takes(choice, given.getInt()))
      return function.emitError() << "strategy '" << name.getValue() << "' takes no '" << choice << "' of "
                                  << given.getInt() << ", but for example " << value;
  }
  // Choices that the model would not make here are made by hand, or by another of several plans.
  for (NamedAttribute each : kernel.strategy) {
    auto given = dyn_cast<IntegerAttr>(each.getValue());
    const StringRef choice = each.getName();
    if (given && choice != "threads" && !strategy->takes(choice, given.getInt()))
      return function.emitError() << "strategy '" << name.getValue() << "' takes no '" << choice << "' of "
                                  << given.getInt();
  }
  if (!strategy->takes("threads", kernel.threads))
    return function.emitError() << "strategy '" << name.getValue() << "' takes no 'threads' of " << kernel.threads
                                << ", but for example " << plan->threads;
  if (const StringRef reason = strategy->whyNot(kernel); !reason.empty())
    return function.emitError() << "strategy '" << name.getValue() << "' " << reason;
  return strategy;
}

// What a kernel reads of this size does not stay in a cache until somebody reads it again.
constexpr int64_t kStream = 256 << 20;

/// Tensors that are read once for every element of the group, and together are more than caches hold. Reductions gain
/// nothing.
SmallVector<uint32_t> streamsOf(const KernelFunction &kernel, const GroupShape &shape) {
  if (shape.group.hasReduction() && !storesElements(kernel, shape))
    return {};
  llvm::SmallMapVector<uint32_t, int64_t, 4> bytes; // by binding
  for (const KernelOp &op : kernel.ops)
    for (const KernelInput &input : op.inputs) {
      if (!input.isMemory() || !shape.group.coversAllAxes(op.op) || kernel.isWritten(input.tensor.binding) ||
          input.tensor.map.getNumResults() != linalg::GenericOp(op.op).getNumLoops())
        continue;
      int64_t size = dispatch::elementBytes(input.tensor.element);
      for (const Extent &extent : input.tensor.shape)
        size *= extent.value ? 0 : extent.size;
      bytes[input.tensor.binding] = size;
    }
  SmallVector<uint32_t> streams;
  int64_t sum = 0;
  for (auto [binding, size] : bytes) {
    streams.push_back(binding);
    sum += size;
  }
  return sum < kStream ? SmallVector<uint32_t>() : streams;
}

} // namespace

FailureOr<uint32_t> threadsFor(const KernelFunction &kernel, const abi::TargetArch &target) {
  FailureOr<const Strategy *> strategy = strategyOf(kernel, GroupShape::of(kernel));
  if (failed(strategy))
    return failure();
  return (*strategy)->threadsFor(kernel, target);
}

LogicalResult writeKernel(const KernelFunction &kernel, const abi::ParameterLayout &parameters,
                          const abi::TargetArch &target, LLVM::LLVMFuncOp function) {
  const GroupShape shape = GroupShape::of(kernel);
  FailureOr<const Strategy *> strategy = strategyOf(kernel, shape);
  if (failed(strategy))
    return failure();
  OpBuilder b(function.getContext());
  b.setInsertionPointToStart(function.addEntryBlock(b));
  KernelBuilder k(b, linalg::GenericOp(kernel.only().op).getLoc(), function, (*strategy)->threadsFor(kernel, target));
  KernelArguments arguments = mapArguments(kernel, parameters, function, b);
  GroupSpace space(k, shape, arguments);
  Bodies bodies(k, kernel, space, arguments);
  for (uint32_t binding : streamsOf(kernel, shape))
    bodies.stream(binding);
  Writer writer{kernel, shape, k, space, bodies, target, arguments};
  (*strategy)->write(writer);
  LLVM::ReturnOp::create(b, k.loc, ValueRange());
  return success();
}

} // namespace tenon::compiler::codegen
