// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The extension tenon._core.native: what of the package has to be fast or near the C API. The rest is Python.
#include "python/native/arrays/array.h"
#include "python/native/functions/function.h"
#include "python/native/jax_call.h"
#include "python/native/kernels/kernel.h"

namespace {

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "native",
                          "The part of tenon that is written in C++.",
                          -1,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

bool fill(PyObject *module) {
  using namespace tenon::python;
  errorType = PyErr_NewExceptionWithDoc("tenon.Error",
                                        "What the runtime, the linker or the compiler refuses: its text, and "
                                        "`code` (\"invalid argument\").",
                                        PyExc_RuntimeError, nullptr);
  return errorType && PyModule_AddObjectRef(module, "Error", errorType) == 0 &&
         PyModule_AddStringConstant(module, "version", tenon_version()) == 0 && addDevice(module) && addArray(module) &&
         addFunction(module) && addProgram(module) && addKernel(module) && addExecutable(module) && addJax(module);
}

} // namespace

PyMODINIT_FUNC PyInit_native() {
  tenon::python::Ref module(PyModule_Create(&definition));
  return module && fill(module.get()) ? module.release() : nullptr;
}
