// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layout of the result: exports in ordinal order, then images, then variants, both in the order of the job's objects.
//
// A variant of the file says that each of its images holds every one of its kernels. Objects of one variant are
// independent so far (none refers to another: checkUnresolved), so each stays an image of its own and becomes a variant
// of the file of its own, with the name and the architecture that they share. So does each part of PTX that is stored
// in parts; a cubin is whole, and named by all of them. Selection is per export, so nothing is lost.
//
// Ten thousand kernels have a handful of layouts, launches and proved facts between them: each is written once.
//
// Bytes depend on the job alone: no folder of a path, no clock, no hash order; zstd at a fixed level is deterministic.
#include "linker/writer/executable_writer.h"

#include "abi/format/executable_generated.h"
#include "abi/format/layout_table.h"
#include "abi/format/places.h"
#include "abi/format/verify/verify.h"
#include "abi/occupancy.h"
#include "linker/writer/image_tables.h"
#include "linker/writer/ptx_parts.h"

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>

namespace tenon::linker {
namespace {

namespace fb = abi::fb;
std::string fileName(const std::string &path) {
  return path.substr(path.find_last_of('/') + 1);
}

/// The fields of fb::KernelFacts; an empty list is an absent one.
struct Facts {
  uint32_t parameterBytes = 0, staticSharedBytes = 0;
  bool usesDynamicShared = false;
  uint32_t registers = 0, spillBytes = 0, localBytes = 0;
  bool takesAnyGrid = false;
  abi::Occupancy occupancy;
  std::vector<uint32_t> requiredThreads, maxThreads, requiredCluster;
  std::vector<fb::AccessVerdict> access;
};

/// What is proved about a kernel, as one table for all kernels about which it is the same.
/// A generated kernel that reads how many workgroups there are computes the same with any number of them: who
/// generates it writes no other (kernel_abi.md, K-25).
bool takesAnyGrid(const Kernel &kernel) {
  constexpr std::string_view kGridSize = "%nctaid";
  const Object &object = *kernel.object;
  if (object.input->origin != abi::Origin::Generated || object.isMetadataOnly ||
      object.text().find(kGridSize) == std::string_view::npos)
    return false;
  for (const ptx::Instruction &instruction : object.bodyOf(object.indexOf(*kernel.entry)).instructions)
    for (const ptx::Operand &operand : instruction.operands)
      if (operand.name.starts_with(kGridSize))
        return true;
  return false;
}

class FactTables {
public:
  explicit FactTables(flatbuffers::FlatBufferBuilder &builder) : builder_(builder) {}

  flatbuffers::Offset<fb::KernelFacts> add(const LinkContext &context, const Variant &variant, const Kernel &kernel) {
    Facts facts;
    const ptx::Function &entry = *kernel.entry;
    facts.parameterBytes = context.parameterLayouts[kernel.exportOrdinal]->bytes;
    auto extent = [](const std::optional<std::array<uint32_t, 3>> &value) {
      return value ? std::vector<uint32_t>(value->begin(), value->end()) : std::vector<uint32_t>();
    };
    facts.requiredThreads = extent(entry.requiredThreads);
    facts.maxThreads = extent(entry.maxThreads);
    facts.requiredCluster = extent(entry.requiredCluster);
    facts.staticSharedBytes = uint32_t(kernel.reachable.staticSharedBytes());
    facts.usesDynamicShared = kernel.reachable.dynamicShared != nullptr;
    facts.takesAnyGrid = takesAnyGrid(kernel);
    for (AccessVerdict verdict : kernel.access)
      facts.access.push_back(fb::AccessVerdict(verdict));
    if (const KernelResources *resources = context.resourcesOf(kernel))
      addResources(facts, *resources, context.exportOf(kernel).launch, kernel, variant.arch);
    const std::string key = keyOf(facts);
    auto [known, isNew] = known_.try_emplace(key);
    if (isNew)
      known->second = write(facts);
    return known->second;
  }

private:
  static void addResources(Facts &facts, const KernelResources &resources, const abi::Launch &launch,
                           const Kernel &kernel, abi::TargetArch arch) {
    // As it is launched: a generated kernel that uses no dynamic shared memory is given none.
    const bool isGiven = facts.usesDynamicShared || kernel.object->input->origin == abi::Origin::HandWritten;
    facts.staticSharedBytes = resources.sharedBytes;
    facts.registers = resources.registers;
    facts.spillBytes = resources.spillStoreBytes;
    facts.localBytes = resources.stackBytes;
    const bool isOwn = kernel.object->input->origin == abi::Origin::Generated && kernel.entry->requiredThreads;
    const abi::Extent3 &workgroup = isOwn ? *kernel.entry->requiredThreads : launch.workgroupSize;
    const uint64_t threads = uint64_t(workgroup[0]) * workgroup[1] * workgroup[2];
    facts.occupancy =
        abi::computeOccupancy(arch, threads, resources.registers,
                              uint64_t(resources.sharedBytes) + (isGiven ? launch.dynamicSharedBytes : 0));
  }

