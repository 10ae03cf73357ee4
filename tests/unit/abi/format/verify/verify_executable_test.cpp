// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every rule of executables: the sample executable with one thing broken, and what verification says.
#include "abi/format/verify/verify.h"

#include "tests/unit/abi/sample_files.h"

#include <gtest/gtest.h>
#include <zstd.h>

using namespace tenon;
using namespace tenon::abi;
using namespace tenon::abi::test;

using Change = std::function<void(ExecutableParts &)>;

static std::string verdict(const Change &change) {
  ExecutableParts parts;
  change(parts);
  Status status = verifyExecutable(AlignedBytes(write(parts)).span(), "x.tnx");
  if (!status.ok())
    EXPECT_EQ(status.code(), StatusCode::DataLoss);
  return std::string(status.message());
}

static void addExport(ExecutableParts &parts, std::string name) {
  ExportParts &added = parts.exports.emplace_back();
  added.name = std::move(name);
  added.ordinal = static_cast<uint32_t>(parts.exports.size() - 1);
}

static std::string compressed(const std::string &text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

TEST(VerifyExecutable, AcceptsVariety) {
  EXPECT_EQ(verdict([](ExecutableParts &p) { addExport(p, "sub"); }), "");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.exports.clear(), p.variants.clear(); }), "");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.exports[0].cluster = Uints{2, 1, 1}; }), "");
  EXPECT_EQ(verdict([](ExecutableParts &p) {
              p.images.push_back({fb::ImageKind::Cubin, fb::Compression::Zstd, 5, 0, compressed("cubin")});
              p.variants[0].images = {1, 0};
              p.variants.push_back(p.variants[0]); // the same name and target, generated
              p.variants[1].origin = fb::Origin::Generated;
            }),
            "");
}

TEST(VerifyExecutable, ChecksNames) {
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.name = ""; }), "'x.tnx': [F-4] name is empty");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.exports[0].name = "a\nb"; }),
            "'x.tnx': exports[0]: [F-4] name has a control character");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.exports[0].symbol = "a\tb"; }),
            "'x.tnx': exports[0]: [F-4] symbol has a control character");
  EXPECT_EQ(verdict([](ExecutableParts &p) { addExport(p, "add"); }),
            "'x.tnx': exports[1]: [F-4] name 'add' is there twice");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants.push_back(p.variants[0]); }),
            "'x.tnx': variants[1]: [F-4] the variant 'sm_80' for sm_80 is there twice for export 0");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants[0].name = ""; }), "'x.tnx': variants[0]: [F-4] name is empty");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants[0].kernels[0].symbol = ""; }),
            "'x.tnx': variants[0]: kernels[0]: [F-4] symbol is empty");
}

TEST(VerifyExecutable, ChecksEnumerators) {
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.exports[0].bindings[1].kind = fb::BindingKind(7); }),
            "'x.tnx': exports[0]: layout: bindings[1]: [F-5] kind has the unknown value 7");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.exports[0].constants[0].kind = fb::ConstantKind(4); }),
            "'x.tnx': exports[0]: layout: constants[0]: [F-5] kind has the unknown value 4");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.exports[0].constants[0].element = fb::ElementType(10); }),
            "'x.tnx': exports[0]: layout: constants[0]: [F-5] element has the unknown value 10");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.images[0].kind = fb::ImageKind(2); }),
            "'x.tnx': images[0]: [F-5] kind has the unknown value 2");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.images[0].compression = fb::Compression(2); }),
            "'x.tnx': images[0]: [F-5] compression has the unknown value 2");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants[0].suffix = fb::ArchSuffix(3); }),
            "'x.tnx': variants[0]: [F-5] arch has the unknown value 3");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants[0].origin = fb::Origin(2); }),
            "'x.tnx': variants[0]: [F-5] origin has the unknown value 2");
  EXPECT_EQ(verdict([](ExecutableParts &p) {
              p.variants[0].kernels[0].access = {fb::AccessVerdict::Unused, fb::AccessVerdict(4),
                                                 fb::AccessVerdict::Written};
            }),
            "'x.tnx': variants[0]: kernels[0]: facts: access[1]: [F-5] verdict has the unknown value 4");
}

