// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small executables and programs as plain values, written to bytes without any check: a test changes one member and
// sees what verification says about it.
#pragma once

#include "abi/format/program_generated.h"
#include "abi/format/verify/verify.h"
#include "abi/format/views/executable_view.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::abi::test {

using Uints = std::vector<uint32_t>;

struct ImageParts {
  fb::ImageKind kind = fb::ImageKind::Ptx;
  fb::Compression compression = fb::Compression::None;
  std::optional<uint64_t> size; // absent: the data's
  uint16_t isa = 80;
  std::string data = ".version 8.0\n";
  size_t alignment = 16;
  uint32_t base = kNoImage;
};

struct KernelParts {
  uint32_t ordinal = 0;
  std::string symbol = "add";
  uint32_t parameterBytes = 28;
  std::optional<Uints> offsets = Uints{0, 8, 16, 24};
  std::optional<Uints> requiredThreads, maxThreads, requiredCluster;
  std::optional<std::vector<fb::AccessVerdict>> access;
  uint32_t staticShared = 0;
};

struct VariantParts {
  std::string name = "sm_80";
  uint16_t number = 80;
  fb::ArchSuffix suffix = fb::ArchSuffix::None;
  fb::Origin origin = fb::Origin::HandWritten;
  int32_t priority = 0;
  Uints images = {0};
  std::vector<KernelParts> kernels = {KernelParts()};
};

struct TensorMapParts {
  fb::TensorMapInterleave interleave = fb::TensorMapInterleave::None;
  fb::TensorMapSwizzle swizzle = fb::TensorMapSwizzle::None;
  fb::TensorMapPromotion promotion = fb::TensorMapPromotion::None;
  fb::TensorMapFill fill = fb::TensorMapFill::Zeros;
  fb::TensorMapMode mode = fb::TensorMapMode::Tiled;
};

struct ConstantParts {
  fb::ConstantKind kind = fb::ConstantKind::Word;
  fb::ElementType element = fb::ElementType::I32;
  uint32_t size = 4, alignment = 4;
  std::optional<TensorMapParts> map; // of binding 0, with boxes of four elements
};

struct BindingParts {
  bool readOnly = false;
  fb::BindingKind kind = fb::BindingKind::StorageBuffer;
  uint32_t alignment = 0;
};

struct ParameterParts {
  struct Member {
    uint32_t offset = 0, binding = 0xffffffff, constant = 0xffffffff;
    bool hidden = false;
  };
  uint32_t binding = 0xffffffff, constant = 0xffffffff;
  bool hidden = false;
  uint32_t size = 0, alignment = 0;
  std::vector<Member> members;
};

struct ExportParts {
  std::string name = "add";
  std::string symbol;
  uint32_t ordinal = 0;
  std::vector<BindingParts> bindings = {{true}, {true}, {false}};
  std::vector<ConstantParts> constants = {ConstantParts()};
  uint32_t hiddenPointers = 0;
  std::vector<ParameterParts> parameters; // empty: absent
  std::optional<Uints> workgroupSize = Uints{64, 1, 1};
  std::optional<Uints> cluster;
  uint32_t dynamicShared = 0;
};

/// One export 'add' (two read-only bindings, one written, one word), one PTX image, one variant.
struct ExecutableParts {
  uint32_t version = kFormatVersion;
  std::string name = "kernels";
  std::string places; // a frame; empty: absent
  std::vector<ExportParts> exports = {ExportParts()};
  std::vector<ImageParts> images = {ImageParts()};
  std::vector<VariantParts> variants = {VariantParts()};
};
std::vector<uint8_t> write(const ExecutableParts &parts);

struct TypeParts {
  fb::ValueKind kind = fb::ValueKind::Tensor;
  fb::ElementType element = fb::ElementType::F32;
  std::vector<int64_t> shape = {-1};
};

struct BufferParts {
  fb::BufferSource source = fb::BufferSource::Input;
  uint32_t index = 0;
  uint32_t size = 0xffffffff;
  uint32_t offset = 0xffffffff;
};