  flatbuffers::Offset<fb::KernelFacts> write(const Facts &facts) {
    auto extent = [this](const std::vector<uint32_t> &value) {
      return value.empty() ? flatbuffers::Offset<flatbuffers::Vector<uint32_t>>() : builder_.CreateVector(value);
    };
    auto requiredThreads = extent(facts.requiredThreads);
    auto maxThreads = extent(facts.maxThreads);
    auto requiredCluster = extent(facts.requiredCluster);
    auto access = facts.access.empty() ? flatbuffers::Offset<flatbuffers::Vector<fb::AccessVerdict>>()
                                       : builder_.CreateVector(facts.access);
    return fb::CreateKernelFacts(builder_, facts.parameterBytes, 0, requiredThreads, maxThreads,
                                 facts.staticSharedBytes, facts.usesDynamicShared, requiredCluster, facts.registers,
                                 facts.spillBytes, access, facts.localBytes, uint16_t(facts.occupancy.blocksPerSm),
                                 fb::OccupancyLimit(facts.occupancy.limit), facts.takesAnyGrid);
  }

  static std::string keyOf(const Facts &facts) {
    std::string key;
    auto add = [&key](uint32_t number) { key.append(reinterpret_cast<const char *>(&number), sizeof number); };
    for (uint32_t number : {facts.parameterBytes, facts.staticSharedBytes, uint32_t(facts.usesDynamicShared),
                            facts.registers, facts.spillBytes, facts.localBytes, facts.occupancy.blocksPerSm,
                            uint32_t(facts.occupancy.limit), uint32_t(facts.takesAnyGrid)})
      add(number);
    for (const std::vector<uint32_t> *extent : {&facts.requiredThreads, &facts.maxThreads, &facts.requiredCluster}) {
      add(uint32_t(extent->size()));
      for (uint32_t number : *extent)
        add(number);
    }
    for (fb::AccessVerdict verdict : facts.access)
      key += char(verdict);
    return key;
  }

  flatbuffers::FlatBufferBuilder &builder_;
  std::map<std::string, flatbuffers::Offset<fb::KernelFacts>> known_;
};

class Writer {
public:
  explicit Writer(const LinkContext &context)
      : context_(context), exportTables_(builder_), factTables_(builder_), images_(builder_) {}

  Result<std::vector<uint8_t>> run() {
    std::vector<abi::Export> declared = context_.job.exports;
    std::vector<flatbuffers::Offset<fb::Export>> exports;
    for (abi::Export &value : declared) {
      value.declaredAt.file = fileName(value.declaredAt.file);
      exports.push_back(exportTables_.add(value));
    }
    std::vector<flatbuffers::Offset<fb::Variant>> variants;
    for (const Variant &variant : context_.variants)
      addVariant(variant, variants);
    auto producer = builder_.CreateString("tenon " TENON_VERSION);
    auto name = builder_.CreateString(context_.job.name);
    auto exportVector = builder_.CreateVector(exports);
    auto imageVector = builder_.CreateVector(images_.tables());
    auto variantVector = builder_.CreateVector(variants);
    const std::vector<uint8_t> frame = abi::placesToFrame(declared);
    auto places = frame.empty() ? flatbuffers::Offset<flatbuffers::Vector<uint8_t>>() : builder_.CreateVector(frame);
    const bool isOrdered =
        std::ranges::any_of(declared, [](const abi::Export &value) { return !value.layout.parameters.empty(); });
    const uint32_t version = isOrdered ? abi::kOrderedFormatVersion : abi::kFormatVersion;
    fb::FinishExecutableBuffer(builder_, fb::CreateExecutable(builder_, version, producer, name, exportVector,
                                                              imageVector, variantVector, places));
    std::vector<uint8_t> executable(builder_.GetBufferPointer(), builder_.GetBufferPointer() + builder_.GetSize());
    if (Status status = abi::verifyExecutable(executable, context_.job.name); !status.ok())
      return makeError(StatusCode::Internal, "the executable written does not verify: ", status.message());
    return executable;
  }

private:
  /// The variants of the file for the objects that provide a kernel.
  void addVariant(const Variant &variant, std::vector<flatbuffers::Offset<fb::Variant>> &variants) {
    std::unordered_map<const Object *, std::vector<const Kernel *>> byObject; // lookup only
    for (const Kernel &kernel : variant.kernels)
      byObject[kernel.object].push_back(&kernel);
    const size_t count = variant.objects.size();
    for (size_t i = 0; i < count; ++i)
      if (auto kernels = byObject.find(variant.objects[i]); kernels != byObject.end())
        for (size_t position = i; const PtxPart &part : partsOf(*kernels->first, kernels->second)) {
          variants.push_back(addPart(variant, *kernels->first, part, position));
          position += count;
        }
  }