TEST(VerifyExecutable, WantsOrdinalsToBePositions) {
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.exports[0].ordinal = 3; }),
            "'x.tnx': exports[0]: [F-6] ordinal is 3, its position is 0");
}

TEST(VerifyExecutable, ChecksExtents) {
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.exports[0].workgroupSize.reset(); }),
            "'x.tnx': exports[0]: [F-7] workgroup_size has 0 extents, not 3");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.exports[0].workgroupSize = Uints{64, 1}; }),
            "'x.tnx': exports[0]: [F-7] workgroup_size has 2 extents, not 3");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.exports[0].workgroupSize = Uints{64, 0, 1}; }),
            "'x.tnx': exports[0]: [F-7] workgroup_size has the extent 0, not one of 1 to 1024");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.exports[0].workgroupSize = Uints{64, 32, 1}; }),
            "'x.tnx': exports[0]: [F-7] workgroup_size multiplies to 2048, more than 1024");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.exports[0].cluster = Uints{0, 0, 0}; }),
            "'x.tnx': exports[0]: [F-7] cluster has the extent 0, not one of 1 to 1024");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants[0].kernels[0].requiredThreads = Uints{64}; }),
            "'x.tnx': variants[0]: kernels[0]: facts: [F-7] required_threads has 1 extents, not 3");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants[0].kernels[0].maxThreads = Uints{64}; }),
            "'x.tnx': variants[0]: kernels[0]: facts: [F-7] max_threads has 1 extents, not 3");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants[0].kernels[0].requiredCluster = Uints{}; }),
            "'x.tnx': variants[0]: kernels[0]: facts: [F-7] required_cluster has 0 extents, not 3");
}

/// A name is read character by character, each time that it is named.
TEST(VerifyExecutable, BoundsTheWorkOfSharedNames) {
  auto namedBy = [](uint32_t kernels) {
    return verdict([=](ExecutableParts &p) {
      KernelParts kernel = p.variants[0].kernels[0];
      kernel.symbol = std::string(20000, 's');
      p.variants[0].kernels.clear();
      for (uint32_t i = 0; i < kernels; ++i) {
        if (i)
          addExport(p, concat("e", i));
        kernel.ordinal = i;
        p.variants[0].kernels.push_back(kernel);
      }
    });
  };
  EXPECT_EQ(namedBy(2), "");
  EXPECT_TRUE(namedBy(40).find("[F-2] tables are shared so often") != std::string::npos) << namedBy(40);
}

TEST(VerifyExecutable, ChecksTensorMaps) {
  auto map = [](const TensorMapParts &parts) {
    return verdict([&](ExecutableParts &p) {
      p.exports[0].bindings[0].alignment = 16;
      p.variants[0].kernels[0].parameterBytes = 192;
      p.variants[0].kernels[0].offsets = Uints{0, 8, 16, 64};
      p.exports[0].constants[0] = {fb::ConstantKind::TensorMap, fb::ElementType::F32, 128, 64, parts};
    });
  };
  EXPECT_EQ(map({}), "");
  const std::string at = "'x.tnx': exports[0]: layout: constants[0]: tensor_map: [F-5] ";
  EXPECT_EQ(map({.interleave = fb::TensorMapInterleave(99)}), at + "interleave has the unknown value 99");
  EXPECT_EQ(map({.swizzle = fb::TensorMapSwizzle(99)}), at + "swizzle has the unknown value 99");
  EXPECT_EQ(map({.promotion = fb::TensorMapPromotion(99)}), at + "promotion has the unknown value 99");
  EXPECT_EQ(map({.fill = fb::TensorMapFill(99)}), at + "fill has the unknown value 99");
  EXPECT_EQ(map({.mode = fb::TensorMapMode(99)}), at + "mode has the unknown value 99");
}

