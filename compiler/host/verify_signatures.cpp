// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-verify-signatures (Passes.td).
#include "compiler/host/Passes.h"
#include "compiler/host/function_lowering.h"

using namespace mlir;

namespace tenon::compiler::host {

#define GEN_PASS_DEF_VERIFYSIGNATURES
#include "compiler/host/Passes.h.inc"

namespace {

struct VerifySignatures : impl::VerifySignaturesBase<VerifySignatures> {
  void runOnOperation() override {
    bool ok = true;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic())
        ok &= succeeded(verifySignature(function));
    if (!ok)
      signalPassFailure();
  }
};

} // namespace

} // namespace tenon::compiler::host
