// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything that nvcc and LLVM print must parse without an error, and nothing of it may get lost: every `;` outside of
// comments and strings ends one statement, declaration or prototype of the parsed module.
#include "ptx/printer.h"
#include "tests/unit/ptx/module_equality.h"
#include "tests/unit/ptx/parse_helper.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

namespace tenon::ptx {
namespace {
using namespace test;
namespace fs = std::filesystem;

std::string readFile(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

size_t countSemicolons(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "//")
      i = std::min(text.find('\n', i), text.size());
    else if (text.substr(i, 2) == "/*")
      i = std::min(text.find("*/", i), text.size()) + 1;
    else if (text[i] == '"')
      i = std::min(text.find('"', i + 1), text.size());
    else
      count += text[i] == ';';
  }
  return count;
}

/// Statements that end in `;`. A list of names shares one; so do the strings of a pragma (none of the corpus has two).
size_t countStatements(const Module &module) {
  std::set<uint32_t> ends;
  size_t count = module.aliases.size() + module.pragmas.size();
  for (const Variable &variable : module.variables)
    ends.insert(variable.range.end);
  for (const Function &function : module.functions) {
    for (const Variable &variable : function.declarations)
      ends.insert(variable.range.end);
    for (const Instruction &instruction : function.instructions)
      ends.insert(instruction.range.end);
    count += function.tables.size() + function.pragmas.size() + function.isDeclaration;
    for (const Statement &statement : function.statements)
      count += statement.kind == Statement::Kind::Pragma;
  }
  return count + ends.size();
}

void checkParses(const fs::path &path) {
  std::string text = readFile(path);
  ASSERT_FALSE(text.empty()) << path;
  size_t semicolons = countSemicolons(text);
  Parsed parsed = parseText(std::move(text));
  EXPECT_EQ(parsed.errors, "") << path;
  EXPECT_FALSE(parsed.module.functions.empty()) << path;
  EXPECT_EQ(countStatements(parsed.module), semicolons) << path;
  Parsed again = parseText(print(parsed.module));
  EXPECT_EQ(again.errors, "") << path;
  EXPECT_TRUE(equal(parsed.module, again.module)) << "printed and parsed again, it differs: " << path;
}

/// tests/unit/ptx/corpus, or nothing.
fs::path corpus() {
  const char *folder = std::getenv("TENON_PTX_CORPUS");
  return folder && fs::exists(folder) ? folder : fs::path();
}

/// A program of the CUDA toolkit: on PATH, in $CUDA_HOME/bin or in /usr/local/cuda/bin; nothing where there is none.
std::string findTool(const std::string &name) {
  std::vector<std::string> candidates = {name};
  if (const char *home = std::getenv("CUDA_HOME"))
    candidates.push_back(std::string(home) + "/bin/" + name);
  candidates.push_back("/usr/local/cuda/bin/" + name);
  for (const std::string &candidate : candidates)
    if (std::system(("'" + candidate + "' --version >/dev/null 2>&1").c_str()) == 0)
      return candidate;
  return {};
}

fs::path temporary(std::string_view suffix) {
  return fs::path(testing::TempDir()) / ("tenon_corpus_" + std::to_string(::getpid()) + std::string(suffix));
}

struct Build {
  const char *source, *arch, *flags;
};

class PtxCorpus : public testing::TestWithParam<Build> {};

TEST_P(PtxCorpus, ParsesTheOutputOfNvcc) {
  if (corpus().empty())
    GTEST_SKIP() << "TENON_PTX_CORPUS does not name tests/unit/ptx/corpus (meson test sets it)";
  static const std::string nvcc = findTool("nvcc");
  if (nvcc.empty())
    GTEST_SKIP() << "no nvcc on PATH, in $CUDA_HOME/bin or in /usr/local/cuda/bin";
  auto [source, arch, flags] = GetParam();
  fs::path output = temporary(".ptx");
  std::string command = "'" + nvcc + "' -std=c++17 --extended-lambda -w -ptx -arch=" + arch + " " + flags + " -o '" +
                        output.string() + "' '" + (corpus() / source).string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  checkParses(output);
  fs::remove(output);
}

std::vector<Build> builds() {
  constexpr const char *kAll[] = {"compute_75",  "compute_80",  "compute_90",
                                  "compute_90a", "compute_100", "compute_120"};
  std::vector<Build> builds;
  for (size_t i = 0; i < std::size(kAll); ++i) {
    for (const char *source : {"basics.cu", "calls.cu", "debugged.cu", "groups.cu"})
      builds.push_back({source, kAll[i], ""});
    if (i >= 1)
      builds.push_back({"matrix.cu", kAll[i], ""});
    if (i >= 2)
      builds.push_back({"cluster.cu", kAll[i], ""});
  }
  builds.push_back({"hopper.cu", "compute_90a", ""});
  builds.push_back({"hopper.cu", "compute_90a", "-G"});
  for (const char *source : {"basics.cu", "calls.cu", "debugged.cu", "matrix.cu", "cluster.cu"}) {
    builds.push_back({source, "compute_90", "-G"});
    builds.push_back({source, "compute_90", "-lineinfo"});
  }
  builds.push_back({"basics.cu", "compute_90", "-rdc=true"});
  builds.push_back({"calls.cu", "compute_80", "-rdc=true -G"});
  return builds;
}

INSTANTIATE_TEST_SUITE_P(Nvcc, PtxCorpus, testing::ValuesIn(builds()), [](const auto &info) {
  std::string name;
  for (const char *part : {info.param.source, info.param.arch, info.param.flags})
    for (char c : std::string(part) + "_")
      name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

TEST(PtxLlvmCorpus, ParsesTheOutputOfLlvm) {
  if (corpus().empty())
    GTEST_SKIP() << "TENON_PTX_CORPUS does not name tests/unit/ptx/corpus (meson test sets it)";
  size_t files = 0;
  for (const fs::directory_entry &entry : fs::directory_iterator(corpus() / "llvm")) {
    if (entry.path().extension() != ".ptx")
      continue;
    ++files;
    checkParses(entry.path());
  }
  EXPECT_EQ(files, 4u);
}

// ptxas makes the same machine code of the printed text.
TEST(PtxLlvmCorpus, PrintsWhatPtxasTakes) {
  if (corpus().empty())
    GTEST_SKIP() << "TENON_PTX_CORPUS does not name tests/unit/ptx/corpus (meson test sets it)";
  std::string ptxas = findTool("ptxas");
  if (ptxas.empty())
    GTEST_SKIP() << "no ptxas on PATH, in $CUDA_HOME/bin or in /usr/local/cuda/bin";
  fs::path original = corpus() / "llvm" / "calls.ptx", printed = temporary(".ptx"), cubin = temporary(".cubin");
  std::ofstream(printed) << print(parseText(readFile(original)).module);
  std::vector<std::string> images;
  for (const fs::path &input : {original, printed}) {
    std::string command = "'" + ptxas + "' -c -arch=sm_90 -o '" + cubin.string() + "' '" + input.string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    images.push_back(readFile(cubin));
  }
  EXPECT_FALSE(images[0].empty());
  EXPECT_TRUE(images[0] == images[1]);
  fs::remove(printed);
  fs::remove(cubin);
}

} // namespace
} // namespace tenon::ptx