TEST(VerifyExecutable, ChecksLayouts) {
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.exports[0].bindings[0].alignment = 24; }),
            "'x.tnx': exports[0]: layout: bindings[0]: [F-8] alignment 24 is no power of two");
  auto constant = [](ConstantParts value) {
    return verdict([=](ExecutableParts &p) { p.exports[0].constants[0] = value; });
  };
  const std::string at = "'x.tnx': exports[0]: layout: constants[0]: [F-8] ";
  EXPECT_EQ(constant({fb::ConstantKind::Struct, fb::ElementType::I32, 0, 4}),
            at + "size 0, alignment 4: not above 0 and a power of two");
  EXPECT_EQ(constant({fb::ConstantKind::Struct, fb::ElementType::I32, 12, 3}),
            at + "size 12, alignment 3: not above 0 and a power of two");
  EXPECT_EQ(constant({fb::ConstantKind::Word, fb::ElementType::I32, 8, 8}),
            at + "size 8, alignment 8 do not belong to a Word");
  EXPECT_EQ(constant({fb::ConstantKind::Scalar, fb::ElementType::F64, 4, 4}),
            at + "size 4, alignment 4 do not belong to a Scalar");
  EXPECT_EQ(constant({fb::ConstantKind::TensorMap, fb::ElementType::I32, 128, 32}),
            at + "size 128, alignment 32 do not belong to a TensorMap");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.exports[0].hiddenPointers = 4000000000; }),
            "'x.tnx': exports[0]: layout: [F-8] 4000000004 parameters, at most 8192 are possible");
  EXPECT_EQ(constant({fb::ConstantKind::Struct, fb::ElementType::I32, 32768, 4}),
            "'x.tnx': exports[0]: [F-8] layout: [K-5] parameter 3 ends at byte 32792, a kernel takes at most 32764 "
            "bytes of parameters");
}

// The sample has three bindings and a word.
TEST(VerifyExecutable, ChecksTheOrderOfParameters) {
  using Member = ParameterParts::Member;
  auto order = [](std::vector<ParameterParts> parameters, uint32_t bytes = 28, uint32_t version = 3) {
    return verdict([&](ExecutableParts &p) {
      p.version = version;
      p.exports[0].parameters = std::move(parameters);
      p.variants[0].kernels[0].parameterBytes = bytes;
    });
  };
  const ParameterParts b0 = {.binding = 0}, b1 = {.binding = 1}, b2 = {.binding = 2}, c0 = {.constant = 0};
  EXPECT_EQ(order({c0, b2, b0, b1}, 32), "");
  EXPECT_EQ(order({b0, b1, b2, c0}), ""); // the usual order, said
  EXPECT_EQ(order({c0, b2, b0, b1}, 32, 2),
            "'x.tnx': exports[0]: layout: [F-3] parameters are there in format version 2, they came with 3");
  EXPECT_EQ(order({c0, b2, b0, b1}),
            "'x.tnx': variants[0]: kernels[0]: facts: [F-12] parameter_bytes is 28, the layout has 32");
  EXPECT_EQ(verdict([&](ExecutableParts &p) {
              p.version = 3;
              p.exports[0].parameters = {c0, b0, {.size = 16, .alignment = 8, .members = {Member{0, 2}, Member{8, 1}}}};
              p.variants[0].kernels[0].parameterBytes = 32;
              p.variants[0].kernels[0].offsets = Uints{0, 8, 16};
            }),
            "");
  const std::string at = "'x.tnx': exports[0]: layout: [F-8] ";
  EXPECT_EQ(order({c0, b0, {.binding = 1, .constant = 0}, b2}),
            at + "parameters[2]: has 'binding' and 'constant', one of 'binding', 'constant', 'hidden' and 'size' is "
                 "wanted");
  EXPECT_EQ(order({c0, {}, b0}),
            at + "parameters[1]: is empty, one of 'binding', 'constant', 'hidden' and 'size' is wanted");
  EXPECT_EQ(order({{.binding = 0, .alignment = 8}}),
            at + "parameters[0]: has an 'alignment', which only a struct has ('size')");
  EXPECT_EQ(
      order({{.size = 16, .alignment = 8, .members = {Member{0, 2, 0, true}}}}),
      at + "parameters[0]: members[0]: has 'binding' and 'constant' and 'hidden', one of 'binding', 'constant' and "
           "'hidden' is wanted");
  const std::string block = "'x.tnx': exports[0]: [F-8] layout: [K-3] ";
  EXPECT_EQ(order({c0, b0, b1}),
            block + "'parameters' leaves out binding 2: each binding and each constant stands in it once");
  EXPECT_EQ(order({c0, b0, b1, b2, c0}),
            block + "parameter 4 is constant 0, which parameter 0 has already: each stands once");
  EXPECT_EQ(order({c0, b0, b1, {.binding = 0xfffffffe}}),
            block + "parameter 3 is binding 4294967294, the layout has 3 bindings, numbered from 0");
  EXPECT_EQ(order({c0, b0, {.size = 16, .alignment = 8, .members = {Member{0, 2}, Member{4, 1}}}}),
            block + "member 1 of parameter 2 (binding 1 at 4) begins at byte 4, a multiple of 8 is wanted");
  EXPECT_EQ(order({b0, b1, b2, {.size = 4, .alignment = 4, .members = {Member{0xffffffff, 0xffffffff, 0}}}}),
            block + "member 0 of parameter 3 (constant 0 at 4294967295) ends at byte 4294967299, the parameter has 4 "
                    "bytes");
  EXPECT_EQ(order(std::vector<ParameterParts>(9000, ParameterParts{.hidden = true})),
            "'x.tnx': exports[0]: layout: [F-8] 9000 parameters, at most 8192 are possible");
  EXPECT_EQ(order(std::vector<ParameterParts>(5000, ParameterParts{.size = 8, .alignment = 8})),
            "'x.tnx': exports[0]: [F-8] layout: [K-5] parameter 4095 ends at byte 32768, a kernel takes at most 32764 "
            "bytes of parameters");
}

