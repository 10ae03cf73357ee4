// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/check_kernel/reference.h"

#include "runtime/program/program.h"
#include "runtime/program/program_file.h"
#include "runtime/tools/check_kernel/guarded_run.h"
#include "runtime/tools/npy.h"
#include "support/files/file.h"
#include "support/number.h"
#include "support/text/text.h"

#include <cstring>

namespace tenon::runtime {
namespace {

bool isOutput(const CaseBinding &binding) {
  return binding.role != BindingRole::Input;
}

/// Result `i` has the type of output `i`.
Status checkOutputs(const std::vector<HostTensor> &outputs, const Case &inputs) {
  size_t next = 0;
  for (const CaseBinding &binding : inputs.bindings) {
    if (!isOutput(binding))
      continue;
    if (next == outputs.size())
      return makeError(StatusCode::InvalidArgument, "the reference has ", outputs.size(),
                       " results, the kernel more outputs");
    const HostTensor &found = outputs[next++];
    if (found.bytes.size() != binding.value.bytes.size() ||
        abi::byteSize(found.element) != abi::byteSize(binding.value.element))
      return makeError(StatusCode::InvalidArgument, "result ", next - 1, " of the reference is ",
                       tensorTypeSpelling(found.shape, found.element), ", the output is ",
                       tensorTypeSpelling(binding.value.shape, binding.value.element));
  }
  if (next != outputs.size())
    return makeError(StatusCode::InvalidArgument, "the reference has ", outputs.size(), " results, the kernel ", next,
                     " outputs");
  return okStatus();
}

class ExportReference : public Reference {
public:
  ExportReference(std::string file, std::unique_ptr<Session> session, uint32_t ordinal)
      : file_(std::move(file)), session_(std::move(session)), ordinal_(ordinal) {}

  static Result<std::unique_ptr<Reference>> make(std::string file, std::span<const uint8_t> bytes, std::string path,
                                                 const SessionOptions &options, std::string_view name,
                                                 const abi::Export &declared) {
    auto owned = std::make_unique<ExportReference>(std::move(file), nullptr, 0);
    if (!owned->file_.empty())
      bytes = {reinterpret_cast<const uint8_t *>(owned->file_.data()), owned->file_.size()};
    TENON_ASSIGN_OR_RETURN(owned->session_, Session::open(bytes, std::move(path), options));
    const abi::ExecutableView &view = owned->session_->executable().view();
    TENON_ASSIGN_OR_RETURN(owned->ordinal_, view.findExport(name));
    const abi::Layout &layout = view.exportAt(owned->ordinal_).layout;
    if (layout.bindings.size() != declared.layout.bindings.size() ||
        layout.constants.size() != declared.layout.constants.size())
      return makeError(StatusCode::InvalidArgument, "export '", name, "' takes ", layout.toString(), ", '",
                       declared.name, "' takes ", declared.layout.toString());
    TENON_RETURN_IF_ERROR(owned->session_->load(owned->ordinal_).takeStatus());
    return std::unique_ptr<Reference>(std::move(owned));
  }

  Result<std::vector<HostTensor>> outputs(const Case &inputs) override {
    TENON_ASSIGN_OR_RETURN(const LoadedExport *kernel, session_->load(ordinal_));
    Result<RunResult> run = runCase(session_->device(), *kernel, inputs, {.guarded = false});
    if (!run.ok())
      return run.takeStatus();
    std::vector<HostTensor> out;
    for (size_t i = 0; i < inputs.bindings.size(); ++i)
      if (isOutput(inputs.bindings[i]))
        out.push_back({inputs.bindings[i].value.element, inputs.bindings[i].value.shape, std::move(run->contents[i])});
    return out;
  }
  void close() override { session_->close(); }

private:
  std::string file_;
  std::unique_ptr<Session> session_;
  uint32_t ordinal_;
};

class ProgramReference : public Reference {
public:
  static Result<std::unique_ptr<Reference>> make(const std::string &path, std::string_view call,
                                                 const ReferenceContext &context) {
    TENON_ASSIGN_OR_RETURN(ProgramFile file, ProgramFile::open(path));
    std::unique_ptr<ProgramReference> out(new ProgramReference(std::move(file), path, context.options.device));
    TENON_RETURN_IF_ERROR(out->ensureOpen());
    const size_t open = call.find('(');
    TENON_ASSIGN_OR_RETURN(out->function_, out->program_->findFunction(trimmed(call.substr(0, open))));
    if (open != std::string_view::npos)
      TENON_RETURN_IF_ERROR(out->readArguments(call.substr(open), context.declared->layout));
    else
      for (uint32_t i = 0; i < context.declared->layout.bindings.size(); ++i)
        if (context.declared->layout.bindings[i].readOnly)
          out->arguments_.push_back({false, i});
    out->layout_ = context.declared->layout;
    TENON_RETURN_IF_ERROR(checkCount(*out));
    return std::unique_ptr<Reference>(std::move(out));
  }

