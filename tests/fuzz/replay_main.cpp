// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a fuzz target over files, without a fuzzer: the seeds, and every input that once crashed it. Arguments are files
// and folders; a folder's files are taken in the order of their names.
//
//   --random=SECONDS   then inputs made of them, for so long: bytes and lines changed, repeated, left out, exchanged;
//   new
//                      bytes. For targets whose library cannot be instrumented (MLIR)
//   --seed=N           of the random numbers (1)
//   --text=FOLDER      takes the .mlir files in it and below as inputs, too
//   --artifact=FILE    holds the input that is running, when it crashes
#include "fuzz.h"

#include "support/files/file.h"
#include "support/number.h"
#include "support/random.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <vector>

using namespace tenon;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kText = "text:";

struct Options {
  std::vector<std::string> paths, texts;
  uint64_t seconds = 0, seed = 1;
  std::string artifact;
};

class Mutator {
public:
  Mutator(const std::vector<std::string> &inputs, uint64_t seed) : inputs_(inputs), random_(seed) {}

  std::string next() {
    if (inputs_.empty() || below(3) == 0)
      return newBytes();
    std::string out = inputs_[below(inputs_.size())];
    const bool isText = out.starts_with(kText);
    for (uint64_t times = below(6) + 1; times != 0; --times)
      isText ? changeText(out) : changeBytes(out);
    return out;
  }

private:
  uint64_t below(uint64_t limit) { return random_.next() % limit; }
  std::string newBytes() {
    std::string out(below(600) + 16, '\0');
    for (char &byte : out)
      byte = static_cast<char>(random_.next());
    return out;
  }
  void changeBytes(std::string &bytes) {
    if (bytes.empty())
      return;
    const size_t at = below(bytes.size());
    switch (below(3)) {
    case 0:
      bytes[at] = static_cast<char>(random_.next());
      return;
    case 1:
      bytes.erase(at, below(8) + 1);
      return;
    default:
      bytes.insert(at, bytes.substr(below(bytes.size()), below(32)));
    }
  }
  /// Where a word begins and ends at or behind a place.
  std::pair<size_t, size_t> wordIn(const std::string &text) {
    const auto isPart = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
    const auto from = text.begin() + static_cast<ptrdiff_t>(kText.size() + below(text.size() - kText.size()));
    const auto begin = std::find_if(from, text.end(), isPart);
    const auto end = std::find_if_not(begin, text.end(), isPart);
    return {size_t(begin - text.begin()), size_t(end - begin)};
  }
  std::pair<size_t, size_t> lineIn(const std::string &text) {
    const size_t from = kText.size() + below(text.size() - kText.size());
    const size_t end = std::min(text.find('\n', from), text.size() - 1);
    return {from, end + 1 - from};
  }
  void changeText(std::string &text) {
    constexpr const char *kWords[] = {"0",
                                      "-1",
                                      "9223372036854775807",
                                      "?",
                                      "f32",
                                      "index",
                                      "tensor<?xf32>",
                                      "[]",
                                      "{}",
                                      "\"\"",
                                      "true",
                                      "unit",
                                      "@none",
                                      "%none",
                                      "dense<>",
                                      "(",
                                      ")",
                                      "->",
                                      "<",
                                      ">",
                                      "module",
                                      "i1",
                                      "4294967296",
                                      "1.0e400"};
    if (text.size() <= kText.size() + 1)
      return;
    const auto [word, length] = wordIn(text);
    switch (below(6)) {
    case 0:
      text.replace(word, length, kWords[below(std::size(kWords))]);
      return;
    case 1: { // a word of another place
      const auto [other, otherLength] = wordIn(text);
      text.replace(word, length, std::string(text, other, otherLength));
      return;
    }
    case 2: {
      const auto [line, size] = lineIn(text);
      text.erase(line, size);
      return;
    }
    case 3: {
      const auto [line, size] = lineIn(text);
      text.insert(lineIn(text).first, std::string(text, line, size));
      return;
    }
    case 4: { // the rest of another input
      const std::string &other = inputs_[below(inputs_.size())];
      if (other.starts_with(kText))
        text = text.substr(0, word) + other.substr(lineIn(other).first);
      return;
    }
    default:
      text.erase(kText.size() + below(text.size() - kText.size()), 1);
    }
  }

  const std::vector<std::string> &inputs_;
  SplitMix64 random_;
};

Options parse(int argc, char **argv) {
  Options out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const std::string_view value = argument.substr(std::min(argument.find('=') + 1, argument.size()));
    if (argument.starts_with("--random="))
      out.seconds = parseNumber<uint64_t>(value).value_or(60);
    else if (argument.starts_with("--seed="))
      out.seed = parseNumber<uint64_t>(value).value_or(1);
    else if (argument.starts_with("--text="))
      out.texts.emplace_back(value);
    else if (argument.starts_with("--artifact="))
      out.artifact = value;
    else
      out.paths.emplace_back(argument);
  }
  return out;
}

std::vector<std::string> filesIn(const std::string &path, std::string_view extension) {
  std::vector<std::string> out;
  std::error_code failed;
  if (!fs::is_directory(path, failed))
    return {path};
  for (fs::recursive_directory_iterator it(path, failed), end; !failed && it != end; it.increment(failed))
    if (std::error_code gone; it->is_regular_file(gone) && it->path().string().ends_with(extension))
      out.push_back(it->path().string());
  std::sort(out.begin(), out.end());
  return out;
}

void run(const std::string &bytes) {
  // A copy of the exact size, so that a sanitizer sees the first byte behind it.
  const std::vector<uint8_t> exact(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

} // namespace

int main(int argc, char **argv) {
  const Options options = parse(argc, argv);
  std::vector<std::string> inputs;
  const auto take = [&](const std::string &path, std::string_view prefix) {
    tenon::Result<std::string> bytes = tenon::readFile(path);
    if (!bytes.ok()) {
      std::fprintf(stderr, "%s\n", std::string(bytes.status().message()).c_str());
      return false;
    }
    std::fprintf(stderr, "%s: %zu bytes\n", path.c_str(), bytes->size()); // the last one named is the one that crashed
    inputs.push_back(std::string(prefix) + *bytes);
    run(inputs.back());
    return true;
  };
  for (const std::string &path : options.paths)
    for (const std::string &file : filesIn(path, ""))
      if (!take(file, ""))
        return 1;
  for (const std::string &path : options.texts)
    for (const std::string &file : filesIn(path, ".mlir"))
      if (!take(file, kText))
        return 1;
  std::fprintf(stderr, "%zu inputs\n", inputs.size());
  if (options.seconds == 0)
    return inputs.empty() ? 1 : 0;

  Mutator mutator(inputs, options.seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(options.seconds);
  uint64_t count = 0;
  double slowest = 0;
  for (auto now = std::chrono::steady_clock::now(); now < end; ++count) {
    const std::string bytes = mutator.next();
    if (!options.artifact.empty())
      if (tenon::Status written = tenon::writeFile(options.artifact, bytes); !written.ok()) {
        std::fprintf(stderr, "%s\n", std::string(written.message()).c_str());
        return 1;
      }
    run(bytes);
    const auto after = std::chrono::steady_clock::now();
    slowest = std::max(slowest, std::chrono::duration<double>(after - now).count());
    now = after;
  }
  if (!options.artifact.empty())
    std::remove(options.artifact.c_str());
  std::fprintf(stderr, "%llu random inputs in %llu seconds, the slowest took %.2f\n",
               static_cast<unsigned long long>(count), static_cast<unsigned long long>(options.seconds), slowest);
  return 0;
}