  /// As its images are stored: what stays without PTX has no parts.
  std::vector<PtxPart> partsOf(const Object &object, const std::vector<const Kernel *> &kernels) const {
    if (storesPtx(object))
      return dividePtx(object, kernels);
    return {{.kernels = kernels, .text = {}}};
  }

  flatbuffers::Offset<fb::Variant> addPart(const Variant &variant, const Object &object, const PtxPart &part,
                                           size_t position) {
    std::vector<flatbuffers::Offset<fb::Kernel>> kernels;
    for (const Kernel *kernel : part.kernels)
      kernels.push_back(addKernel(variant, *kernel));
    auto name = builder_.CreateSharedString(variant.name);
    auto images = builder_.CreateVector(addImages(object, part, position));
    auto kernelVector = builder_.CreateVector(kernels);
    fb::Arch arch(variant.arch.number, fb::ArchSuffix(variant.arch.suffix));
    return fb::CreateVariant(builder_, name, &arch, fb::Origin(variant.origin), object.input->priority, images,
                             kernelVector);
  }

  flatbuffers::Offset<fb::Kernel> addKernel(const Variant &variant, const Kernel &kernel) {
    auto facts = factTables_.add(context_, variant, kernel);
    const abi::Export &declared = context_.exportOf(kernel);
    const std::string_view symbol = kernel.entry->name;
    const bool isExports = symbol == (declared.symbol.empty() ? declared.name : declared.symbol);
    auto name =
        isExports ? flatbuffers::Offset<flatbuffers::String>() : builder_.CreateString(symbol.data(), symbol.size());
    return fb::CreateKernel(builder_, kernel.exportOrdinal, name, facts);
  }

  bool storesPtx(const Object &object) const {
    const bool isAssembled = context_.assembled.contains(&object);
    return !object.isMetadataOnly && (!isAssembled || context_.job.imagePolicy != ImagePolicy::Cubin);
  }

  /// The cubin before the PTX that it was made of: the order of preference where nothing else decides.
  std::vector<uint32_t> addImages(const Object &object, const PtxPart &part, size_t position) {
    std::vector<uint32_t> images;
    const std::string source = fileName(object.input->path);
    const uint16_t isa = object.isMetadataOnly ? 0 : object.module.isa;
    auto assembled = context_.assembled.find(&object);
    if (assembled != context_.assembled.end())
      images.push_back(images_.add({fb::ImageKind::Cubin, isa, source, position}, assembled->second.cubin));
    if (!storesPtx(object))
      return images;
    if (part.text.empty()) {
      images.push_back(images_.add({fb::ImageKind::Ptx, isa, source, position}, object.text()));
    } else { // its lines are its own
      const std::string named = concat(part.kernels.front()->entry->name, " of ", source);
      images.push_back(images_.add({fb::ImageKind::Ptx, isa, named, position}, texts_.emplace_back(part.text)));
    }
    return images;
  }

  const LinkContext &context_;
  flatbuffers::FlatBufferBuilder builder_;
  abi::ExportTables exportTables_;
  FactTables factTables_;
  ImageTables images_;
  std::deque<std::string> texts_; // of parts; images_ refers to them
};

} // namespace

Result<std::vector<uint8_t>> writeExecutable(const LinkContext &context) {
  return Writer(context).run();
}

} // namespace tenon::linker
