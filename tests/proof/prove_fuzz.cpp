// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-prove-fuzz: makes kernels, links them, runs them, and prints every one whose run refutes the proof. Exit status
// 1 where there is one, or where a kernel cannot be judged.
#include "tests/proof/report.h"

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

namespace tenon::proof {
namespace {

constexpr const char *kUsage = R"(usage: tenon-prove-fuzz [OPTION]...

  --seed=N       the number of the first kernel (1)
  --count=N      how many kernels (1000)
  --threads=N    threads (1)
  --seconds=N    stop after so long, whatever is left (no limit)
  --class=NAME   arithmetic, memory, parameters, calls, predicates, control, lanes, atomics, copies, maps, benign; several
                 with commas (all)
  --out=DIR      write each kernel that fails there, as small as it gets, with what wrote as its first line
  --most=N       stop after so many failures (20)
  --print        print the kernels instead of judging them
  FILE.ptx       judge these instead: kernel `k`, of pointers, then words; tensor maps
                 (k_map_0[128] ..., or one struct of them, k_maps) in front or behind
)";

struct Options {
  uint64_t seed = 1, count = 1000, threads = 1, most = 20, seconds = 0;
  uint32_t classes = (1u << kClasses) - 1;
  std::string out;
  bool print = false;
  std::vector<std::string> files;
};

bool parseNumber(std::string_view text, uint64_t &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool parseClasses(std::string_view text, uint32_t &classes) {
  classes = 0;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const uint32_t mask = classMask(text.substr(0, comma));
    if (!mask)
      return false;
    classes |= mask;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return classes != 0;
}

bool parseOptions(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const size_t equals = std::min(argument.find('='), argument.size());
    const std::string_view name = argument.substr(0, equals);
    const std::string_view value = argument.substr(std::min(equals + 1, argument.size()));
    bool isGood = true;
    if (name == "--seed")
      isGood = parseNumber(value, options.seed);
    else if (name == "--count")
      isGood = parseNumber(value, options.count);
    else if (name == "--threads")
      isGood = parseNumber(value, options.threads) && options.threads >= 1 && options.threads <= 1024;
    else if (name == "--most")
      isGood = parseNumber(value, options.most);
    else if (name == "--seconds")
      isGood = parseNumber(value, options.seconds) && options.seconds >= 1 && options.seconds <= 1'000'000;
    else if (name == "--class")
      isGood = parseClasses(value, options.classes);
    else if (name == "--out")
      options.out = value;
    else if (name == "--print")
      options.print = true;
    else if (!argument.starts_with('-'))
      options.files.emplace_back(argument);
    else
      isGood = false;
    if (!isGood) {
      fprintf(stderr, "tenon-prove-fuzz: '%s' is no option or has no such value\n%s", argv[i], kUsage);
      return false;
    }
  }
  return true;
}

/// A file as a case: what its kernel takes is read off its text.
bool readCase(const std::string &path, Case &kernel) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  kernel = {};
  kernel.ptx = text.str();
  kernel.ways = std::filesystem::path(path).stem();
  const size_t entry = kernel.ptx.find(".entry k");
  if (!file || entry == std::string::npos)
    return false;
  const std::string head = kernel.ptx.substr(entry, kernel.ptx.find(')', entry) - entry);
  for (size_t at = head.find(".param"); at != std::string::npos; at = head.find(".param", at + 1)) {
    const std::string_view text = std::string_view(head).substr(at + 6, head.find(',', at) - at - 6),
                           type = text.substr(0, 6);
    if (const size_t maps = text.find(" k_map"); maps != std::string_view::npos) {
      kernel.maps.isStruct = text.substr(maps).starts_with(" k_maps");
      kernel.maps.isFirst = kernel.bindings == 0;
      if (kernel.maps.isStruct)
        while (kernel.maps.structBytes() < strtoul(std::string(text.substr(text.find('[') + 1)).c_str(), nullptr, 10))
          ++kernel.maps.count;
      else
        ++kernel.maps.count;
    } else if (type.find("64") != std::string_view::npos)
      ++kernel.bindings;
    else
      ++kernel.constants;
  }
  return kernel.bindings != 0;
}

