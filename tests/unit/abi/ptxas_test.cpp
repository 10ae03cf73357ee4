// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rule of runsPtx and the minimum ISA of every target, against the assembler itself: ptxas accepts PTX for an
// architecture exactly if the driver of such a device would. Skipped where no ptxas is installed.
#include "abi/target_arch.h"
#include "support/status.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace tenon;
using namespace tenon::abi;

static std::string findPtxas() {
  std::vector<std::string> folders;
  if (const char *home = std::getenv("CUDA_HOME"))
    folders.push_back(std::string(home) + "/bin");
  std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = std::min(path.find(':', begin), path.size());
    folders.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  folders.push_back("/usr/local/cuda/bin");
  for (const std::string &folder : folders)
    if (::access((folder + "/ptxas").c_str(), X_OK) == 0)
      return folder + "/ptxas";
  return "";
}

static std::string outputOf(const std::string &command) {
  std::string out;
  if (FILE *pipe = ::popen(command.c_str(), "r")) {
    char buffer[4096];
    while (size_t n = std::fread(buffer, 1, sizeof buffer, pipe))
      out.append(buffer, n);
    ::pclose(pipe);
  }
  return out;
}

namespace {
struct Question {
  TargetArch target;
  uint16_t isa = 0;
  std::string arch; // ptxas -arch=
  bool expected = false;
  bool accepted = false;
};
} // namespace

static bool ask(const std::string &ptxas, const Question &question) {
  std::string file = concat(::testing::TempDir(), "tenon_ptxas_", ::getpid(), '_', question.target.toString(), '_',
                            question.isa, '_', question.arch, ".ptx");
  std::ofstream(file) << ".version " << question.isa / 10 << '.' << question.isa % 10 << "\n.target "
                      << question.target.toString() << "\n.address_size 64\n.visible .entry k()\n{\n  ret;\n}\n";
  int status =
      std::system(concat('\'', ptxas, "' -arch=", question.arch, " '", file, "' -o /dev/null >/dev/null 2>&1").c_str());
  std::remove(file.c_str());
  return status == 0;
}

/// Asks everything, a few at a time, and compares.
static void askAll(const std::string &ptxas, std::vector<Question> &questions) {
  std::atomic<size_t> next = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::clamp(std::thread::hardware_concurrency(), 1u, 8u); ++i)
    threads.emplace_back([&] {
      for (size_t at = next++; at < questions.size(); at = next++)
        questions[at].accepted = ask(ptxas, questions[at]);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const Question &question : questions)
    EXPECT_EQ(question.accepted, question.expected)
        << ".version " << question.isa << " .target " << question.target.toString() << " for " << question.arch;
}

/// What ptxas can assemble for: "sm_75", ..., each number with its richest suffix, as a device of that number has.
static std::vector<TargetArch> devicesOf(const std::string &ptxas) {
  std::string help = outputOf('\'' + ptxas + "' --help 2>/dev/null");
  std::vector<TargetArch> out;
  for (const ArchInfo &info : knownArchs()) {
    if (info.arch.suffix == ArchSuffix::F || help.find('\'' + info.arch.toString() + '\'') == std::string::npos)
      continue;
    if (!out.empty() && out.back().number == info.arch.number)
      out.pop_back();
    out.push_back(info.arch);
  }
  return out;
}

TEST(Ptxas, AcceptsWhatRunsPtxSays) {
  std::string ptxas = findPtxas();
  if (ptxas.empty())
    GTEST_SKIP() << "no ptxas on PATH, in $CUDA_HOME/bin or in /usr/local/cuda/bin";
  std::vector<Question> questions;
  for (TargetArch device : devicesOf(ptxas))
    for (const ArchInfo &info : knownArchs()) {
      if (info.arch.number < 72 && info.arch.number != 52)
        continue; // as sm_52: older than every device here
      DeviceTraits traits;
      traits.computeCapability = device.number;
      traits.driverVersion = 13000;
      questions.push_back(
          {info.arch, info.minimumIsa, device.toString(), runsPtx(info.arch, info.minimumIsa, traits).runs, false});
    }
  ASSERT_GT(questions.size(), 28u);
  askAll(ptxas, questions);
}

TEST(Ptxas, AgreesOnTheMinimumIsaOfEveryTarget) {
  std::string ptxas = findPtxas();
  if (ptxas.empty())
    GTEST_SKIP() << "no ptxas on PATH, in $CUDA_HOME/bin or in /usr/local/cuda/bin";
  static const uint16_t isas[] = {31, 32, 40, 41, 42, 43, 50, 60, 61, 62, 63, 64, 65, 70, 71, 72, 73,
                                  74, 75, 76, 77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90, 91, 92};
  std::vector<Question> questions;
  for (TargetArch device : devicesOf(ptxas))
    for (const ArchInfo &info : knownArchs()) {
      DeviceTraits traits;
      traits.computeCapability = device.number;
      traits.driverVersion = 13000;
      bool asked = std::any_of(questions.begin(), questions.end(),
                               [&](const Question &question) { return question.target == info.arch; });
      if (asked || !runsPtx(info.arch, info.minimumIsa, traits).runs)
        continue;
      const uint16_t *minimum = std::find(std::begin(isas), std::end(isas), info.minimumIsa);
      ASSERT_NE(minimum, std::end(isas)) << info.arch.toString();
      questions.push_back({info.arch, *minimum, device.toString(), true, false});
      if (info.arch.number != 88) // documented from 9.0 on; ptxas 13.0 takes it from 7.8 on
        questions.push_back({info.arch, *(minimum - 1), device.toString(), false, false});
    }
  askAll(ptxas, questions);
}
