// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/module_lowering.h"

#include "compiler/dialect/editions.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/util/UtilOps.h"
#include "compiler/host/function_lowering.h"
#include "compiler/host/function_state.h"

using namespace mlir;

namespace tenon::compiler::host {

/// What a program keeps between calls, with its first value.
static FailureOr<Global> lowerGlobal(util::GlobalOp op, ConstantPool &constants) {
  Global global;
  global.name = op.getSymName().str();
  std::optional<ValueType> type = toValueType(op.getType());
  if (!type)
    return op.emitError() << "global '@" << op.getSymName() << "' has type " << op.getType()
                          << ", which a program cannot keep";
  global.type = *type;
  Attribute value = op.getInitialValueAttr();
  if (auto elements = dyn_cast_or_null<ElementsAttr>(value)) {
    FailureOr<uint32_t> index = constants.intern(elements, op.getLoc());
    if (failed(index))
      return failure();
    global.constant = *index;
  } else if (auto integer = dyn_cast_or_null<IntegerAttr>(value)) {
    global.scalar = integer.getValue().getSExtValue();
  } else if (auto real = dyn_cast_or_null<FloatAttr>(value)) {
    global.scalar = int64_t(real.getValue().bitcastToAPInt().getZExtValue());
  }
  return global;
}

/// A name without what a terminal would take for more than text.
static std::string plainName(StringAttr name) {
  std::string text = name ? name.str() : std::string();
  llvm::erase_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  return text;
}

/// What a module says of a function to those who call it: names by `tenon.name` or IREE's `iree.identifier`, what it
/// does by `tenon.documentation` or IREE's declaration in `iree.reflection`.
static void describe(func::FuncOp op, Function &function) {
  auto nameIn = [](DictionaryAttr attributes) {
    for (const char *key : {"tenon.name", "iree.identifier"})
      if (auto name = attributes ? attributes.getAs<StringAttr>(key) : StringAttr())
        return plainName(name);
    return std::string();
  };
  for (unsigned i = 0; i < op.getNumArguments(); ++i)
    function.inputNames.push_back(nameIn(op.getArgAttrDict(i)));
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    function.resultNames.push_back(nameIn(op.getResultAttrDict(i)));
  for (std::vector<std::string> *names : {&function.inputNames, &function.resultNames})
    if (llvm::all_of(*names, [](const std::string &name) { return name.empty(); }))
      names->clear();
  if (auto text = op->getAttrOfType<StringAttr>("tenon.documentation"))
    function.documentation = text.str();
  else if (auto reflection = op->getAttrOfType<DictionaryAttr>("iree.reflection"))
    if (auto declaration = reflection.getAs<StringAttr>("iree.abi.declaration"))
      function.documentation = declaration.str();
}

/// The edition that a function is of, which is begun where it is the first; null: the program itself. Callers know it
/// by the name of the function that it is an edition of.
static Edition *editionOf(func::FuncOp op, Function &function, Program &program) {
  auto name = op->getAttrOfType<StringAttr>(kEditionOfAttr);
  if (!name)
    return nullptr;
  function.name = name.str();
  for (Function &block : function.blocks)
    block.name = name.str();
  std::vector<abi::TargetArch> targets;
  for (auto key : op->getAttrOfType<ArrayAttr>(kEditionTargetsAttr).getAsRange<hal::ExecutableTargetAttr>())
    if (FailureOr<abi::TargetArch> arch = targetArchOf(key); succeeded(arch))
      targets.push_back(*arch);
  for (Edition &edition : program.editions)
    if (edition.targets == targets)
      return &edition;
  return &program.editions.emplace_back(Edition{std::move(targets), {}, std::nullopt});
}

FailureOr<Program> lowerModule(ModuleOp module, const ExecutableTable &executableTable,
                               std::vector<std::vector<uint8_t>> executables) {
  Program program;
  program.name = module.getSymName().value_or("module").str();
  program.executables = std::move(executables);
  ConstantPool constants;
  ProgramTables tables{executableTable, {}};
  bool ok = true;
  for (auto global : module.getOps<util::GlobalOp>()) {
    tables.globals[global.getSymName()] = uint32_t(program.globals.size());
    FailureOr<Global> lowered = lowerGlobal(global, constants);
    ok &= succeeded(lowered);
    program.globals.push_back(ok ? std::move(*lowered) : Global());
  }
  for (Operation &op : *module.getBody()) {
    if (isa<hal::ExecutableSourceOp, util::GlobalOp>(op))
      continue;
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function) {
      op.emitOpError() << "is not supported here: a program is made of functions and executables";
      ok = false;
      continue;
    }
    const bool isInitializer = function->hasAttr(util::kInitializerAttr);
    if (!function.isPublic() && !isInitializer)
      continue;
    FailureOr<Function> lowered = lowerFunction(function, tables, constants);
    if (succeeded(lowered))
      describe(function, *lowered);
    if (failed(lowered)) {
      ok = false;
      continue;
    }
    Edition *edition = editionOf(function, *lowered, program);
    auto [functions, initializer] =
        edition ? std::tie(edition->functions, edition->initializer) : std::tie(program.functions, program.initializer);
    if (isInitializer)
      initializer = std::move(*lowered);
    else
      functions.push_back(std::move(*lowered));
  }
  if (!ok)
    return failure();
  if (program.functions.empty())
    module.emitWarning() << "there is no public function, nothing can be called";
  program.constants = constants.take();
  return program;
}

} // namespace tenon::compiler::host
