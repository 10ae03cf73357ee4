// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments that a caller gives up, by all their names:
//
//   tenon.donated              ours
//   jax.buffer_donor = true    JAX's, of an argument that no result is known to take the memory of
//   tf.aliasing_output = N     JAX's, where result N may
//   iree.abi.output = N        IREE's, for the same
//
// Which result takes the memory is found out later (dispatch/in_place): it is the one that is computed from the
// argument.
#include "compiler/dialect/donation.h"
#include "compiler/input/steps/steps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

constexpr StringLiteral kDonor = "jax.buffer_donor", kAliases = "tf.aliasing_output", kOutput = "iree.abi.output";

/// Whether the attribute of an argument, if it is there, says that it is given up.
FailureOr<bool> saysSo(func::FuncOp function, unsigned argument, StringRef name) {
  Attribute attribute = function.getArgAttr(argument, name);
  if (!attribute)
    return false;
  auto refuse = [&](const Twine &wanted) {
    return emitError(function.getArgument(argument).getLoc())
           << "'" << name << "' of argument " << argument << " is " << attribute << ", " << wanted << " is wanted";
  };
  if (name == kDonatedAttr && !isa<UnitAttr>(attribute))
    return refuse("the attribute alone");
  if (name == kDonor) {
    auto given = dyn_cast<BoolAttr>(attribute);
    return given ? FailureOr<bool>(given.getValue()) : FailureOr<bool>(refuse("true or false"));
  }
  if (name != kDonatedAttr) {
    auto number = dyn_cast<IntegerAttr>(attribute);
    if (!number || number.getValue().getSExtValue() < 0 ||
        number.getValue().getSExtValue() >= int64_t(function.getNumResults()))
      return refuse("the number of one of " + Twine(function.getNumResults()) + " results");
  }
  return true;
}

} // namespace

LogicalResult readDonations(ModuleOp module) {
  bool ok = true;
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned argument = 0; argument < function.getNumArguments() && !function.isExternal(); ++argument)
      for (StringRef name : {StringRef(kDonatedAttr), StringRef(kDonor), StringRef(kAliases), StringRef(kOutput)}) {
        const FailureOr<bool> given = saysSo(function, argument, name);
        ok &= succeeded(given);
        if (failed(given) || !*given)
          continue;
        function.removeArgAttr(argument, name);
        if (isa<RankedTensorType>(function.getArgumentTypes()[argument])) {
          function.setArgAttr(argument, kDonatedAttr, UnitAttr::get(module.getContext()));
        } else if (name == kDonatedAttr) {
          ok = false;
          emitError(function.getArgument(argument).getLoc())
              << "argument " << argument << " of type " << function.getArgumentTypes()[argument]
              << " cannot be given up: a tensor is wanted";
        }
      }
  return success(ok);
}

} // namespace tenon::compiler::input