  void close() override {
    program_.reset();
    device_.reset();
  }

  Result<std::vector<HostTensor>> outputs(const Case &inputs) override {
    TENON_RETURN_IF_ERROR(ensureOpen());
    std::vector<Value> values;
    for (const Argument &argument : arguments_) {
      if (argument.isConstant) {
        Scalar scalar = {layout_.constants[argument.index].element, 0};
        const std::vector<uint8_t> &bytes = inputs.constantBytes[argument.index];
        std::memcpy(&scalar.bits, bytes.data(), bytes.size());
        const int unused = 64 - 8 * int(bytes.size());
        if (!abi::isFloat(scalar.element) && unused > 0)
          scalar.bits = int64_t(uint64_t(scalar.bits) << unused) >> unused;
        values.push_back(scalar);
      } else {
        TENON_ASSIGN_OR_RETURN(Tensor tensor, uploadTensor(*device_, inputs.bindings[argument.index].value));
        values.push_back(std::move(tensor));
      }
    }
    TENON_ASSIGN_OR_RETURN(std::vector<Value> results, program_->call(function_, values));
    std::vector<HostTensor> out;
    for (const Value &result : results)
      if (const Tensor *tensor = std::get_if<Tensor>(&result)) {
        TENON_ASSIGN_OR_RETURN(HostTensor downloaded, downloadTensor(*device_, *tensor));
        out.push_back(std::move(downloaded));
      }
    return out;
  }

private:
  struct Argument {
    bool isConstant = false;
    uint32_t index = 0;
  };
  ProgramReference(ProgramFile file, std::string path, const cuda::DeviceSelector &selector)
      : file_(std::move(file)), path_(std::move(path)), selector_(selector) {}

  Status ensureOpen() {
    if (program_)
      return okStatus();
    TENON_ASSIGN_OR_RETURN(device_, Device::open(selector_, cuda::DriverSearch::fromEnvironment()));
    TENON_ASSIGN_OR_RETURN(program_, Program::load(device_, file_.bytes(), path_));
    return okStatus();
  }

  static Status checkCount(const ProgramReference &reference) {
    const abi::fb::Function &function = reference.program_->function(reference.function_);
    const size_t wanted = function.inputs() ? function.inputs()->size() : 0;
    if (wanted == reference.arguments_.size())
      return okStatus();
    return makeError(StatusCode::InvalidArgument, "function '", function.name()->string_view(), "' takes ", wanted,
                     " inputs, ", reference.arguments_.size(),
                     " are given: list them, as in FILE.tenon:FUNCTION(b0, b1, c0)");
  }

  /// "(b0, c1)".
  Status readArguments(std::string_view text, const abi::Layout &layout) {
    if (!text.ends_with(')'))
      return makeError(StatusCode::InvalidArgument, "'", text, "': '(' without ')'");
    text = trimmed(text.substr(1, text.size() - 2));
    while (!text.empty()) {
      const size_t comma = std::min(text.find(','), text.size());
      const std::string_view word = trimmed(text.substr(0, comma));
      text = trimmed(text.substr(std::min(comma + 1, text.size())));
      Argument argument;
      argument.isConstant = word.starts_with('c');
      const bool isNamed = word.starts_with('b') || word.starts_with('c');
      const std::optional<uint32_t> index = isNamed ? parseNumber<uint32_t>(word.substr(1)) : std::nullopt;
      const size_t count = argument.isConstant ? layout.constants.size() : layout.bindings.size();
      if (!index || *index >= count)
        return makeError(StatusCode::InvalidArgument, "'", word, "' is none of the export's bindings (b0 to b",
                         layout.bindings.size() - 1, ") and constants (c0 ...)");
      argument.index = *index;
      if (argument.isConstant && layout.constants[argument.index].kind != abi::ConstantKind::Scalar)
        return makeError(StatusCode::InvalidArgument, "constant ", argument.index,
                         " has no type: a function takes scalars, constants = [i32]");
      arguments_.push_back(argument);
    }
    return okStatus();
  }

