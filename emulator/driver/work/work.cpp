// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/work/work.h"

#include "emulator/driver/module/kernel.h"

#include "support/number.h"

namespace tenon::emulator {

std::string describeWork(const Work &work) {
  struct Describe {
    std::string operator()(const EmptyWork &) const { return "empty node"; }
    std::string operator()(const KernelWork &w) const { return "kernel '" + w.kernel->decoded->name + "'"; }
    std::string operator()(const CopyWork &w) const {
      const CUDA_MEMCPY3D &c = w.copy;
      return "copy of " + std::to_string(c.WidthInBytes * c.Height * c.Depth) + " bytes";
    }
    std::string operator()(const FillWork &w) const {
      return "fill of " + std::to_string(w.fill.width * w.fill.height * w.fill.elementSize) + " bytes";
    }
    std::string operator()(const HostWork &) const { return "host function"; }
    std::string operator()(const EventRecordWork &) const { return "event record"; }
    std::string operator()(const EventWaitWork &) const { return "event wait"; }
    std::string operator()(const MemoryAllocWork &w) const {
      return "allocation of " + std::to_string(w.parameters.bytesize) + " bytes";
    }
    std::string operator()(const MemoryFreeWork &w) const { return "free of " + hexText(w.address); }
    std::string operator()(const MemoryOpsWork &w) const {
      if (w.next >= w.operations.size())
        return "memory operations";
      const CUstreamBatchMemOpParams &op = w.operations[w.next];
      bool wide = op.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
      if (!wide && op.operation != CU_STREAM_MEM_OP_WAIT_VALUE_32)
        return "memory operation";
      static constexpr const char *kRelations[] = {">=", "==", "&", "nor"};
      return "wait for the " + std::string(wide ? "64" : "32") + "-bit value at " + hexText(op.waitValue.address) +
             " " + kRelations[op.waitValue.flags & 3] + " " + hexText(wide ? op.waitValue.value64 : op.waitValue.value);
    }
    std::string operator()(const ChildGraphWork &) const { return "child graph"; }
  };
  return std::visit(Describe{}, work);
}

} // namespace tenon::emulator
