// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text of another compiler is full of its own dialects' attributes: targets' details, hints, calling conventions. They
// say nothing here and stay. What would change a program if it were left out is an error: an operation, a type, and an
// attribute that looks like one of ours.
#include "compiler/dialect/donation.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/tile_pins.h"
#include "compiler/dialect/tile_side.h"
#include "compiler/input/steps/steps.h"
#include "support/text/nearest_names.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

constexpr StringLiteral kPrefix = "tenon";
constexpr StringLiteral kDeviceTargets = "hal.device.targets";

/// Ours, those included that passes put down and dumps show.
const std::vector<std::string> &tenonAttributes() {
  static const std::vector<std::string> names = {kClusterAttr.str(),
                                                 kFallbackAttr.str(),
                                                 kFallbackObjectsAttr.str(),
                                                 kTileAttr.str(),
                                                 kTilePlacesAttr.str(),
                                                 kTileSideAttr.str(),
                                                 kDonatedAttr.str(),
                                                 kInPlaceAttr.str(),
                                                 kCopiesStartAttr.str(),
                                                 "tenon.chain",
                                                 "tenon.dims",
                                                 "tenon.documentation",
                                                 "tenon.elements_per_thread",
                                                 "tenon.generated",
                                                 "tenon.hopper_only",
                                                 "tenon.layout",
                                                 "tenon.early_launch",
                                                 "tenon.name",
                                                 "tenon.narrow_sums",
                                                 "tenon.overwritten",
                                                 "tenon.own_kernel",
                                                 "tenon.reciprocal",
                                                 "tenon.stored",
                                                 "tenon.strategy",
                                                 "tenon.tf32",
                                                 "tenon.tied",
                                                 "tenon.unsigned",
                                                 "tenon.warp_device",
                                                 "tenon.workgroup_size"};
  return names;
}

class NameCheck {
public:
  explicit NameCheck(ModuleOp module) : context_(module.getContext()) {
    walker_.addWalk([&](OpaqueAttr attribute) { meet(attribute.getDialectNamespace(), attribute); });
    walker_.addWalk([&](DictionaryAttr dictionary) {
      for (NamedAttribute entry : dictionary)
        checkAttribute(entry);
    });
    walker_.addWalk([&](OpaqueType type) {
      if (!foreignType_)
        foreignType_ = type;
    });
  }

  LogicalResult run(ModuleOp module) {
    module.walk<WalkOrder::PreOrder>([&](Operation *op) { return check(op); });
    for (auto &[dialect, found] : ignored_)
      emitRemark(found.first) << "dialect '" << dialect << "' is not known here: its attributes (" << found.second
                              << ") are ignored";
    return success(ok_);
  }

private:
  WalkResult check(Operation *op) {
    op_ = op;
    if (!op->isRegistered()) {
      ok_ = false;
      op->emitError() << "operation '" << op->getName() << "' is not known: dialect '"
                      << op->getName().getDialectNamespace() << "' is not read here";
      return WalkResult::skip();
    }
    foreignType_ = {};
    for (NamedAttribute entry : op->getDiscardableAttrs())
      checkAttribute(entry);
    walker_.walk(op->getAttrDictionary());
    for (Type type : op->getResultTypes())
      walker_.walk(type);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          walker_.walk(type);
    if (foreignType_) {
      ok_ = false;
      op->emitError() << "type " << foreignType_ << " is not known: dialect '"
                      << foreignType_.getDialectNamespace().getValue() << "' is not read here";
    }
    return WalkResult::advance();
  }

  void checkAttribute(NamedAttribute entry) {
    const StringRef name = entry.getName().getValue();
    const StringRef dialect = name.split('.').first;
    if (!name.contains('.'))
      return;
    if (name == "iree.identifier" || name == "iree.reflection" || name == "iree.abi.declaration")
      return; // what callers see of a function (host/module_lowering.cpp)
    if (name == "iree.abi.output" || name == "tf.aliasing_output" || name == "jax.buffer_donor")
      return; // memory that a caller gives up (read_donations)
    if (name == "iree.abi.stub" || name == "iree.abi.model")
      return; // how a function's tensors are handed over, which its types say (read_buffer_views, read_fences)
    if (dialect == kPrefix) {
      checkSpelling(name, tenonAttributes());
      if (name == kTileSideAttr)
        checkTileSide(entry.getValue());
    } else if (dialect == "hal") {
      if (name != kDeviceTargets && editDistance(std::string_view(name), std::string_view(kDeviceTargets)) <= 3)
        checkSpelling(name, {kDeviceTargets.str()});
    } else if (!context_->getLoadedDialect(dialect)) {
      // A slip in the prefix itself: "tennon.fallback".
      if (editDistance(std::string_view(dialect), std::string_view(kPrefix)) <= 2 &&
          !nearestNames(std::string_view(name), tenonAttributes()).empty())
        checkSpelling(name, tenonAttributes());
      else
        meet(dialect, name);
    }
  }

  void checkSpelling(StringRef name, const std::vector<std::string> &known) {
    if (llvm::is_contained(known, name) || !reported_.insert({op_, name}).second)
      return;
    ok_ = false;
    InFlightDiagnostic error = op_->emitError() << "attribute '" << name << "' is not known";
    // What all have in common says nothing of what was meant.
    std::vector<std::string> endings;
    for (StringRef candidate : known)
      endings.push_back(candidate.split('.').second.str());
    const std::string ending = name.split('.').second.str();
    if (std::vector<std::string> near = nearestNames(ending, endings, 1); !near.empty())
      error << ": did you mean '" << StringRef(known.front()).split('.').first << '.' << near.front() << "'?";
    else
      error << ": '" << kFallbackAttr << "' and '" << kClusterAttr
            << "' are those that exports and extern dispatches take, '" << kTileAttr << "' contractions";
  }

  void checkTileSide(Attribute side) {
    auto number = dyn_cast<IntegerAttr>(side);
    const bool isNumber = number && number.getType().isSignlessInteger(64),
               isLinalg = op_->getName().getDialectNamespace() == "linalg";
    if ((isNumber && isLinalg) || !reported_.insert({op_, kTileSideAttr}).second)
      return;
    ok_ = false;
    if (isLinalg)
      op_->emitError() << "'" << kTileSideAttr << "' is " << side << "; wanted: a number, such as 6 : i64";
    else
      op_->emitError() << "'" << kTileSideAttr << "' says how a convolution of linalg is computed, and this is '"
                       << op_->getName() << "', which is none";
  }

  /// The first attribute of each dialect is shown.
  template <typename What> void meet(StringRef dialect, const What &what) {
    if (dialect == kPrefix || ignored_.count(dialect.str()))
      return;
    std::string text;
    llvm::raw_string_ostream(text) << what;
    constexpr size_t kShown = 60;
    if (text.size() > kShown)
      text = text.substr(0, kShown) + "..";
    ignored_.insert({dialect.str(), {op_->getLoc(), text}});
  }

  MLIRContext *context_;
  AttrTypeWalker walker_;
  Operation *op_ = nullptr;
  OpaqueType foreignType_;
  llvm::DenseSet<std::pair<Operation *, StringRef>> reported_;
  llvm::MapVector<std::string, std::pair<Location, std::string>, std::map<std::string, unsigned>> ignored_;
  bool ok_ = true;
};

} // namespace

LogicalResult checkNames(ModuleOp module) {
  return failed(NameCheck(module).run(module)) ? failure() : readTilePins(module);
}

} // namespace tenon::compiler::input
