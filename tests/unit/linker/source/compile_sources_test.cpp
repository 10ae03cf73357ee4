// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/source/compile_sources.h"

#include "support/files/file.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace tenon::linker {
namespace {

namespace fs = std::filesystem;

/// A compiler of our own: a shell script that writes what it was asked for as PTX and counts its runs.
class CompileSources : public ::testing::Test {
protected:
  void SetUp() override {
    folder_ =
        ::testing::TempDir() + "tenon_sources_" + ::testing::UnitTest::GetInstance()->current_test_info()->name() + "/";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    ASSERT_TRUE(writeFile(folder_ + "k.cu", "#include \"h.cuh\"\n").ok());
    ASSERT_TRUE(writeFile(folder_ + "h.cuh", "header\n").ok());
    // Files as old as a user's: one of this very moment is not cached.
    for (const char *name : {"k.cu", "h.cuh"})
      fs::last_write_time(folder_ + name, fs::file_time_type::clock::now() - std::chrono::hours(1));
    script("for a in \"$@\"; do case $a in -arch=*) arch=$a ;; esac; done\n"
           "echo run >> " +
           folder_ +
           "runs\n"
           "echo \"// $arch _INTERNAL_12345678_x\" > /proc/self/fd/3\n"
           "printf 'o: %s %s\\n' " +
           folder_ + "k.cu " + folder_ +
           "h.cuh > /proc/self/fd/4\n"
           "echo \"" +
           folder_ + "k.cu(1): warning #1-D: careful\"\n");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void script(const std::string &body) {
    ASSERT_TRUE(
        writeFile(folder_ + "nvcc", "#!/bin/sh\n[ \"$1\" = --version ] && { echo nvcc 1; exit 0; }\n" + body).ok());
    ASSERT_EQ(chmod((folder_ + "nvcc").c_str(), 0755), 0);
  }

  LinkJob compile(std::vector<std::string_view> targets, std::string_view objectTarget = "",
                  const std::string &name = "k.cu") {
    LinkJob job;
    job.sources.compiler = folder_ + "nvcc";
    job.sources.cacheFolder = folder_ + "cache";
    for (std::string_view target : targets)
      job.sources.targets.push_back(*abi::parseTargetArch(target));
    ObjectInput source;
    source.path = folder_ + name;
    source.bytes = *readFile(source.path);
    source.isSource = true;
    source.priority = 3;
    if (!objectTarget.empty())
      source.target = *abi::parseTargetArch(objectTarget);
    ObjectInput other;
    other.path = "other.ptx";
    job.objects = {source, other};
    diagnostics_ = {};
    compileSources(job, diagnostics_);
    return job;
  }
  size_t runs() const {
    Result<std::string> text = readFile(folder_ + "runs");
    return text.ok() ? text->size() / 4 : 0;
  }
  bool has(std::string_view part) const { return diagnostics_.toString().find(part) != std::string::npos; }

  std::string folder_;
  Diagnostics diagnostics_;
};

TEST_F(CompileSources, MakesOneObjectPerTarget) {
  LinkJob job = compile({"sm_80", "sm_90a"});
  ASSERT_FALSE(diagnostics_.hasErrors()) << diagnostics_.toString();
  ASSERT_EQ(job.objects.size(), 3u);
  EXPECT_EQ(job.objects[0].path, folder_ + "k.cu:sm_80.ptx");
  EXPECT_TRUE(job.objects[0].bytes.view().starts_with("// -arch=compute_80 _INTERNAL_"));
  EXPECT_EQ(job.objects[0].bytes.view().find("12345678"), std::string::npos) << "digits of the path";
  EXPECT_EQ(job.objects[0].priority, 3);
  EXPECT_FALSE(job.objects[0].isSource);
  EXPECT_TRUE(job.objects[1].bytes.view().starts_with("// -arch=compute_90a"));
  EXPECT_EQ(job.objects[1].target.toString(), "sm_90a");
  EXPECT_EQ(job.objects[2].path, "other.ptx");
  EXPECT_EQ(job.inputFiles, (std::vector<std::string>{folder_ + "k.cu", folder_ + "h.cuh"}));
  EXPECT_TRUE(has("k.cu:1: warning: careful"));
}

// nvcc runs the host's compiler through a shell.
TEST_F(CompileSources, FoldersWithBlanksAreOneWord) {
  script("for a in \"$@\"; do case $a in *prefix-map*) echo \"// $a\" > /proc/self/fd/3;; esac; done\n");
  LinkJob job = compile({"sm_80"});
  ASSERT_FALSE(diagnostics_.hasErrors()) << diagnostics_.toString();
  EXPECT_NE(job.objects[0].bytes.view().find("// \"-fmacro-prefix-map="), std::string::npos)
      << job.objects[0].bytes.view();
}

TEST_F(CompileSources, PathsThatAShellWouldReadAreRefused) {
  for (const char *name : {"$(touch x).cu", "`x`.cu", "a\"b.cu"}) {
    fs::rename(folder_ + "k.cu", folder_ + name);
    compile({"sm_80"}, "", name);
    EXPECT_TRUE(has(concat(name, ": error: [K-23] cannot compile it: nvcc hands paths to a shell, which reads the '")))
        << diagnostics_.toString();
    EXPECT_TRUE(has("fix: rename it"));
    EXPECT_EQ(runs(), 0u);
    fs::rename(folder_ + name, folder_ + "k.cu");
  }
}

TEST_F(CompileSources, AnObjectsOwnTargetCounts) {
  LinkJob job = compile({"sm_80", "sm_90"}, "sm_86");
  ASSERT_EQ(job.objects.size(), 2u);
  EXPECT_EQ(job.objects[0].target.toString(), "sm_86");
}

TEST_F(CompileSources, CompilesOnceWhatDoesNotChange) {
  const std::string first(compile({"sm_80"}).objects[0].bytes.view());
  EXPECT_EQ(runs(), 1u);
  EXPECT_EQ(compile({"sm_80"}).objects[0].bytes, first);
  EXPECT_EQ(runs(), 1u);
  EXPECT_TRUE(has("careful")) << "a warning is told again";
  ASSERT_TRUE(writeFile(folder_ + "h.cuh", "other\n").ok());
  compile({"sm_80"});
  EXPECT_EQ(runs(), 2u);
}

TEST_F(CompileSources, PassesOnWhatTheCompilerSays) {
  script("echo 'k.cu(3): error: identifier \"y\" is undefined'; exit 2");
  LinkJob job = compile({"sm_80", "sm_90"});
  EXPECT_TRUE(has("k.cu:3: error: [K-23] identifier \"y\" is undefined"));
  EXPECT_TRUE(has("nvcc' ended with status 2 for sm_80"));
  EXPECT_TRUE(has("nvcc' ended with status 2 for sm_90"));
  EXPECT_EQ(diagnostics_.errorCount(), 3u) << "the same words of both targets once";
}

TEST_F(CompileSources, PassesOnWordsThatAreNotUnderstood) {
  script("echo 'Segmentation fault'; exit 139");
  compile({"sm_80"});
  EXPECT_TRUE(has("ended with status 139 for sm_80\nnote: Segmentation fault"));
  script("exit 0");
  compile({"sm_80"});
  EXPECT_TRUE(has("ended with status 0 for sm_80, without PTX\nnote: it said nothing")) << diagnostics_.toString();
}

TEST_F(CompileSources, SaysWhatIsMissing) {
  compile({});
  EXPECT_TRUE(has("k.cu: error: [K-23] the source is given for no target\nfix: name the targets"));
  LinkJob job;
  job.sources.compiler = "/no/such/nvcc";
  ObjectInput source;
  source.path = "k.cu";
  source.isSource = true;
  source.target = *abi::parseTargetArch("sm_80");
  job.objects = {source};
  compileSources(job, diagnostics_);
  EXPECT_TRUE(has("cannot compile it: '/no/such/nvcc' is not a program that can be run"));
}

TEST_F(CompileSources, RefusesFlagsThatAreTheLinkersOwn) {
  LinkJob job;
  job.sources.flags = {"-O2", "-arch=sm_80", "-o"};
  ObjectInput source;
  source.isSource = true;
  job.objects = {source};
  compileSources(job, diagnostics_);
  EXPECT_EQ(diagnostics_.errorCount(), 2u);
  EXPECT_TRUE(has("--cu-flag=-arch=sm_80 cannot be passed on: the targets are"));
}

TEST(IsCudaSource, TellsByNameAndByText) {
  EXPECT_TRUE(isCudaSource("k.cu", ""));
  EXPECT_TRUE(isCudaSource("k.cpp", "extern \"C\" __global__ void k() {}"));
  EXPECT_TRUE(isCudaSource("k", "// x\n#include <a>"));
  EXPECT_FALSE(isCudaSource("k.ptx", "// __global__\n.version 8.0"));
  EXPECT_FALSE(isCudaSource("k.json", "{\"name\": \"__global__\"}"));
}

} // namespace
} // namespace tenon::linker