  ProgramFile file_;
  std::string path_;
  cuda::DeviceSelector selector_;
  std::shared_ptr<Device> device_;
  std::unique_ptr<Program> program_;
  uint32_t function_ = 0;
  std::vector<Argument> arguments_;
  abi::Layout layout_;
};

class NpyReference : public Reference {
public:
  static Result<std::unique_ptr<Reference>> make(std::string_view text) {
    auto out = std::make_unique<NpyReference>();
    while (!text.empty()) {
      const size_t comma = std::min(text.find(','), text.size());
      std::string_view path = trimmed(text.substr(0, comma));
      text = trimmed(text.substr(std::min(comma + 1, text.size())));
      if (!path.starts_with('@'))
        return makeError(StatusCode::InvalidArgument, "'", path, "': expected @FILE.npy");
      TENON_ASSIGN_OR_RETURN(std::string file, readFile(std::string(path.substr(1))));
      size_t offset = 0;
      Result<HostTensor> tensor = readNpy(file, offset);
      if (!tensor.ok())
        return tensor.takeStatus().withContext(concat("'", path.substr(1), "'"));
      out->outputs_.push_back(tensor.take());
    }
    return std::unique_ptr<Reference>(std::move(out));
  }
  Result<std::vector<HostTensor>> outputs(const Case &) override { return outputs_; }
  void close() override {}

private:
  std::vector<HostTensor> outputs_;
};

/// Refuses results of other types than the outputs, whoever computes them.
class CheckedReference : public Reference {
public:
  explicit CheckedReference(std::unique_ptr<Reference> inner) : inner_(std::move(inner)) {}
  Result<std::vector<HostTensor>> outputs(const Case &inputs) override {
    TENON_ASSIGN_OR_RETURN(std::vector<HostTensor> out, inner_->outputs(inputs));
    TENON_RETURN_IF_ERROR(checkOutputs(out, inputs));
    return out;
  }
  void close() override { inner_->close(); }

private:
  std::unique_ptr<Reference> inner_;
};

Result<std::unique_ptr<Reference>> select(std::string_view text, const ReferenceContext &context) {
  if (text.starts_with('@'))
    return NpyReference::make(text);
  SessionOptions options = context.options;
  options.executable = {};
  if (text == "generated") {
    options.executable.origin = abi::Origin::Generated;
    return ExportReference::make("", context.bytes, context.path, options, context.declared->name, *context.declared);
  }
  if (text.starts_with("export "))
    return ExportReference::make("", context.bytes, context.path, options, trimmed(text.substr(7)), *context.declared);
  const size_t open = std::min(text.find('('), text.size());
  const size_t colon = text.substr(0, open).rfind(':');
  if (colon == std::string_view::npos)
    return makeError(StatusCode::InvalidArgument,
                     "expected export NAME, FILE.tnx:EXPORT, FILE.tenon:FUNCTION(b0, c0), @FILE.npy or generated");
  const std::string path(text.substr(0, colon));
  if (path.ends_with(".tenon"))
    return ProgramReference::make(path, text.substr(colon + 1), context);
  TENON_ASSIGN_OR_RETURN(std::string file, readFile(path));
  return ExportReference::make(std::move(file), {}, path, options, trimmed(text.substr(colon + 1)), *context.declared);
}

} // namespace

Result<std::unique_ptr<Reference>> makeReference(std::string_view text, const ReferenceContext &context) {
  Result<std::unique_ptr<Reference>> reference = select(trimmed(text), context);
  if (!reference.ok())
    return reference.takeStatus().withContext(concat("reference '", text, "'"));
  return std::unique_ptr<Reference>(std::make_unique<CheckedReference>(reference.take()));
}

} // namespace tenon::runtime
