// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/shared_words.h"

using namespace mlir;

namespace tenon::compiler::codegen {

SmallVector<Value> readInPlace(KernelBuilder &k, Value from) {
  constexpr unsigned kWords = 4;
  auto type = LLVM::LLVMStructType::getLiteral(k.b.getContext(), SmallVector<Type>(kWords, k.b.getF32Type()));
  Value all = LLVM::InlineAsmOp::create(
                  k.b, k.loc, type, k.word(from), "ld.shared.v4.b32 {$0, $1, $2, $3}, [$4];", "=f,=f,=f,=f,r",
                  /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                  LLVM::AsmDialectAttr::get(k.b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
                  .getResult(0);
  SmallVector<Value> words;
  for (unsigned word = 0; word < kWords; ++word)
    words.push_back(LLVM::ExtractValueOp::create(k.b, k.loc, all, word));
  return words;
}

} // namespace tenon::compiler::codegen
