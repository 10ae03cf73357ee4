// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel_unit.h"

#include "compiler/codegen/ptx/rewrites/named_numbers.h"
#include "compiler/codegen/ptx/same_code.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace tenon::compiler::codegen {

SmallVector<size_t> oldestFirst(ArrayRef<Target> targets) {
  SmallVector<size_t> numbers = llvm::to_vector(llvm::seq<size_t>(0, targets.size()));
  llvm::sort(numbers, [&](size_t a, size_t b) {
    return std::pair(targets[a].arch.number, a) < std::pair(targets[b].arch.number, b);
  });
  return numbers;
}

std::string KernelUnit::textOf(ModuleOp module, bool withPlaces) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().useLocalScope().assumeVerified().enableDebugInfo(withPlaces));
  return StringRef(text).contains("dense_resource<") ? std::string() : text;
}

void KernelUnit::find(ArrayRef<Target> targets, const KernelCache &cache) {
  if (!cache.isEnabled() || text.empty())
    return;
  for (auto [image, target] : llvm::zip_equal(images, targets)) {
    image.key = cache.keyOf(text + alike, target.arch);
    if (std::optional<std::string> found = cache.find(image.key)) {
      image.ptx = std::move(*found);
      image.isCached = true;
    }
  }
}

LogicalResult KernelUnit::finish(ArrayRef<Target> targets, KernelCache &cache) {
  bool ok = true;
  for (size_t number : oldestFirst(targets)) {
    Image &image = images[number];
    if (image.named && !image.isCached && !image.named->ptx.empty()) {
      image.ptx = withNumbers(image.named->ptx, image.numbers);
      image.llvmIr = withNumbers(image.named->llvmIr, image.numbers);
      if (!image.key.empty())
        cache.store(image.key, image.ptx);
    }
    if (image.like && !image.like->ptx.empty()) {
      image.ptx = retargetPtx(image.like->ptx, targets[number].arch);
      if (image.waits)
        image.ptx = writeWaits(image.ptx, *image.waits);
      if (!image.key.empty())
        cache.store(image.key, image.ptx);
    }
    if (!image.job)
      continue;
    FailureOr<std::string> ptx = image.job->take();
    image.llvmIr = image.job->llvmIr();
    image.job.reset();
    image.isNew = true;
    if (failed(ptx)) {
      ok = false;
      continue;
    }
    image.ptx = std::move(*ptx);
    if (!image.key.empty())
      cache.store(image.key, image.ptx);
  }
  return success(ok);
}

} // namespace tenon::compiler::codegen
