// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//   tenon-sequences                          the driver at hand (TENON_CUDA_DRIVER) gives the recorded answers
//   tenon-sequences --record=FILE            asks the driver at hand and writes FILE
//   tenon-sequences --compare [--from=SEED] [--step=N] [--count=N] [--seconds=S]
//                                            the GPU against the emulator; what differs is made small and printed
//       --few                                of a few forms each, repeated
//       --pairs                              of two forms each, all that compilers print
//   tenon-sequences --print=SEED             the kernel of a seed
//   tenon-sequences --print-forms=FILE       one kernel for each form and operand that may be a constant
#include "tests/golden/golden_file.h"
#include "tests/sequences/form_table.h"
#include "tests/sequences/pair_sequence.h"
#include "tests/sequences/random_sequence.h"
#include "tests/sequences/run_sequences.h"
#include "tests/sequences/shrink.h"

#include <chrono>
#include <cstdio>
#include <map>

namespace tenon::sequences {
namespace {

constexpr uint64_t kRecorded = 512; // seeds 0 to 511 are recorded
constexpr size_t kBatch = 32;       // kernels of a module
constexpr uint64_t kShrunk = 20;    // differences that are made small, of one run: each takes about a second

std::string readText(const std::string &path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string folder(const char *variable) {
  const char *named = getenv(variable);
  return named ? named : kernels::ownFolder();
}

const std::vector<OpcodeForms> &table() {
  static const std::vector<OpcodeForms> *made = [] {
    std::vector<std::string> errors;
    static const std::vector<Form> forms =
        golden::parseForms(readText(folder("TENON_GOLDEN_DIR") + "/forms.txt") + "\n" +
                               readText(folder("TENON_SEQUENCES_DIR") + "/more_forms.txt"),
                           errors);
    for (const std::string &error : errors)
      fprintf(stderr, "forms.txt and more_forms.txt: %s\n", error.c_str());
    if (!errors.empty() || forms.empty())
      exit(1);
    return new std::vector<OpcodeForms>(tableOf(forms));
  }();
  return *made;
}

std::string name(uint64_t seed) {
  return "seed " + std::to_string(seed);
}

uint64_t hashOfQuestion(const Sequence &sequence) {
  const std::string text = entryOf(sequence, "k");
  const std::vector<uint64_t> inputs = inputsOf(sequence);
  return golden::hashOf(inputs.data(), inputs.size() * 8, golden::hashOf(text.data(), text.size()));
}

std::vector<const Sequence *> pointersTo(const std::vector<Sequence> &sequences) {
  std::vector<const Sequence *> pointers;
  for (const Sequence &sequence : sequences)
    pointers.push_back(&sequence);
  return pointers;
}

/// The recorded seeds, and what the driver at hand answers.
std::vector<std::pair<Sequence, Outcome>> answers() {
  std::vector<std::pair<Sequence, Outcome>> all;
  for (uint64_t seed = 0; seed < kRecorded; seed += kBatch) {
    std::vector<Sequence> batch;
    for (uint64_t k = 0; k < kBatch; ++k)
      batch.push_back(randomSequence(table(), seed + k));
    const std::vector<Outcome> outcomes = runSequences(kernels::driver(), pointersTo(batch));
    for (size_t k = 0; k < batch.size(); ++k)
      all.emplace_back(batch[k], outcomes[k]);
  }
  return all;
}

int record(const std::string &path) {
  golden::GoldenFile file;
  file.device = kernels::driver().deviceName;
  for (const auto &[sequence, outcome] : answers()) {
    golden::Recorded recorded;
    recorded.status = outcome.status;
    recorded.question = hashOfQuestion(sequence);
    if (outcome.status == CUDA_SUCCESS) {
      const uint64_t hash = hashOfAnswer(sequence, outcome);
      recorded.bytes.resize(sizeof hash);
      memcpy(recorded.bytes.data(), &hash, sizeof hash);
    } else {
      printf("%s is refused: %u %s\n", name(sequence.seed).c_str(), outcome.status, outcome.log.c_str());
    }
    file.forms[name(sequence.seed)] = std::move(recorded);
  }
  const std::string error = golden::writeGolden(path, file);
  printf("%zu sequences recorded by %s%s\n", file.forms.size(), file.device.c_str(), error.c_str());
  return error.empty() ? 0 : 1;
}

int compareWithRecorded() {
  golden::GoldenFile file;
  if (std::string error = golden::readGolden(folder("TENON_SEQUENCES_DIR") + "/sm_90.sequences", file);
      !error.empty()) {
    fprintf(stderr, "%s\n", error.c_str());
    return 1;
  }
  size_t wrong = 0, right = 0;
  for (const auto &[sequence, outcome] : answers()) {
    const auto found = file.forms.find(name(sequence.seed));
    if (found == file.forms.end() || found->second.question != hashOfQuestion(sequence)) {
      printf("%s is another one than was recorded: record again (README.md)\n", name(sequence.seed).c_str());
      return 1;
    }
    uint64_t recorded = 0;
    memcpy(&recorded, found->second.bytes.data(), std::min<size_t>(found->second.bytes.size(), 8));
    if (outcome.status == CUDA_SUCCESS && hashOfAnswer(sequence, outcome) == recorded) {
      ++right;
      continue;
    }
    ++wrong;
    printf("%s: %s\n", name(sequence.seed).c_str(),
           outcome.status == CUDA_SUCCESS ? "another answer than recorded" : outcome.log.c_str());
  }
  printf("%zu sequences agree with %s, %zu do not\n", right, file.device.c_str(), wrong);
  return wrong ? 1 : 0;
}

/// The GPU against the emulator.
class Comparison {
public:
  Comparison()
      : emulator_(*kernels::openDriver(kernels::emulatorLibrary())), gpu_(*kernels::openDriver("libcuda.so.1")) {}

  int run(uint64_t from, uint64_t step, uint64_t count, double seconds) {
    for (const kernels::Driver *driver : {&emulator_, &gpu_})
      if (!driver->error.empty()) {
        fprintf(stderr, "%s\n", driver->error.c_str());
        return 1;
      }
    const auto begin = std::chrono::steady_clock::now();
    uint64_t seed = from, done = 0;
    while (done < count && std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds) {
      std::vector<Sequence> batch;
      for (; batch.size() < kBatch && done < count; ++done, seed += step)
        batch.push_back(randomSequence(table(), seed));
      const std::vector<Outcome> want = runSequences(emulator_, pointersTo(batch)),
                                 got = runSequences(gpu_, pointersTo(batch));
      for (size_t k = 0; k < batch.size(); ++k)
        judge(batch[k], want[k], got[k]);
      if (isLost_)
        break;
    }
    summarise(done);
    return wrong_ || isLost_ ? 1 : 0;
  }

private:
  void judge(const Sequence &sequence, const Outcome &want, const Outcome &got) {
    if (want.status != CUDA_SUCCESS || got.status != CUDA_SUCCESS) {
      ++refused_[(want.status != CUDA_SUCCESS ? "emulator: " + want.log : "gpu: " + got.log).substr(0, 300)];
      if (got.status == CUDA_ERROR_ILLEGAL_ADDRESS || got.status == CUDA_ERROR_LAUNCH_FAILED ||
          got.status == CUDA_ERROR_MISALIGNED_ADDRESS)
        isLost_ = true;
      return;
    }
    forEachStep(sequence.steps, [&](const Step &step) {
      if (!step.form)
        return;
      ++opcodes_[opcodeOf(*step.form)];
      ++forms_[step.form->name];
    });
    if (!differenceOf(sequence, want, got))
      return;
    if (++wrong_ > kShrunk) {
      printf("differs too: seed %llu\n", static_cast<unsigned long long>(sequence.seed));
      return;
    }
    // An error of the optimiser goes away without it.
    const bool ofOptimiser = !differs(sequence, 0);
    const Sequence small = shrink(
        sequence,
        [&](const Sequence &candidate) { return differs(candidate, 4) && (!ofOptimiser || !differs(candidate, 0)); },
        250);
    std::string forms = ofOptimiser ? "optimiser:" : "all levels:";
    forEachStep(small.steps, [&](const Step &step) {
      if (step.form)
        forms += " " + step.form->name + ";";
    });
    if (kinds_[forms]++ == 0)
      print(small, forms);
  }

  bool differs(const Sequence &sequence, unsigned level) {
    const Outcome want = runSequences(emulator_, {&sequence})[0], got = runSequences(gpu_, {&sequence}, level)[0];
    return want.status == CUDA_SUCCESS && got.status == CUDA_SUCCESS && differenceOf(sequence, want, got);
  }

  void print(const Sequence &sequence, const std::string &forms) {
    const Outcome want = runSequences(emulator_, {&sequence})[0], got = runSequences(gpu_, {&sequence})[0];
    const std::optional<Difference> at = differenceOf(sequence, want, got);
    if (!at)
      return;
    printf("== seed %llu, %s\n", static_cast<unsigned long long>(sequence.seed), forms.c_str());
    const std::vector<uint64_t> inputs = inputsOf(sequence);
    printf("thread %u, store %zu of %s; inputs:", at->thread, at->store,
           sequence.registers[sequence.stores[at->store].reg].type.c_str());
    for (size_t k = 0; k < sequence.inputs.size(); ++k)
      printf(" %%v%zu=%llx", k, static_cast<unsigned long long>(inputs[at->thread * sequence.inputs.size() + k]));
    const size_t place = at->store * kThreads + at->thread;
    printf("\nemulator %llx", static_cast<unsigned long long>(want.values[place]));
    for (unsigned level = 0; level <= 4; ++level) {
      const Outcome one = runSequences(gpu_, {&sequence}, level)[0];
      if (one.status == CUDA_SUCCESS)
        printf(", -O%u %llx", level, static_cast<unsigned long long>(one.values[place]));
    }
    const std::string text = entryOf(sequence, "k");
    const size_t loaded =
        text.rfind("ld.global.b", text.find(", [%in+" + std::to_string(8 * (sequence.inputs.size() - 1))));
    printf("\n%s\n", text.substr(text.find('\n', loaded) + 1).c_str());
    fflush(stdout);
  }

  void summarise(uint64_t done) {
    for (const auto &[log, count] : refused_)
      printf("refused %llu: %s\n", static_cast<unsigned long long>(count), log.c_str());
    for (const auto &[forms, count] : kinds_)
      printf("different %llu: %s\n", static_cast<unsigned long long>(count), forms.c_str());
    for (const auto &[opcode, count] : opcodes_)
      printf("opcode %s %llu\n", opcode.c_str(), static_cast<unsigned long long>(count));
    printf("sequences %llu, different %llu, forms %zu%s\n", static_cast<unsigned long long>(done),
           static_cast<unsigned long long>(wrong_), forms_.size(), isLost_ ? "; the context was lost" : "");
  }

  const kernels::Driver &emulator_, &gpu_;
  std::map<std::string, uint64_t> refused_, kinds_, opcodes_, forms_;
  uint64_t wrong_ = 0;
  bool isLost_ = false;
};

/// Every form with registers, and with a constant at each operand that may be one: for ptxas to take.
int printForms(const std::string &path) {
  std::ofstream out(path);
  out << headOfModule();
  size_t kernels = 0;
  for (const OpcodeForms &row : table())
    for (const FormEntry &entry : row.forms)
      for (size_t constant = 0; constant <= entry.form->operands.size(); ++constant) {
        if (constant && !takesImmediate(*entry.form, constant - 1))
          continue;
        Sequence sequence;
        sequence.inputs = entry.form->operands;
        Step step;
        step.form = entry.form;
        for (size_t k = 0; k < sequence.inputs.size(); ++k) {
          const bool isPredicate = sequence.inputs[k] == "pred";
          Source source;
          source.type = sequence.inputs[k];
          source.reg = static_cast<uint32_t>(k);
          source.bits = 3;
          source.kind = isPredicate         ? Source::Kind::Moved
                        : constant == k + 1 ? Source::Kind::Immediate
                                            : Source::Kind::Register;
          step.sources.push_back(source);
        }
        for (std::string &input : sequence.inputs) {
          sequence.registers.push_back({input == "pred" ? "b32" : input});
          input = sequence.registers.back().type;
        }
        for (const std::string &result : entry.form->results) {
          step.results.push_back(static_cast<uint32_t>(sequence.registers.size()));
          sequence.registers.push_back({result});
          sequence.stores.push_back({step.results.back(), Part::Whole});
        }
        sequence.steps.push_back(step);
        out << "// " << entry.form->name << ", constant " << constant << "\n"
            << entryOf(sequence, "f" + std::to_string(kernels++));
      }
  printf("%zu kernels\n", kernels);
  return 0;
}

int run(int argc, char **argv) {
  std::map<std::string, std::string> given;
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    const size_t equals = argument.find('=');
    given[argument.substr(0, equals)] = equals == std::string::npos ? "" : argument.substr(equals + 1);
  }
  auto number = [&](const char *option, double otherwise) {
    return given.count(option) ? atof(given[option].c_str()) : otherwise;
  };
  if (given.count("--print")) {
    const Sequence sequence = randomSequence(table(), static_cast<uint64_t>(number("--print", 0)));
    printf("%s%s", headOfModule().c_str(), entryOf(sequence, "k").c_str());
    return 0;
  }
  if (given.count("--print-forms"))
    return printForms(given["--print-forms"]);
  if (given.count("--compare"))
    return Comparison().run(static_cast<uint64_t>(number("--from", 0)) + (given.count("--few")     ? kSeedsOfFewForms
                                                                          : given.count("--pairs") ? kSeedsOfPairs
                                                                                                   : 0),
                            static_cast<uint64_t>(number("--step", 1)), static_cast<uint64_t>(number("--count", 1e15)),
                            number("--seconds", 60));
  if (!kernels::driver().error.empty()) {
    fprintf(stderr, "%s\n", kernels::driver().error.c_str());
    return 1;
  }
  return given.count("--record") ? record(given["--record"]) : compareWithRecorded();
}

} // namespace
} // namespace tenon::sequences

int main(int argc, char **argv) {
  return tenon::sequences::run(argc, argv);
}
