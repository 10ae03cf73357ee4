// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "python/native/object/interrupt.h"

#include "runtime/c_api/support.h"

#include <atomic>
#include <csignal>

namespace tenon::python {

namespace {

// A signal handler has nothing else to go by.
std::atomic<bool (*)()> endLaunch = nullptr;
static_assert(std::atomic<bool (*)()>::is_always_lock_free);
struct sigaction previous = {};

extern "C" void onInterrupt(int number, siginfo_t *info, void *context) {
  if (bool (*end)() = endLaunch)
    end();
  if (previous.sa_flags & SA_SIGINFO)
    previous.sa_sigaction(number, info, context);
  else
    previous.sa_handler(number);
}

} // namespace

void endLaunchesOnInterrupt(tenon_device_t *device) {
  bool (*end)() = device->value->driver().interrupt;
  if (!end || endLaunch.load())
    return;
  // Where the signal ends the process, or is ignored, it stays so.
  if (sigaction(SIGINT, nullptr, &previous) != 0 ||
      (!(previous.sa_flags & SA_SIGINFO) && (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN)))
    return;
  endLaunch = end;
  struct sigaction action = previous;
  action.sa_sigaction = onInterrupt;
  action.sa_flags |= SA_SIGINFO;
  sigaction(SIGINT, &action, nullptr);
}

bool checkWait(tenon_status_t *status) {
  if (check(status))
    return true;
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (PyErr_CheckSignals() == 0) {
    PyErr_Restore(type, value, trace);
    return false;
  }
  PyObject *raisedType = nullptr, *raised = nullptr, *raisedTrace = nullptr;
  PyErr_Fetch(&raisedType, &raised, &raisedTrace);
  PyErr_NormalizeException(&raisedType, &raised, &raisedTrace);
  if (raised && value)
    PyException_SetContext(raised, Ref::share(value).release()); // it takes the reference over
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  PyErr_Restore(raisedType, raised, raisedTrace);
  return false;
}

} // namespace tenon::python