// One table of many members, named by many parameters: reading each would take the square of the file's size.
TEST(VerifyExecutable, BoundsTheWorkOfSharedParameters) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<fb::ParameterMember>> members(
      180, fb::CreateParameterMember(builder, 0, 0xffffffff, 0xffffffff, true));
  auto parameter = fb::CreateParameter(builder, 0xffffffff, 0xffffffff, false, 8, 8, builder.CreateVector(members));
  auto layout = fb::CreateLayout(builder, 0, 0, 0, builder.CreateVector(std::vector(5000, parameter)));
  auto launch = fb::CreateLaunch(builder, builder.CreateVector(Uints{64, 1, 1}));
  auto one = fb::CreateExport(builder, builder.CreateString("k"), 0, 0, layout, launch);
  auto exports = builder.CreateVector(std::vector{one});
  auto images = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Image>>());
  auto variants = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Variant>>());
  fb::FinishExecutableBuffer(builder,
                             fb::CreateExecutable(builder, 3, 0, builder.CreateString("x"), exports, images, variants));
  std::vector<uint8_t> bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  Status status = verifyExecutable(AlignedBytes(bytes).span(), "x.tnx");
  EXPECT_NE(status.message().find("[F-2] tables are shared so often"), std::string::npos) << status.message();
}

TEST(VerifyExecutable, ChecksImages) {
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.images[0].data = ""; }), "'x.tnx': images[0]: [F-9] the image is empty");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.images[0].size = 0; }), "'x.tnx': images[0]: [F-9] the image is empty");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.images[0].size = 14; }),
            "'x.tnx': images[0]: [F-9] size is 14, the data has 13 bytes");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.images[0].size = 1ull << 40; }),
            "'x.tnx': images[0]: [F-9] size is 1099511627776 bytes, at most 536870912 are read");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.images[0].isa = 0; }),
            "'x.tnx': images[0]: [F-9] a PTX image without its ISA version");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.images[0].compression = fb::Compression::Zstd; }),
            "'x.tnx': images[0]: [F-9] the data is no zstd frame with its content size");
  EXPECT_EQ(verdict([](ExecutableParts &p) {
              p.images[0] = {fb::ImageKind::Ptx, fb::Compression::Zstd, 9, 80, compressed("12345")};
            }),
            "'x.tnx': images[0]: [F-9] size is 9, the zstd frame says 5");
}

