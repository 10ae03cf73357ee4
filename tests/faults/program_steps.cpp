// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program: calls with and without graphs, on a queue, and within a capture of the caller's.
#include "scenario_run.h"

#include <bit>
#include <dlfcn.h>

namespace tenon::faults {

/// Two inputs of the program.
Result<std::vector<Value>> Scenario::arguments() {
  const float values[] = {1, 2};
  std::vector<Value> out;
  for (float value : values) {
    TENON_ASSIGN_OR_RETURN(auto of, buffer(std::vector<uint32_t>(kThreads, std::bit_cast<uint32_t>(value))));
    out.push_back(tensor(std::move(of)));
  }
  return out;
}

Status Scenario::expectSum(const std::vector<Value> &results) {
  return expect(*std::get<Tensor>(results[0]).buffer,
                std::vector<uint32_t>(kThreads, std::bit_cast<uint32_t>(1.f + 9.f + 2.f)));
}

void Scenario::program() {
  step("program", [&]() -> Status {
    TENON_ASSIGN_OR_RETURN(program_, Program::load(device_, programBytes_.span(), "faults"));
    return okStatus();
  });
  for (int i = 0; i < 3; ++i)
    for (CallOptions options : {CallOptions{}, CallOptions{.graph = false}, CallOptions{.synchronous = true}})
      step("call", [&]() -> Status {
        TENON_ASSIGN_OR_RETURN(auto inputs, arguments());
        TENON_ASSIGN_OR_RETURN(auto results, program_->call(0, inputs, options));
        return expectSum(results);
      });
  for (int i = 0; i < 2; ++i)
    step("submit a call", [&]() -> Status {
      TENON_ASSIGN_OR_RETURN(auto inputs, arguments());
      std::vector<Value> results;
      TENON_RETURN_IF_ERROR(submitAndWait(
          [&](SemaphorePoints signals) { return program_->submit(*queue_, {}, 0, inputs, results, signals); }));
      return expectSum(results);
    });
  step("call in a capture", [&]() -> Status { return capture(); });
}

/// A call that becomes part of a graph of the caller's, which is launched then.
Status Scenario::capture() {
  void *library = dlopen(device_->driver().path().c_str(), RTLD_NOW | RTLD_LOCAL);
  auto begin = reinterpret_cast<decltype(&::cuStreamBeginCapture_v2)>(dlsym(library, "cuStreamBeginCapture_v2"));
  auto end = reinterpret_cast<decltype(&::cuStreamEndCapture)>(dlsym(library, "cuStreamEndCapture"));
  const cuda::Driver &driver = device_->driver();
  TENON_ASSIGN_OR_RETURN(auto inputs, arguments());
  TENON_ASSIGN_OR_RETURN(auto result, allocateBuffer(*device_, kBytes, {}));
  std::vector<Value> results = {tensor(result)};
  cuda::ContextScope scope = device_->enter();
  TENON_RETURN_IF_ERROR(scope.status());
  CUstream handle = nullptr;
  TENON_RETURN_IF_ERROR(called(driver.cuStreamCreate(&handle, CU_STREAM_NON_BLOCKING), "cuStreamCreate"));
  cuda::StreamHandle stream(driver, handle);
  TENON_RETURN_IF_ERROR(called(begin(handle, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "cuStreamBeginCapture_v2"));
  Status status = program_->callInto(0, inputs, results, {.stream = handle});
  CUgraph graph = nullptr;
  Status ended = called(end(handle, &graph), "cuStreamEndCapture");
  if (status.ok())
    status = std::move(ended);
  CUgraphExec exec = nullptr;
  if (status.ok())
    status = called(driver.cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiateWithFlags");
  if (status.ok())
    status = called(driver.cuGraphLaunch(exec, handle), "cuGraphLaunch");
  if (Status finished = called(driver.cuStreamSynchronize(handle), "cuStreamSynchronize"); status.ok())
    status = std::move(finished);
  if (exec)
    (void)driver.cuGraphExecDestroy(exec);
  if (graph)
    (void)driver.cuGraphDestroy(graph);
  TENON_RETURN_IF_ERROR(std::move(status));
  return expectSum(results);
}

} // namespace tenon::faults
