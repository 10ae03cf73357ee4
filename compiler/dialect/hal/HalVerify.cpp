// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a well-formed declaration is. Each rule reports what it found, what is wanted, and where the other half stands.
#include "abi/arch_table.h"
#include "abi/parameter_layout.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/hal/dispatch_rules.h"
#include "compiler/dialect/hal/host_region.h"
#include "compiler/dialect/shared/assembly.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

#include "support/text/nearest_names.h"

using namespace mlir;

namespace tenon::compiler::hal {

LogicalResult HalDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != "hal.device.targets")
    return success();
  auto list = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!list || !llvm::all_of(list, llvm::IsaPred<DeviceTargetAttr>))
    return op->emitError() << "'hal.device.targets' is " << attribute.getValue()
                           << ", a list of #hal.device.target<..> is wanted";
  return success();
}

//===-- Objects and targets --------------------------------------------------------------------------------------===//

static LogicalResult verifyTarget(Operation *op, ExecutableTargetAttr target) {
  // A key without target_arch is generic: it serves every target that it is a part of.
  if (target.getBackend() != "cuda" || !target.getConfiguration().contains("target_arch"))
    return success();
  return targetArchOf(target, [&] { return op->emitOpError(); });
}

static LogicalResult verifyObjects(Operation *op, ArrayAttr objects) {
  for (auto [i, attribute] : llvm::enumerate(objects)) {
    auto object = dyn_cast<ExecutableObjectAttr>(attribute);
    if (!object)
      return op->emitOpError() << "object " << i << " is " << attribute << ", #hal.executable.object<{..}> is wanted";
    if (ElementsAttr data = object.getData()) {
      if (!data.getElementType().isInteger(8))
        return op->emitOpError() << "object " << i << " has data of type " << data.getType()
                                 << ", bytes (vector<Nxi8>) are wanted";
      continue;
    }
    if (!object.getPath() || object.getPath().empty())
      return op->emitOpError() << "object " << i
                               << " has neither a path nor data: write path = \"file\" or data = dense<..>";
  }
  return success();
}

// Keys of one declaration: known, distinct, with well-formed objects.
static LogicalResult verifyTargets(Operation *op, ArrayAttr targets, ArrayAttr objects) {
  bool ok = true;
  llvm::SmallDenseSet<Attribute> seen;
  for (auto [target, ofTarget] : llvm::zip_equal(targets, objects)) {
    ok &= succeeded(verifyTarget(op, cast<ExecutableTargetAttr>(target)));
    ok &= succeeded(verifyObjects(op, cast<ArrayAttr>(ofTarget)));
    if (!seen.insert(target).second) {
      op->emitOpError() << "names target " << target << " twice: list its objects under one key";
      ok = false;
    }
  }
  return success(ok);
}

//===-- Exports --------------------------------------------------------------------------------------------------===//

// Ordinals that are written count from 0 without a gap once the exports without one have taken the free numbers.
static LogicalResult verifyOrdinals(Block &body) {
  llvm::SmallMapVector<int64_t, ExecutableExportOp, 8> byOrdinal;
  bool ok = true;
  size_t exports = 0;
  for (auto op : body.getOps<ExecutableExportOp>()) {
    ++exports;
    IntegerAttr ordinal = op.getOrdinalAttr();
    if (!ordinal)
      continue;
    auto [it, inserted] = byOrdinal.try_emplace(ordinal.getInt(), op);
    if (inserted)
      continue;
    ok = false;
    InFlightDiagnostic diagnostic = op.emitOpError()
                                    << "'" << op.getSymName() << "' has ordinal " << ordinal.getInt() << ", which '"
                                    << it->second.getSymName() << "' has already: give each its own";
    diagnostic.attachNote(it->second.getLoc()) << "'" << it->second.getSymName() << "' is declared here";
  }
  for (auto &[ordinal, op] : byOrdinal)
    if (ok && (ordinal < 0 || ordinal >= int64_t(exports))) {
      ok = false;
      op.emitOpError() << "'" << op.getSymName() << "' has ordinal " << ordinal << ", 0 to " << exports - 1
                       << " are wanted: number the exports from 0 without a gap";
    }
  return success(ok);
}