struct CommandParts {
  fb::CommandBody kind = fb::CommandBody::Dispatch;
  uint32_t executable = 0, ordinal = 0;
  Uints grid = {4, 2, 2};
  std::vector<fb::BufferRange> bindings;
  Uints constants = {1};
  fb::BufferRange source, target; // Copy, Fill
  uint32_t pattern = 0;
  uint8_t patternSize = 4;
};

struct ResultParts {
  TypeParts type;
  uint32_t buffer = 2;
  Uints shape = {0};
  uint32_t scalar = 0;
  uint32_t element = 0xffffffff;
};

struct ExpectationParts {
  fb::ExpectationKind kind = fb::ExpectationKind::Equal;
  ResultParts found;
  std::optional<ResultParts> wanted = ResultParts();
  double absolute = 0, relative = 0;
};

struct ConstantDataParts {
  std::optional<std::string> data = std::string(16, 'c');
  uint64_t offset = 0;
  std::optional<uint64_t> size; // absent: the data's
  size_t alignment = 64;
};

struct TargetParts {
  uint32_t condition = 0xffffffff;
  uint32_t block = 0;
  Uints arguments;
};

struct GlobalParts {
  std::string name = "state";
  TypeParts type = {fb::ValueKind::Scalar, fb::ElementType::I32, {}};
  uint32_t constant = 0xffffffff;
};

struct FunctionParts {
  std::string name = "main";
  std::vector<TypeParts> inputs;
  std::vector<fb::RegisterOp> registers;
  std::vector<BufferParts> buffers;
  Uints checks;
  std::vector<CommandParts> commands;
  std::vector<ResultParts> results;
  std::vector<ExpectationParts> expectations;
  uint32_t arena = 0xffffffff;
  std::vector<FunctionParts> blocks; // empty: absent, and so are these
  Uints loads;
  std::vector<fb::Store> stores;
  std::vector<TargetParts> targets;
  std::vector<std::string> inputNames, resultNames;
  Uints donated, updated;
};

struct EditionParts {
  std::vector<fb::Arch> targets = {fb::Arch(90, fb::ArchSuffix::A)};
  std::vector<FunctionParts> functions;
  std::optional<FunctionParts> initializer;
};

/// main(tensor<?xf32>, tensor<?xf32>, i32) -> tensor<?xf32>: a dispatch of 'add', then a copy of a constant, then a
/// fill.
struct ProgramParts {
  ProgramParts();
  uint32_t version = kFormatVersion;
  std::vector<ExecutableParts> executables = {ExecutableParts()};
  std::optional<std::vector<uint8_t>> rawExecutable; // instead of executables
  size_t executableAlignment = 64;
  std::vector<FunctionParts> functions;
  std::vector<ConstantDataParts> constants = {ConstantDataParts()};
  std::vector<GlobalParts> globals;
  std::optional<FunctionParts> initializer;
  std::vector<EditionParts> editions;
};
std::vector<uint8_t> write(const ProgramParts &parts);

/// Version 3, a tensor global 'weights' (4 x f32, constant 0), a scalar global 'count' (i32), and one function of three
/// blocks, main(tensor<?xf32>, i32) -> tensor<?xf32>:
///   0 (x, n)                  goes to 1 with (x, n)
///   1 (x, n, loads count)     reads x[0]; stores n to count; to itself while n is not 0, else to 2
///   2 (x)                     copies x, and returns it
ProgramParts sampleOfBlocks();

/// What verifyProgram says of it as the file 'x': nothing, or DataLoss' message.
std::string verdictOf(const ProgramParts &parts);
/// The message behind `place`, where it begins with that.
std::string within(std::string_view place, const std::string &message);

/// A copy at a 16-byte aligned address.
class AlignedBytes {
public:
  explicit AlignedBytes(const std::vector<uint8_t> &bytes);
  std::span<uint8_t> span() { return {data_, size_}; }
  std::span<const uint8_t> span() const { return {data_, size_}; }

private:
  std::vector<uint8_t> storage_;
  uint8_t *data_;
  size_t size_;
};

} // namespace tenon::abi::test
