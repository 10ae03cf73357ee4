// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-read-parameters (Passes.td): #flow.parameter.named<"scope"::"key"> becomes the bytes in the file of the scope,
// where they lie: nothing is copied before the program is written.
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/input/Passes.h"
#include "compiler/input/parameter_file.h"
#include "support/text/nearest_names.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace tenon::compiler::input {

#define GEN_PASS_DEF_READPARAMETERS
#include "compiler/input/Passes.h.inc"

namespace {

/// What an element type is called in the format; empty: it has no name there.
StringRef dtypeOf(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    switch (integer.getWidth()) {
    case 1:
      return "BOOL";
    case 8:
      return integer.isUnsigned() ? "U8" : "I8";
    case 16:
      return integer.isUnsigned() ? "U16" : "I16";
    case 32:
      return integer.isUnsigned() ? "U32" : "I32";
    case 64:
      return integer.isUnsigned() ? "U64" : "I64";
    default:
      return "";
    }
  if (isa<Float64Type>(type))
    return "F64";
  if (isa<Float32Type>(type))
    return "F32";
  if (isa<Float16Type>(type))
    return "F16";
  if (isa<BFloat16Type>(type))
    return "BF16";
  if (isa<Float8E4M3FNType>(type))
    return "F8_E4M3";
  if (isa<Float8E5M2Type>(type))
    return "F8_E5M2";
  return "";
}

/// Signless integers of MLIR hold both.
bool isOfType(StringRef dtype, Type element) {
  const StringRef wanted = dtypeOf(element);
  return !wanted.empty() && (dtype == wanted || (element.isSignlessInteger() && wanted.starts_with("I") &&
                                                 dtype.starts_with("U") && dtype.drop_front() == wanted.drop_front()));
}

struct ReadParameters : impl::ReadParametersBase<ReadParameters> {
  using ReadParametersBase::ReadParametersBase;

  void runOnOperation() override {
    if (failed(openFiles()))
      return signalPassFailure();
    bool ok = true;
    getOperation().walk([&](Operation *op) {
      for (NamedAttribute attribute : llvm::to_vector(op->getAttrs()))
        if (auto parameter = dyn_cast<flow::NamedParameterAttr>(attribute.getValue())) {
          FailureOr<Attribute> value = read(op, parameter);
          ok &= succeeded(value);
          if (succeeded(value))
            op->setAttr(attribute.getName(), *value);
        }
    });
    if (!ok)
      signalPassFailure();
  }

private:
  LogicalResult openFiles() {
    for (const std::string &text : files) {
      const size_t equals = text.find('=');
      const std::string scope = equals == std::string::npos ? "" : text.substr(0, equals);
      const std::string path = equals == std::string::npos ? text : text.substr(equals + 1);
      Result<ParameterFile> file = ParameterFile::open(path);
      if (!file.ok())
        return getOperation().emitError() << std::string(file.status().message());
      if (!byScope_.try_emplace(scope, file.take()).second)
        return getOperation().emitError() << "two parameter files for the scope '" << scope << "'";
    }
    return success();
  }

  FailureOr<Attribute> read(Operation *op, flow::NamedParameterAttr attribute) {
    const std::string scope = attribute.getScope().str(), key = attribute.getKey().str();
    auto refuse = [&] { return op->emitError() << "parameter '" << key << "' of scope '" << scope << "': "; };
    auto type = dyn_cast<RankedTensorType>(attribute.getType());
    if (!type || !type.hasStaticShape() || dtypeOf(type.getElementType()).empty())
      return refuse() << "found type " << attribute.getType() << ", a tensor of static shape is wanted whose elements "
                      << "safetensors has";
    const auto file = byScope_.find(scope);
    if (file == byScope_.end())
      return refuse() << "no file is given for this scope: pass --parameters=" << (scope.empty() ? "" : scope + "=")
                      << "FILE.safetensors";
    const Parameter *found = file->second.find(key);
    if (!found) {
      InFlightDiagnostic error = refuse() << "the file has no such tensor";
      if (const std::vector<std::string> near = nearestNames(key, file->second.keys()); !near.empty())
        error << "; it has " << quotedList(near);
      return error;
    }
    const uint64_t bytes = uint64_t(type.getNumElements()) * ((type.getElementTypeBitWidth() + 7) / 8);
    if (!isOfType(found->dtype, type.getElementType()) || ArrayRef<int64_t>(found->shape) != type.getShape() ||
        found->bytes.size() != bytes) {
      InFlightDiagnostic error = refuse();
      error << "found " << found->dtype << " [";
      llvm::interleaveComma(found->shape, error);
      return error << "] of " << found->bytes.size() << " bytes in the file, " << Type(type) << " is wanted";
    }
    // The copy of the file's handle lives as long as the blob.
    AsmResourceBlob blob(
        ArrayRef<char>(found->bytes.data(), found->bytes.size()), /*dataAlignment=*/1,
        [keeper = file->second.file()](void *, size_t, size_t) {}, /*dataIsMutable=*/false);
    return Attribute(DenseResourceElementsAttr::get(type, key, std::move(blob)));
  }

  std::map<std::string, ParameterFile> byScope_;
};

} // namespace

} // namespace tenon::compiler::input