static LogicalResult verifyWorkgroupSize(Operation *op, StringRef name, ArrayAttr size) {
  if (!size) {
    std::vector<std::string> others;
    for (NamedAttribute entry : op->getDiscardableAttrs())
      others.push_back(entry.getName().str());
    std::vector<std::string> near = nearestNames("workgroup_size", others, 1);
    if (!near.empty())
      return op->emitOpError() << "'" << name << "' has no workgroup_size, but '" << near.front()
                               << "': is it misspelt?";
    return op->emitOpError() << "'" << name
                             << "' has no workgroup_size: add <workgroup_size = [64 : index, 1 : index, 1 : index]> "
                                "behind the count region, with the kernel's block size";
  }
  int64_t threads = 1;
  bool right = !size.empty() && size.size() <= 3;
  for (Attribute attribute : size) {
    auto extent = dyn_cast<IntegerAttr>(attribute);
    if (!(right = right && extent && extent.getInt() > 0 && extent.getInt() <= abi::kMaxBlockThreads))
      break;
    threads *= extent.getInt();
  }
  if (!right)
    return op->emitOpError() << "'" << name << "' has workgroup_size = " << size << ", one to three integers from 1 to "
                             << abi::kMaxBlockThreads << " are wanted";
  if (threads > abi::kMaxBlockThreads)
    return op->emitOpError() << "'" << name << "' has workgroup_size = " << size << ", " << threads
                             << " threads, at most " << abi::kMaxBlockThreads << " are wanted";
  if (size.size() == 3 && cast<IntegerAttr>(size[2]).getInt() > abi::kMaxBlockThreadsZ)
    return op->emitOpError() << "'" << name << "' has workgroup_size = " << size << ", at most "
                             << abi::kMaxBlockThreadsZ << " threads are wanted along z";
  return success();
}

static LogicalResult verifyCluster(Operation *op, StringRef name) {
  Attribute found = op->getAttr(kClusterAttr);
  auto extents = dyn_cast_or_null<ArrayAttr>(found);
  const bool right =
      extents && !extents.empty() && extents.size() <= 3 && llvm::all_of(extents, [](Attribute attribute) {
        auto extent = dyn_cast<IntegerAttr>(attribute);
        return extent && extent.getInt() > 0 && extent.getInt() <= abi::kMaxClusterBlocks;
      });
  if (!found || right)
    return success();
  return op->emitOpError() << "'" << name << "' has " << kClusterAttr << " = " << found
                           << ", one to three integers from 1 to " << abi::kMaxClusterBlocks << " are wanted";
}

// The launch attributes and layout that an export and an extern dispatch share.
template <typename Op> static LogicalResult verifyLaunch(Op op, StringRef name) {
  bool ok = succeeded(verifyWorkgroupSize(op, name, op.getWorkgroupSizeAttr()));
  if (IntegerAttr lanes = op.getSubgroupSizeAttr(); lanes && lanes.getInt() != abi::kWarpLanes) {
    op.emitOpError() << "'" << name << "' has subgroup_size = " << lanes.getInt() << ", " << abi::kWarpLanes
                     << " is wanted: a CUDA warp has no other";
    ok = false;
  }
  if (IntegerAttr bytes = op.getWorkgroupLocalMemoryAttr();
      bytes && (bytes.getInt() < 0 || bytes.getInt() > std::numeric_limits<int32_t>::max())) {
    op.emitOpError() << "'" << name << "' has workgroup_local_memory = " << bytes.getInt()
                     << ", a number of bytes >= 0 is wanted";
    ok = false;
  }
  ok &= succeeded(verifyCluster(op, name));
  if (auto parameters = abi::computeParameterLayout(layoutOf(op.getLayout())); !parameters.ok()) {
    op.emitOpError() << "'" << name << "' has no valid layout: " << StringRef(parameters.status().message());
    ok = false;
  }
  return success(ok);
}

