// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of a program as a callable. What is known of it is read once; a call reads its arguments in place
// (view.h), gives the work to the caller's stream and hands results over in the caller's library:
//
//   CUDA arrays of PyTorch or CuPy   on that library's current stream, returns at once; results come from its allocator
//   other CUDA arrays                on the device's own stream, complete when the call returns
//   host arrays                      likewise; where they are on the emulator, copied to and from a GPU
#include "python/native/functions/function.h"

#include "python/native/functions/function_call.h"
#include "python/native/object/elements.h"

namespace tenon::python {

namespace {

PyTypeObject *functionType = nullptr;

PyObject *call(PyObject *self, PyObject *arguments, PyObject *keywords) {
  Call one(valueOf<Function>(self), arguments);
  if (!one.checkNames(keywords) || !one.readArguments() || !one.readOptions(keywords) || !one.run())
    return nullptr;
  return one.takeResults();
}

PyObject *typeTuple(const Type &type, const char *name) {
  return Py_BuildValue("(ssONOOn)", name, type.isUnread ? "any" : spellingOf(type.element),
                       type.isScalar || type.isUnread ? Py_True : Py_False, shapeTuple(type.shape, type.rank),
                       type.isDonated ? Py_True : Py_False, type.isUpdated ? Py_True : Py_False,
                       static_cast<Py_ssize_t>(type.inputPlusOne) - 1);
}

Type typeOf(const tenon_type_info_t &type) {
  return {type.element, type.is_scalar,  type.is_unread,  type.rank,
          type.shape,   type.is_donated, type.is_updated, type.input_plus_one};
}

/// (name, documentation, inputs, results, runs_on_host, has_expectations); a type is (name, element, is scalar, shape,
/// is donated, is updated, input whose memory it comes back in or -1).
PyObject *info(PyObject *self, void *) {
  const Function &function = valueOf<Function>(self);
  Ref inputs(PyList_New(0)), results(PyList_New(0));
  for (int which = 0; which < 2; ++which)
    for (size_t i = 0; i < (which ? function.results : function.inputs).size(); ++i) {
      tenon_type_info_t type = {};
      type.struct_size = sizeof(type);
      if (!check(which ? tenon_program_result_info(function.handle, function.index, i, &type)
                       : tenon_program_input_info(function.handle, function.index, i, &type)))
        return nullptr;
      Ref tuple(typeTuple(typeOf(type), type.name));
      if (!tuple || PyList_Append(which ? results.get() : inputs.get(), tuple.get()) < 0)
        return nullptr;
    }
  return Py_BuildValue("(ssOOOO)", function.info.name, function.info.documentation, inputs.get(), results.get(),
                       function.info.runs_on_host ? Py_True : Py_False,
                       function.info.has_expectations ? Py_True : Py_False);
}
PyObject *name(PyObject *self, void *) {
  return PyUnicode_FromString(valueOf<Function>(self).info.name);
}
PyObject *signature(PyObject *self, void *) {
  return interopCall("signature_text", Py_BuildValue("(N)", info(self, nullptr)));
}
PyObject *represent(PyObject *self) {
  Ref text(signature(self, nullptr));
  return text ? PyUnicode_FromFormat("<tenon.Function %U>", text.get()) : nullptr;
}

PyGetSetDef properties[] = {
    {"info", info, nullptr, "What tenon.FunctionInfo is made from.", nullptr},
    {"signature", signature, nullptr, "'mul(f32[?], f32[?]) -> f32[?]'", nullptr},
    {"__name__", name, nullptr, nullptr, nullptr},
    {},
};
PyType_Slot slots[] = {
    {Py_tp_doc,
     const_cast<char *>("A function of a program: call it with arrays and numbers. `stream` is where it runs, "
                        "`out` an array or a tuple of arrays that take its results; with `keep` inputs that "
                        "the function may write stay as they are.")},
    {Py_tp_call, slot(call)},
    {Py_tp_dealloc, slot(deleteObject<Function>)},
    {Py_tp_repr, slot(represent)},
    {Py_tp_getset, properties},
    {0, nullptr},
};
PyType_Spec spec = {"tenon._core.native.Function", sizeof(Object<Function>), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

} // namespace

PyObject *makeFunction(PyObject *program, tenon_program_t *handle, PyObject *device, uint32_t index) {
  Function function;
  function.program = Ref::share(program);
  function.device = Ref::share(device);
  function.handle = handle;
  function.index = index;
  function.info.struct_size = sizeof(function.info);
  if (!check(tenon_program_function_info(handle, index, &function.info)))
    return nullptr;
  for (int which = 0; which < 2; ++which)
    for (size_t i = 0; i < (which ? function.info.result_count : function.info.input_count); ++i) {
      tenon_type_info_t type = {};
      type.struct_size = sizeof(type);
      if (!check(which ? tenon_program_result_info(handle, index, i, &type)
                       : tenon_program_input_info(handle, index, i, &type)))
        return nullptr;
      (which ? function.results : function.inputs).push_back(typeOf(type));
    }
  return makeObject(functionType, std::move(function));
}

bool describeFunction(PyObject *object, CallTarget *out, const Device **device) {
  if (!PyObject_TypeCheck(object, functionType))
    return false;
  const Function &function = valueOf<Function>(object);
  *device = &function.deviceValue();
  out->handle = function.handle;
  out->index = function.index;
  out->name = function.info.name;
  out->runsOnHost = function.info.runs_on_host;
  for (const Type &input : function.inputs)
    out->inputs.push_back({input.isScalar, input.isUnread, input.element});
  out->resultCount = function.results.size();
  return true;
}

bool addFunction(PyObject *module) {
  return (functionType = addType(module, spec)) != nullptr;
}

} // namespace tenon::python