int judgeFiles(const Options &options) {
  Judge judge;
  bool isBad = false;
  for (const std::string &path : options.files) {
    Case kernel;
    if (!readCase(path, kernel)) {
      fprintf(stderr, "tenon-prove-fuzz: '%s' cannot be read, or has no kernel 'k' with pointers\n", path.c_str());
      return 2;
    }
    const Outcome outcome = judge.judge(kernel.ptx, kernel.bindings, kernel.constants, options.seed, kernel.maps);
    std::string text = path + ":";
    for (Verdict verdict : outcome.verdicts)
      text += concat(" ", verdictText(verdict));
    if (outcome.isFailure())
      text += concat("; REFUTED\n", Failure{kernel, outcome}.text());
    else if (!outcome.problem.empty())
      text += concat("; cannot be judged: ", outcome.problem);
    else if (!outcome.ended)
      text += concat("; ", outcome.fault);
    else
      text += "; holds";
    printf("%s\n", text.c_str());
    isBad |= outcome.isFailure() || !outcome.problem.empty();
  }
  return isBad;
}

void writeFailure(const std::string &folder, const Failure &failure) {
  std::filesystem::create_directories(folder);
  const Case small = minimised(failure);
  std::string name = failure.kernel.ways.substr(0, 60);
  for (char &c : name)
    if (c == ' ' || c == ':')
      c = '-';
  std::ofstream(concat(folder, "/", name, "-", failure.kernel.seed, ".ptx"))
      << "// " << failure.text().substr(0, failure.text().find('\n')) << "\n"
      << small.ptx;
}

int run(const Options &options) {
  if (!options.files.empty())
    return judgeFiles(options);
  if (options.print) {
    for (uint64_t i = 0; i < options.count; ++i) {
      const Case kernel = makeCase(options.seed + i, options.classes);
      printf("// seed %llu: %s\n%s\n", static_cast<unsigned long long>(kernel.seed), kernel.ways.c_str(),
             kernel.ptx.c_str());
    }
    return 0;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto isOver = [&] {
    return options.seconds && std::chrono::steady_clock::now() - begin > std::chrono::seconds(options.seconds);
  };
  std::atomic<uint64_t> next = 0, failures = 0;
  std::mutex lock;
  Report report;
  auto work = [&] {
    Judge judge;
    Report mine;
    for (uint64_t i = next++; i < options.count && failures < options.most && !isOver(); i = next++) {
      const Case kernel = makeCase(options.seed + i, options.classes);
      const Outcome outcome = judge.judge(kernel.ptx, kernel.bindings, kernel.constants, kernel.seed, kernel.maps);
      mine.add(kernel, outcome);
      failures += outcome.isFailure();
    }
    std::lock_guard guard(lock);
    report.merge(mine);
  };
  std::vector<std::thread> threads;
  for (uint64_t i = 1; i < options.threads; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (const Failure &failure : report.failures()) {
    printf("%s\n", failure.text().c_str());
    if (options.out.empty())
      printf("%s\n", failure.kernel.ptx.c_str());
    else
      writeFailure(options.out, failure);
  }
  printf("%s%llu kernels in %.1f s, %.3f ms each and thread: %llu refute the proof\n", report.table().c_str(),
         static_cast<unsigned long long>(report.kernels()), seconds,
         1000 * seconds * double(options.threads) / double(std::max<uint64_t>(1, report.kernels())),
         static_cast<unsigned long long>(report.refuted()));
  return report.refuted() != 0 || report.unusable() != 0;
}

} // namespace
} // namespace tenon::proof

int main(int argc, char **argv) {
  tenon::proof::Options options;
  if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
    fputs(tenon::proof::kUsage, stdout);
    return 0;
  }
  return tenon::proof::parseOptions(argc, argv, options) ? tenon::proof::run(options) : 2;
}