// What a source or a variant holds: exports, constants, and the kernels as a module when they are generated.
static LogicalResult verifyBody(Operation *op, Block &body, bool hasObjects) {
  bool ok = succeeded(verifyOrdinals(body));
  bool hasKernels = false;
  for (Operation &inner : body) {
    hasKernels |= isa<ModuleOp>(inner);
    if (isa<ExecutableExportOp, ExecutableConstantBlockOp, ExecutableConditionOp, ModuleOp>(inner))
      continue;
    inner.emitOpError() << "is found in an executable, hal.executable.export is wanted";
    ok = false;
  }
  if (!hasObjects && !hasKernels) {
    op->emitOpError() << "has no objects: add objects with a file for each target, as in "
                         "#hal.executable.objects<{#target = [#hal.executable.object<{path = \"kernels.ptx\"}>]}>";
    ok = false;
  }
  return success(ok);
}

LogicalResult ExecutableSourceOp::verify() {
  bool ok = true, hasObjects = false;
  if (ExecutableObjectsAttr objects = getObjectsAttr()) {
    ok &= succeeded(verifyTargets(*this, objects.getTargets(), objects.getTargetObjects()));
    hasObjects =
        llvm::any_of(objects.getTargetObjects(), [](Attribute list) { return !cast<ArrayAttr>(list).empty(); });
  }
  ok &= succeeded(verifyBody(*this, getBody().front(), hasObjects));
  return success(ok);
}

LogicalResult ExecutableOp::verify() {
  bool ok = true;
  llvm::SmallMapVector<Attribute, ExecutableVariantOp, 4> byTarget;
  for (Operation &inner : getBody().front()) {
    auto variant = dyn_cast<ExecutableVariantOp>(inner);
    if (!variant) {
      inner.emitOpError() << "is found in hal.executable, hal.executable.variant is wanted";
      ok = false;
      continue;
    }
    auto [it, inserted] = byTarget.try_emplace(variant.getTarget(), variant);
    if (inserted)
      continue;
    ok = false;
    InFlightDiagnostic diagnostic = variant.emitOpError()
                                    << "'" << variant.getSymName() << "' has target " << variant.getTarget()
                                    << ", which '" << it->second.getSymName() << "' has already: keep one of them";
    diagnostic.attachNote(it->second.getLoc()) << "'" << it->second.getSymName() << "' is declared here";
  }
  if (byTarget.empty()) {
    emitOpError() << "has no hal.executable.variant, one for each target is wanted";
    ok = false;
  }
  return success(ok);
}

LogicalResult ExecutableVariantOp::verify() {
  bool ok = succeeded(verifyTarget(*this, getTarget()));
  ArrayAttr objects = getObjectsAttr();
  ok &= !objects || succeeded(verifyObjects(*this, objects));
  ok &= succeeded(verifyBody(*this, getBody().front(), objects && !objects.empty()));
  return success(ok);
}

LogicalResult ExecutableExportOp::verify() {
  if (getConditionFallbackAttr() && getCondition().empty())
    return emitOpError() << "'" << getSymName() << "' has a fallback and no condition: add condition(..) -> i1 {..}";
  return verifyLaunch(*this, getSymName());
}

static SmallVector<Type> countTypes(MLIRContext *context) {
  return SmallVector<Type>(3, IndexType::get(context));
}

LogicalResult ExecutableExportOp::verifyRegions() {
  bool ok = succeeded(verifyHostRegion(*this, getWorkgroupCount(), "count", true, countTypes(getContext())));
  ok &= succeeded(
      verifyHostRegion(*this, getCondition(), "condition", true, TypeRange(IntegerType::get(getContext(), 1))));
  return success(ok);
}

LogicalResult ExecutableConditionOp::verifyRegions() {
  return verifyHostRegion(*this, getBody(), "condition", false, TypeRange(IntegerType::get(getContext(), 1)));
}

