// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operation that does a piece of work: the only kind there is.
#pragma once

#include "emulator/driver/operation.h"
#include "emulator/driver/work/work.h"

#include <utility>

namespace tenon::emulator {

struct WorkOperation final : Operation {
  WorkOperation(Context *onContext, uint64_t onStream, Work &&given = EmptyWork{}) : work(std::move(given)) {
    context = onContext;
    stream = onStream;
  }

  bool canRun() const override;
  bool run(Fault &fault) override;
  void fail(const Fault &fault) override;
  void release() override { work = EmptyWork{}; }
  bool isHostFunction() const override { return std::holds_alternative<HostWork>(work); }
  void callHostFunction(CUresult status) override;
  bool watchesMemory() const override { return std::holds_alternative<MemoryOpsWork>(work); }
  std::string describeWait() const override;

  Work work;
};

} // namespace tenon::emulator
