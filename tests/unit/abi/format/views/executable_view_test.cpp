// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/format/views/executable_view.h"

#include "tests/unit/abi/sample_files.h"

#include <gtest/gtest.h>
#include <zstd.h>

using namespace tenon;
using namespace tenon::abi;
using namespace tenon::abi::test;

static std::string compressed(const std::string &text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

/// 'add' for sm_80 as PTX and cubin and for sm_90a as PTX; 'scale' for sm_90a only.
static ExecutableParts twoVariants() {
  ExecutableParts parts;
  parts.exports.push_back(parts.exports[0]);
  parts.exports[1].name = "scale";
  parts.exports[1].ordinal = 1;
  parts.exports[1].dynamicShared = 100;
  parts.exports[1].cluster = Uints{2, 1, 1};
  parts.images.push_back({fb::ImageKind::Cubin, fb::Compression::Zstd, 1000, 0, compressed(std::string(1000, 'b'))});
  parts.images.push_back({fb::ImageKind::Ptx, fb::Compression::None, {}, 87, "hopper"});
  parts.variants[0].images = {0, 1};
  parts.variants.push_back({"sm_90a", 90, fb::ArchSuffix::A, fb::Origin::Generated, 7, {2}, {}});
  KernelParts add, scale;
  scale.ordinal = 1;
  scale.symbol = "scale_kernel";
  scale.staticShared = 48;
  scale.requiredCluster = Uints{4, 1, 1};
  parts.variants[1].kernels = {add, scale};
  return parts;
}

TEST(ExecutableView, ShowsExports) {
  AlignedBytes bytes(write(twoVariants()));
  auto view = ExecutableView::create(bytes.span(), "x");
  ASSERT_TRUE(view.ok()) << view.status().toString();
  EXPECT_EQ(view->name(), "kernels");
  EXPECT_EQ(view->exportCount(), 2u);
  EXPECT_EQ(view->exportAt(1).name, "scale");
  EXPECT_EQ(view->exportAt(0).declaredAt.toString(), "example.mlir:31:5");
  EXPECT_EQ(view->exportAt(0).layout.toString(), "3 bindings (ReadOnly, ReadOnly, ReadWrite), constants = 1");
  EXPECT_EQ(*view->findExport("scale"), 1u);
  EXPECT_EQ(view->findExport("mul").status().toString(),
            "not found: no export 'mul' in executable 'kernels', which has 'add', 'scale'");
}

TEST(ExecutableView, FindsKernels) {
  AlignedBytes bytes(write(twoVariants()));
  auto view = ExecutableView::create(bytes.span(), "x");
  ASSERT_TRUE(view.ok());
  EXPECT_NE(view->findKernel(0, 0), nullptr);
  EXPECT_EQ(view->findKernel(0, 1), nullptr);
  EXPECT_EQ(view->symbolOf(*view->findKernel(1, 1)), "scale_kernel");
  EXPECT_EQ(view->findKernel(2, 0), nullptr);
}

TEST(ExecutableView, ListsCandidatesInFileOrder) {
  AlignedBytes bytes(write(twoVariants()));
  auto view = ExecutableView::create(bytes.span(), "x");
  ASSERT_TRUE(view.ok());
  std::vector<Candidate> add = view->candidates(0), scale = view->candidates(1);
  ASSERT_EQ(add.size(), 3u);
  EXPECT_EQ(add[0].kind, ImageKind::Ptx);
  EXPECT_EQ(add[0].isa, 80);
  EXPECT_EQ(add[0].threads, 64u);
  EXPECT_EQ(add[0].clusterBlocks, 1u);
  EXPECT_EQ(add[1].kind, ImageKind::Cubin);
  EXPECT_EQ(add[1].imageIndex, 1u);
  EXPECT_EQ(add[2].arch.toString(), "sm_90a");
  ASSERT_EQ(scale.size(), 1u);
  EXPECT_EQ(scale[0].variantName, "sm_90a");
  EXPECT_EQ(scale[0].origin, Origin::Generated);
  EXPECT_EQ(scale[0].priority, 7);
  EXPECT_EQ(scale[0].staticSharedBytes, 48u);
  EXPECT_EQ(scale[0].dynamicSharedBytes, 0u); // declared, but a generated kernel that uses none
  EXPECT_EQ(scale[0].clusterBlocks, 4u);      // what the code requires
  EXPECT_EQ(scale[0].variantIndex, 1u);
  EXPECT_EQ(scale[0].imageIndex, 2u);
}

TEST(ExecutableView, DecompressesImages) {
  AlignedBytes bytes(write(twoVariants()));
  auto view = ExecutableView::create(bytes.span(), "x");
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(*view->imageBytes(1), std::vector<uint8_t>(1000, 'b'));
  EXPECT_EQ(*view->imageBytes(2), (std::vector<uint8_t>{'h', 'o', 'p', 'p', 'e', 'r'}));
  EXPECT_EQ(view->imageBytes(3).status().toString(), "out of range: image 3 of executable 'kernels', which has 3");
}

TEST(ExecutableView, RefusesADamagedImage) {
  ExecutableParts parts;
  std::string data = compressed(std::string(1000, 'b'));
  data.resize(data.size() - 1); // the frame's header is whole, so it verifies
  parts.images[0] = {fb::ImageKind::Ptx, fb::Compression::Zstd, 1000, 80, data};
  AlignedBytes bytes(write(parts));
  auto view = ExecutableView::create(bytes.span(), "x");
  ASSERT_TRUE(view.ok()) << view.status().toString();
  auto image = view->imageBytes(0);
  ASSERT_FALSE(image.ok());
  EXPECT_TRUE(image.status().toString().starts_with(
      "data loss: [F-9] images[0] of executable 'kernels' does not decompress: "));
}

TEST(ExecutableView, RefusesWhatDoesNotVerify) {
  alignas(16) const uint8_t none[32] = {};
  EXPECT_EQ(ExecutableView::create(none, "file.tnx").status().code(), StatusCode::DataLoss);
}
