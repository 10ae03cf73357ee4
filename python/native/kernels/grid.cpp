// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "python/native/kernels/grid.h"

namespace tenon::python {

bool isNumbers(PyObject *given) {
  return PyTuple_Check(given) || PyList_Check(given);
}

bool readGrid(const char *kernel, PyObject *given, uint32_t grid[3]) {
  grid[0] = grid[1] = grid[2] = 1;
  const Py_ssize_t count = isNumbers(given) ? PySequence_Size(given) : 1;
  if (count < 1 || count > 3) {
    PyErr_Format(PyExc_ValueError, "grid of kernel '%s': expected one to three numbers of workgroups, got %zd", kernel,
                 count);
    return false;
  }
  for (Py_ssize_t axis = 0; axis < count; ++axis) {
    Ref item(isNumbers(given) ? PySequence_GetItem(given, axis) : Ref::share(given).release());
    Ref index(item ? PyNumber_Index(item.get()) : nullptr);
    if (!index) {
      PyErr_Clear();
      PyErr_Format(
          PyExc_TypeError,
          "grid of kernel '%s': %R is no number of workgroups: expected whole numbers, as in grid=8 or "
          "grid=(8, 4), or a function of the arguments that gives them; threads of a workgroup are the kernel's "
          "own (block=)",
          kernel, item.get());
      return false;
    }
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
    if (overflow || number < 0 || number > UINT32_MAX) {
      PyErr_Format(PyExc_ValueError,
                   "grid of kernel '%s': %R workgroups; wanted: 0 to 2147483647 along x, 65535 along y "
                   "and z",
                   kernel, index.get());
      return false;
    }
    grid[axis] = static_cast<uint32_t>(number);
  }
  return true;
}

bool findGrid(const char *kernel, PyObject *given, PyObject *arguments, uint32_t grid[3]) {
  if (isNumbers(given) || !PyCallable_Check(given))
    return readGrid(kernel, given, grid);
  Ref said(PyObject_CallObject(given, arguments));
  return said && readGrid(kernel, said.get(), grid);
}

} // namespace tenon::python