/// An image that takes `base` as its dictionary.
static ImageParts basedOn(uint32_t base) {
  return {fb::ImageKind::Ptx, fb::Compression::Zstd, 5, 80, compressed("12345"), 16, base};
}

TEST(VerifyExecutable, ChecksBasesOfImages) {
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.images = {basedOn(kNoImage), basedOn(0), basedOn(1)}; }), "");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.images = {basedOn(0)}; }),
            "'x.tnx': images[0]: [F-9] base 0 is not before image 0");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.images = {basedOn(7)}; }),
            "'x.tnx': images[0]: [F-9] base 7 is not before image 0");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.images = {basedOn(kNoImage), basedOn(0), basedOn(1), basedOn(2)}; }),
            "'x.tnx': images[3]: [F-9] more than 2 bases follow each other");
  EXPECT_EQ(verdict([](ExecutableParts &p) {
              p.images = {ImageParts(), ImageParts()};
              p.images[1].base = 0;
            }),
            "'x.tnx': images[1]: [F-9] an image that is not compressed has a base");
}

TEST(VerifyExecutable, ChecksPlaces) {
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.places = compressed("a:1:1\n"); }), "");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.places = "a:1:1\n"; }),
            "'x.tnx': [F-23] places are no zstd frame with its content size");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.places = compressed(std::string(4096, 'x')); }), "");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.places = compressed(std::string(5000, 'x')); }),
            "'x.tnx': [F-23] places decompress to 5000 bytes, too many for 1 exports");
}

TEST(VerifyExecutable, AKernelMayLeaveItsSymbolToTheExport) {
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants[0].kernels[0].symbol = "-"; }), "");
}

TEST(VerifyExecutable, ChecksVariants) {
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants[0].number = 0; }),
            "'x.tnx': variants[0]: [F-10] arch has no number");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants[0].images = {}; }),
            "'x.tnx': variants[0]: [F-10] the variant has no images");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants[0].images = {0, 1}; }),
            "'x.tnx': variants[0]: images[1]: [F-10] index is 1, there are 1 images");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants[0].images = {0, 0}; }),
            "'x.tnx': variants[0]: images[1]: [F-10] image 0 is listed twice");
}

TEST(VerifyExecutable, ChecksKernels) {
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants[0].kernels.clear(); }),
            "'x.tnx': variants[0]: [F-11] the variant has no kernels");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants[0].kernels[0].ordinal = 1; }),
            "'x.tnx': variants[0]: kernels[0]: [F-11] export_ordinal is 1, there are 1 exports");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants[0].kernels.emplace_back(); }),
            "'x.tnx': variants[0]: kernels[1]: [F-11] export_ordinal 0 comes after 0, the order is ascending");
}

TEST(VerifyExecutable, ChecksFactsAgainstTheLayout) {
  const std::string at = "'x.tnx': variants[0]: kernels[0]: facts: ";
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants[0].kernels[0].parameterBytes = 32; }),
            at + "[F-12] parameter_bytes is 32, the layout has 28");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants[0].kernels[0].offsets = Uints{0, 8, 16}; }),
            at + "[F-12] parameter_offsets has 3 entries, the layout has 4 parameters");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants[0].kernels[0].offsets = Uints{0, 8, 16, 20}; }),
            at + "parameter_offsets[3]: [F-12] offset 20, the layout has 24");
  EXPECT_EQ(verdict([](ExecutableParts &p) { p.variants[0].kernels[0].access = {fb::AccessVerdict::Unused}; }),
            at + "[F-12] access has 1 entries, the layout has 3 bindings");
}
