// Layout of the result: exports in ordinal order, then images, then variants, both in the order of the job's objects.
//
// A variant of the file says that each of its images holds every one of its kernels. Objects of one variant are
// independent so far (none refers to another: checkUnresolved), so each stays an image of its own and becomes a variant
// of the file of its own, with the name and the architecture that they share. Selection is per export, so nothing is
// lost.
//
// Bytes depend on the job alone: no folder of a path, no clock, no hash order; zstd at a fixed level is deterministic.
#include "linker/writer/executable_writer.h"

#include "abi/executable_generated.h"
#include "abi/executable_view.h"
#include "abi/verify.h"

#include <algorithm>
#include <map>
#include <zstd.h>

namespace tenon::linker {
namespace {

namespace fb = abi::fb;
constexpr int kZstdLevel = 12; // PTX of 1 MB in well under a second, within 2 % of the highest level

std::string fileName(const std::string &path) {
  return path.substr(path.find_last_of('/') + 1);
}

class Writer {
public:
  explicit Writer(const LinkContext &context) : context_(context) {}

  Result<LinkOutput> run() {
    std::vector<flatbuffers::Offset<fb::Export>> exports;
    for (abi::Export declared : context_.job.exports) {
      declared.declaredAt.file = fileName(declared.declaredAt.file);
      exports.push_back(abi::exportToTable(builder_, declared));
    }
    std::vector<flatbuffers::Offset<fb::Variant>> variants;
    for (const Variant &variant : context_.variants)
      for (const Object *object : variant.objects)
        addVariant(variant, *object, variants);
    auto producer = builder_.CreateString("tenon " TENON_VERSION);
    auto name = builder_.CreateString(context_.job.name);
    auto exportVector = builder_.CreateVector(exports);
    auto imageVector = builder_.CreateVector(images_);
    auto variantVector = builder_.CreateVector(variants);
    fb::FinishExecutableBuffer(builder_, fb::CreateExecutable(builder_, abi::kFormatVersion, producer, name,
                                                              exportVector, imageVector, variantVector));
    LinkOutput output;
    output.executable.assign(builder_.GetBufferPointer(), builder_.GetBufferPointer() + builder_.GetSize());
    if (Status status = abi::verifyExecutable(output.executable, context_.job.name); !status.ok())
      return makeError(StatusCode::Internal, "the executable written does not verify: ", status.message());
    return output;
  }

private:
  /// The variant of the file for the kernels that `object` provides; none when it provides none.
  void addVariant(const Variant &variant, const Object &object,
                  std::vector<flatbuffers::Offset<fb::Variant>> &variants) {
    std::vector<flatbuffers::Offset<fb::Kernel>> kernels;
    for (const Kernel &kernel : variant.kernels)
      if (kernel.object == &object)
        kernels.push_back(addKernel(kernel));
    if (kernels.empty())
      return;
    auto name = builder_.CreateString(variant.name);
    auto images = builder_.CreateVector(addImages(object));
    auto kernelVector = builder_.CreateVector(kernels);
    fb::Arch arch(variant.arch.number, fb::ArchSuffix(variant.arch.suffix));
    variants.push_back(fb::CreateVariant(builder_, name, &arch, fb::Origin(variant.origin), object.input->priority,
                                         images, kernelVector));
  }

  flatbuffers::Offset<fb::Kernel> addKernel(const Kernel &kernel) {
    const abi::ParameterLayout &layout = *context_.parameterLayouts[kernel.exportOrdinal];
    const ptx::Function &entry = *kernel.entry;
    std::vector<uint32_t> offsets;
    for (const abi::Parameter &parameter : layout.parameters)
      offsets.push_back(parameter.offset);
    auto extent = [this](const std::optional<std::array<uint32_t, 3>> &value) {
      return value ? builder_.CreateVector(value->data(), value->size())
                   : flatbuffers::Offset<flatbuffers::Vector<uint32_t>>();
    };
    auto symbol = builder_.CreateString(entry.name.data(), entry.name.size());
    auto offsetVector = builder_.CreateVector(offsets);
    auto requiredThreads = extent(entry.requiredThreads);
    auto maxThreads = extent(entry.maxThreads);
    auto requiredCluster = extent(entry.requiredCluster);

    std::vector<fb::AccessVerdict> verdicts;
    for (AccessVerdict verdict : kernel.access)
      verdicts.push_back(fb::AccessVerdict(verdict));
    auto access = builder_.CreateVector(verdicts);

    fb::KernelFactsBuilder facts(builder_);
    facts.add_parameter_bytes(layout.bytes);
    facts.add_parameter_offsets(offsetVector);
    if (!requiredThreads.IsNull())
      facts.add_required_threads(requiredThreads);
    if (!maxThreads.IsNull())
      facts.add_max_threads(maxThreads);
    const KernelResources *resources = context_.resourcesOf(kernel);
    facts.add_static_shared_bytes(resources ? resources->sharedBytes : uint32_t(kernel.reachable.staticSharedBytes()));
    facts.add_uses_dynamic_shared(kernel.reachable.dynamicShared != nullptr);
    if (!requiredCluster.IsNull())
      facts.add_required_cluster(requiredCluster);
    if (!verdicts.empty())
      facts.add_access(access);
    if (resources) {
      facts.add_registers(resources->registers);
      facts.add_spill_bytes(resources->spillStoreBytes);
    }
    return fb::CreateKernel(builder_, kernel.exportOrdinal, symbol, facts.Finish());
  }

  /// The cubin before the PTX that it was made of: the order of preference where nothing else decides.
  std::vector<uint32_t> addImages(const Object &object) {
    std::vector<uint32_t> images;
    auto assembled = context_.assembled.find(&object);
    if (assembled != context_.assembled.end())
      images.push_back(addImage(object, fb::ImageKind::Cubin, assembled->second.cubin));
    if (!object.isMetadataOnly && (images.empty() || context_.job.imagePolicy != ImagePolicy::Cubin))
      images.push_back(addImage(object, fb::ImageKind::Ptx, object.text()));
    return images;
  }

  /// Index of an image; equal bytes are stored once. The bytes live as long as the context.
  uint32_t addImage(const Object &object, fb::ImageKind kind, std::string_view given) {
    auto [found, isNew] = imageIndex_.try_emplace(given, uint32_t(images_.size()));
    if (!isNew)
      return found->second;
    std::vector<uint8_t> packed(ZSTD_compressBound(given.size()));
    const size_t packedSize = ZSTD_compress(packed.data(), packed.size(), given.data(), given.size(), kZstdLevel);
    const bool pays = !ZSTD_isError(packedSize) && packedSize < given.size();
    const auto *bytes = pays ? packed.data() : reinterpret_cast<const uint8_t *>(given.data());
    const size_t size = pays ? packedSize : given.size();
    builder_.ForceVectorAlignment(size, 1, 16);
    auto data = builder_.CreateVector(bytes, size);
    auto source = builder_.CreateString(fileName(object.input->path));
    images_.push_back(fb::CreateImage(builder_, kind, pays ? fb::Compression::Zstd : fb::Compression::None,
                                      given.size(), object.isMetadataOnly ? 0 : object.module.isa, data, source));
    return found->second;
  }

  const LinkContext &context_;
  flatbuffers::FlatBufferBuilder builder_;
  std::vector<flatbuffers::Offset<fb::Image>> images_;
  std::map<std::string_view, uint32_t> imageIndex_;
};

} // namespace

Result<LinkOutput> writeExecutable(const LinkContext &context) {
  return Writer(context).run();
}

} // namespace tenon::linker