LogicalResult ExecutableConstantBlockOp::verify() {
  if (getKeys().size() != getTypes().size())
    return emitOpError() << "has " << getKeys().size() << " keys for " << getTypes().size()
                         << " values, one for each is wanted";
  return success();
}

LogicalResult DispatchExternOp::verify() {
  size_t targets = getTargets().size();
  if (getTargetOrdinals().size() != targets || getTargetObjects().size() != targets ||
      getTargetConditions().size() != targets)
    return emitOpError() << "has " << targets << " targets, " << getTargetOrdinals().size() << " ordinals, "
                         << getTargetObjects().size() << " lists of objects and " << getTargetConditions().size()
                         << " conditions, one of each per target is wanted";
  bool ok = true;
  if (getTargets().empty()) {
    emitOpError() << "'" << getExportName() << "' has no objects: add objects({#target ordinal(0) = "
                  << "[#hal.executable.object<{path = \"kernels.ptx\"}>]})";
    ok = false;
  }
  ok &= succeeded(verifyTargets(*this, getTargets(), getTargetObjects()));
  for (auto [target, objects] : llvm::zip_equal(getTargets(), getTargetObjects()))
    if (cast<ArrayAttr>(objects).empty()) {
      emitOpError() << "'" << getExportName() << "' has no objects for target " << target << ", a file is wanted";
      ok = false;
    }
  ok &= succeeded(verifyLaunch(*this, getExportName()));
  DispatchShape shape{.arguments = getArguments().getTypes(),
                      .results = getResultTypes(),
                      .tied = getTiedOperands().value_or(ArrayRef<int64_t>()),
                      .workload = unsigned(getWorkload().size()),
                      .argumentDims = unsigned(getArgumentDims().size()),
                      .resultDims = unsigned(getResultDims().size())};
  if (failed(verifyDispatchShape(*this, shape)))
    return failure();
  ok &= succeeded(verifyDispatchAgainst(*this, shape, getExportName(), getLayout(), getWorkgroupCount(), getLoc()));
  return success(ok);
}

LogicalResult DispatchExternOp::verifyRegions() {
  bool ok = succeeded(verifyHostRegion(*this, getWorkgroupCount(), "count", true, countTypes(getContext())));
  for (Region &condition : getTargetConditions())
    ok &=
        succeeded(verifyHostRegion(*this, condition, "condition", false, TypeRange(IntegerType::get(getContext(), 1))));
  return success(ok);
}

//===-- Buffer views ---------------------------------------------------------------------------------------------===//

/// Of what a buffer view is, and the tensor that it is taken as.
static LogicalResult verifyEncoding(Operation *op, std::optional<Type> encoding, RankedTensorType type) {
  if (!encoding)
    return success();
  auto encoded = dyn_cast<RankedTensorType>(*encoding);
  if (!encoded || encoded.getShape() != type.getShape())
    return op->emitOpError() << "found a buffer view of " << *encoding << " as " << type
                             << ": the same shape is wanted";
  const Type from = encoded.getElementType(), to = type.getElementType();
  const bool isKnown = from.isIntOrFloat() && to.isIntOrFloat();
  if (!isKnown ||
      (from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth() && isa<FloatType>(from) != isa<FloatType>(to)))
    return op->emitOpError() << "found " << from << " as " << to
                             << ": elements of as many bits, or two floats, or two integers are wanted";
  return success();
}

LogicalResult TensorImportOp::verify() {
  if (failed(verifyEncoding(*this, getEncoding(), getTarget().getType())))
    return failure();
  return verifyDims(*this, "target", getTarget().getType(), getTargetDims());
}

LogicalResult TensorExportOp::verify() {
  if (failed(verifyEncoding(*this, getEncoding(), getSource().getType())))
    return failure();
  return verifyDims(*this, "source", getSource().getType(), getSourceDims());
}

} // namespace tenon::compiler::hal
