// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-verify-signatures (Passes.td).
#include "compiler/host/Passes.h"
#include "compiler/host/function_lowering.h"
#include "compiler/input/types/boundary.h"
#include "compiler/input/types/storage.h"

using namespace mlir;

namespace tenon::compiler::host {

#define GEN_PASS_DEF_VERIFYSIGNATURES
#include "compiler/host/Passes.h.inc"

namespace {

struct VerifySignatures : impl::VerifySignaturesBase<VerifySignatures> {
  void runOnOperation() override {
    auto functions = llvm::make_filter_range(getOperation().getOps<func::FuncOp>(),
                                             [](func::FuncOp function) { return function.isPublic(); });
    // Beside one that cannot cross, tenon-lower-types left all others as they were.
    const bool areLowered = llvm::all_of(functions, input::mayBePublic);
    bool ok = true;
    for (func::FuncOp function : functions)
      ok &= succeeded(verifySignature(function, [&](Type type) { return !areLowered && input::isHeldAsOther(type); }));
    if (!ok)
      signalPassFailure();
  }
};

} // namespace

} // namespace tenon::compiler::host
