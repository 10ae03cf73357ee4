// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/check_kernel/guarded_run.h"

#include "runtime/executable/argument_packer.h"
#include "runtime/memory/allocator.h"
#include "runtime/memory/transfer.h"
#include "support/memory.h"

#include <algorithm>

namespace tenon::runtime {
namespace {

constexpr uint64_t kGuardBytes = 4096; // a multiple of every alignment that an allocation has

/// A binding in its memory.
struct Placed {
  std::shared_ptr<Buffer> buffer;
  uint64_t before = 0, bytes = 0; // guard in front, contents
};

uint64_t shiftOf(const abi::Binding &binding, abi::ElementType element) {
  const uint64_t promised = binding.alignment != 0 ? binding.alignment : abi::byteSize(element);
  return promised % kBufferAlignment; // where more is promised, the next such address is as good as the first
}

Result<Placed> place(Device &device, const CaseBinding &binding, const abi::Binding &declared,
                     const RunOptions &options) {
  Placed out;
  out.bytes = binding.value.bytes.size();
  if (options.guarded)
    out.before = kGuardBytes + (options.shifted ? shiftOf(declared, binding.value.element) : 0);
  std::vector<uint8_t> image;
  TENON_RETURN_IF_ERROR(resizeChecked(image, out.before + out.bytes + (options.guarded ? kGuardBytes : 0),
                                      "a binding between its guards"));
  std::fill(image.begin(), image.end(), options.guard);
  const bool isOutput = binding.role == BindingRole::Output || binding.role == BindingRole::PartialOutput;
  const auto contents = image.begin() + ptrdiff_t(out.before);
  if (isOutput)
    std::fill_n(contents, out.bytes, options.fill);
  else
    std::copy(binding.value.bytes.begin(), binding.value.bytes.end(), contents);
  TENON_ASSIGN_OR_RETURN(out.buffer, allocateOnStream(device, image.size()));
  TENON_RETURN_IF_ERROR(uploadBytes(*out.buffer, 0, image));
  return out;
}

void findDamage(uint32_t binding, const Placed &placed, const std::vector<uint8_t> &image, uint8_t guard,
                std::vector<GuardDamage> &out) {
  GuardDamage before = {binding, 0, 0, 0, guard}, behind = before;
  for (uint64_t i = placed.before; i-- > 0;)
    if (image[i] != guard && before.count++ == 0) {
      before.first = int64_t(i) - int64_t(placed.before);
      before.found = image[i];
    }
  for (uint64_t i = placed.before + placed.bytes; i < image.size(); ++i)
    if (image[i] != guard && behind.count++ == 0) {
      behind.first = int64_t(i - placed.before);
      behind.found = image[i];
    }
  for (const GuardDamage &damage : {before, behind})
    if (damage.count)
      out.push_back(damage);
}

} // namespace

Result<RunResult> runCase(Device &device, const LoadedExport &kernel, const Case &inputs, const RunOptions &options) {
  std::shared_ptr<Buffer> spacer;
  if (options.displaced) {
    TENON_ASSIGN_OR_RETURN(spacer, allocateOnStream(device, options.displaced));
  }
  std::vector<Placed> placed;
  std::vector<DeviceRange> ranges;
  for (size_t i = 0; i < inputs.bindings.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Placed one,
                           place(device, inputs.bindings[i], kernel.declaration->layout.bindings[i], options));
    ranges.push_back({one.buffer->address() + one.before, one.bytes});
    placed.push_back(std::move(one));
  }
  cuda::ContextScope scope = device.enter(); // a driver encodes tensor maps in a context only
  TENON_RETURN_IF_ERROR(scope.status());
  TENON_ASSIGN_OR_RETURN(ArgumentPack arguments,
                         ArgumentPack::pack(kernel.parameters, kernel.encodeTensorMap, ranges, inputs.constants));
  TENON_RETURN_IF_ERROR(
      device.stream().launch(kernel.function, inputs.grid, kernel.launch, arguments.kernelParameters()));
  TENON_RETURN_IF_ERROR(device.stream().synchronize());

  RunResult out;
  for (uint32_t i = 0; i < placed.size(); ++i) {
    std::vector<uint8_t> image;
    TENON_RETURN_IF_ERROR(resizeChecked(image, placed[i].buffer->size(), "what a binding holds after the launch"));
    TENON_RETURN_IF_ERROR(downloadBytes(*placed[i].buffer, 0, image));
    if (options.guarded)
      findDamage(i, placed[i], image, options.guard, out.damage);
    const auto contents = image.begin() + ptrdiff_t(placed[i].before);
    out.contents.emplace_back(contents, contents + ptrdiff_t(placed[i].bytes));
  }
  return out;
}

} // namespace tenon::runtime
