// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The editions of a program: whoever calls a function need not know which of them a device has. Rule F-31.
#include "abi/format/verify/verify_support.h"

#include <algorithm>

namespace tenon::abi::verify {

/// What callers rely on. Which inputs they may give up is each edition's own.
static Status checkSameForCallers(VerifiedBytes &file, const fb::Function &found, const fb::Function &wanted) {
  if (found.name()->string_view() != wanted.name()->string_view())
    return broken("F-31", "it is called '", found.name()->string_view(), "', the program's function '",
                  wanted.name()->string_view(), '\'');
  if (sizeOf(found.inputs()) != sizeOf(wanted.inputs()) || sizeOf(found.results()) != sizeOf(wanted.results()))
    return broken("F-31", "it takes ", sizeOf(found.inputs()), " inputs and returns ", sizeOf(found.results()),
                  " results, the program's function ", sizeOf(wanted.inputs()), " and ", sizeOf(wanted.results()));
  TENON_RETURN_IF_ERROR(forEach(file, found.inputs(), "inputs", [&](uint32_t i, const fb::ValueType *type) {
    return checkSameType(file, "F-31", "the input", *type, *wanted.inputs()->Get(i));
  }));
  TENON_RETURN_IF_ERROR(forEach(file, found.results(), "results", [&](uint32_t i, const fb::ResultValue *result) {
    return checkSameType(file, "F-31", "the result", *result->type(), *wanted.results()->Get(i)->type());
  }));
  TENON_RETURN_IF_ERROR(file.spend(sizeOf(wanted.updated())));
  const bool isSame = sizeOf(found.updated()) == sizeOf(wanted.updated()) &&
                      (sizeOf(wanted.updated()) == 0 ||
                       std::equal(found.updated()->begin(), found.updated()->end(), wanted.updated()->begin()));
  return isSame ? okStatus() : broken("F-31", "updated inputs are not those of the program's function");
}

static Status checkEdition(VerifiedBytes &file, const fb::Edition &edition, const fb::Program &program,
                           const ProgramScope &scope) {
  if (edition.targets()->size() == 0)
    return broken("F-31", "it is for no target");
  TENON_RETURN_IF_ERROR(forEach(file, edition.targets(), "targets", [&](uint32_t, const fb::Arch *arch) {
    TENON_RETURN_IF_ERROR(checkEnum("suffix", arch->suffix()));
    return arch->number() != 0 ? okStatus() : broken("F-31", "the architecture has no number");
  }));
  if (edition.functions()->size() != sizeOf(program.functions()))
    return broken("F-31", "it has ", edition.functions()->size(), " functions, the program ",
                  sizeOf(program.functions()));
  if ((edition.initializer() != nullptr) != (program.initializer() != nullptr))
    return broken("F-31", edition.initializer() ? "it has an initializer, the program has none"
                                                : "it has no initializer, the program has one");
  if (edition.initializer())
    TENON_RETURN_IF_ERROR(checkInitializer(file, *edition.initializer(), scope));
  return forEach(file, edition.functions(), "functions", [&](uint32_t i, const fb::Function *function) {
    TENON_RETURN_IF_ERROR(checkName(file, "name", function->name()));
    TENON_RETURN_IF_ERROR(within(function->name()->string_view(), checkFunction(file, *function, scope)));
    return within(function->name()->string_view(), checkSameForCallers(file, *function, *program.functions()->Get(i)));
  });
}

Status checkEditions(VerifiedBytes &file, const fb::Program &program, const ProgramScope &scope) {
  return forEach(file, program.editions(), "editions",
                 [&](uint32_t, const fb::Edition *edition) { return checkEdition(file, *edition, program, scope); });
}

} // namespace tenon::abi::verify
