// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures the emulator through the driver API: kernels, module loading, repeated launches, growth with size and with
// worker threads. Times are CPU time of an interpreter on this machine; they say nothing about any GPU, and the program
// refuses to run on one.
#include "benchmarks/emulator/cases.h"
#include "benchmarks/emulator/emulator.h"
#include "benchmarks/emulator/row.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

namespace tenon::benchmarks {
namespace {

struct Options {
  std::string ptx, csv, markdown, filter, command;
  std::vector<unsigned> threads = {1};
  double seconds = 0.5; // of CPU time for each measurement
  bool worker = false;  // one thread count, rows on stdout
  bool scaling = false; // longer launches, and as many processes at once as there are threads
  // Worker: the scaling group alone, each case in a slot of so many seconds since a time of the monotonic clock, so
  // that processes measure the same case at the same time. 0: no slots.
  double slotsFrom = 0, slotSeconds = 0;
};

double now(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Runs `body` until `seconds` of CPU time are spent, at least 3 times after one that warms up; or until `end` of the
/// monotonic clock, at least once.
template <typename Body> Row measure(const Options &options, const Emulator &emulator, Body body, double end = 0) {
  body();
  std::vector<double> cpu, wall;
  double spent = 0;
  uint64_t before = emulator.threadInstructions();
  auto goesOn = [&] {
    if (end > 0)
      return wall.empty() || now(CLOCK_MONOTONIC) + wall.back() < end;
    return cpu.size() < 3 || (spent < options.seconds && cpu.size() < 100000);
  };
  while (goesOn()) {
    double c = now(CLOCK_PROCESS_CPUTIME_ID), w = now(CLOCK_MONOTONIC);
    body();
    cpu.push_back(now(CLOCK_PROCESS_CPUTIME_ID) - c);
    wall.push_back(now(CLOCK_MONOTONIC) - w);
    spent += cpu.back();
  }
  Row row;
  row.repeats = cpu.size();
  row.instructions = static_cast<double>(emulator.threadInstructions() - before) / static_cast<double>(cpu.size());
  std::sort(cpu.begin(), cpu.end());
  std::sort(wall.begin(), wall.end());
  row.cpu = cpu[cpu.size() / 2];
  row.cpuLeast = cpu[0];
  row.wall = wall[wall.size() / 2];
  return row;
}

std::string readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    fprintf(stderr, "%s: error: cannot be read\n", path.c_str());
    exit(1);
  }
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

const char *kSmallKernel = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry small(.param .u64 from, .param .u64 to)
{
  .reg .b64 %rd<8>;
  .reg .b32 %r<5>;
  .reg .f32 %f<3>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.s32 %rd5, %r4, 4;
  add.s64 %rd6, %rd3, %rd5;
  add.s64 %rd7, %rd4, %rd5;
  ld.global.f32 %f1, [%rd6];
  add.f32 %f2, %f1, 0f3F800000;
  st.global.f32 [%rd7], %f2;
  ret;
}
)";

void print(const Row &row) {
  printf("%s\n", row.line().c_str());
  fflush(stdout);
}

void measureAll(const Options &options) {
  Emulator emulator;
  unsigned threads = options.threads[0];
  auto finish = [&](Row row, const std::string &group, const std::string &name, const std::string &shape) {
    row.group = group;
    row.name = name;
    row.shape = shape;
    row.threads = threads;
    print(row);
  };
  auto wanted = [&](const std::string &name) {
    return options.filter.empty() || name.find(options.filter) != std::string::npos;
  };
  std::string ptx = readFile(options.ptx);
  Module module(emulator, ptx);
  Buffers buffers(emulator);
  double end = options.slotsFrom;
  for (const Case &c : cases(buffers)) {
    if (!wanted(c.name) || (c.group == "scaling" ? !options.scaling : options.slotsFrom > 0) ||
        (threads > 1 && c.group == "growth"))
      continue;
    CUfunction kernel = module.kernel(c.kernel);
    if (options.slotsFrom > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(end - now(CLOCK_MONOTONIC)));
      end += options.slotSeconds;
    }
    finish(measure(options, emulator, [&] { emulator.launch(kernel, c); }, end), c.group, c.name, c.shape);
  }
  if (threads > 1 || options.slotsFrom > 0)
    return;
  if (wanted("launch")) {
    Case c = smallLaunch(buffers);
    CUfunction kernel = module.kernel(c.kernel);
    finish(measure(options, emulator, [&] { emulator.launch(kernel, c); }), "driver", "launch again", c.shape);
  }
  if (wanted("load")) {
    finish(measure(options, emulator, [&] { Module again(emulator, kSmallKernel); }), "driver", "load a small kernel",
           std::to_string(strlen(kSmallKernel)) + " bytes of PTX");
    finish(measure(options, emulator, [&] { Module again(emulator, ptx); }), "driver", "load these kernels",
           std::to_string(ptx.size()) + " bytes of PTX");
  }
}

/// Measures in a process of its own, or in several at once.
std::vector<Row> runWorkers(const Options &options, unsigned threads, unsigned processes) {
  setenv("TENON_EMULATOR_THREADS", std::to_string(threads).c_str(), 1);
  setenv("TENON_EMULATOR_QUIET", "1", 1);
  char self[4096];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  self[length > 0 ? length : 0] = 0;
  std::string command = "'" + std::string(self) + "' --worker --threads=" + std::to_string(threads) + " --ptx='" +
                        options.ptx + "' --filter='" + options.filter +
                        "' --seconds=" + std::to_string(options.seconds);
  if (options.scaling)
    command += " --scaling";
  if (processes > 1) { // time to load, then slots in which every process gets to run every case
    double seconds = std::max(options.seconds * 4, 0.5);
    command += " --slots=" + std::to_string(now(CLOCK_MONOTONIC) + 1) + "," + std::to_string(seconds);
  }
  std::vector<Row> rows = runProcesses(command, processes);
  for (Row &row : rows) {
    if (processes > 1) {
      row.group = "processes";
      row.threads = processes;
    }
    fprintf(stderr, "%-9s %-22s %-34s %2u %s %10.3f ms %6.2f G/s\n", row.group.c_str(), row.name.c_str(),
            row.shape.c_str(), row.threads,
            processes > 1  ? "processes"
            : threads == 1 ? "thread   "
                           : "threads  ",
            (threads > 1 || processes > 1 ? row.wall : row.cpuLeast) * 1e3, row.rate());
  }
  return rows;
}

std::string machine() {
  std::ifstream in("/proc/cpuinfo");
  std::string line, model = "unknown processor";
  while (std::getline(in, line))
    if (line.rfind("model name", 0) == 0) {
      model = line.substr(line.find(':') + 2);
      break;
    }
  utsname system{};
  uname(&system);
  return std::to_string(std::thread::hardware_concurrency()) + " cores, " + model + ", " + system.sysname + " " +
         system.release;
}

/// How a group grows with threads, and beside it what as many processes at once get out of the machine: where these do
/// not grow either, cores, caches or clock frequency are shared and no program would.
void writeThreads(const Options &options, const std::vector<Row> &rows, const std::string &group, std::ofstream &out) {
  out << "\n## Worker threads, " << (group == "kernel" ? "short launches" : "long launches")
      << " (median wall ms, and how many times one thread's speed"
      << (group == "scaling" ? "; of: as many processes at once, against one)" : ")") << "\n| kernel | shape |";
  for (unsigned n : options.threads)
    out << ' ' << n << " |";
  out << "\n|---|---|";
  for (size_t k = 0; k < options.threads.size(); ++k)
    out << "---|";
  out << '\n';
  auto find = [&](const Row &one, const std::string &in, unsigned threads) -> const Row * {
    for (const Row &row : rows)
      if (row.group == in && row.threads == threads && row.name == one.name && row.shape == one.shape)
        return &row;
    return nullptr;
  };
  for (const Row &one : rows) {
    if (one.threads != options.threads[0] || one.group != group)
      continue;
    out << "| " << one.name << " | " << one.shape << " |";
    for (unsigned n : options.threads) {
      char text[96] = " |";
      const Row *row = find(one, group, n), *processes = find(one, "processes", n);
      if (row && processes)
        snprintf(text, sizeof text, " %.3f (%.2f of %.2f) |", row->wall * 1e3, one.wall / row->wall,
                 n * one.wall / processes->wall);
      else if (row)
        snprintf(text, sizeof text, " %.3f (%.2f) |", row->wall * 1e3, one.wall / row->wall);
      out << text;
    }
    out << '\n';
  }
}

void write(const Options &options, const std::vector<Row> &rows, const std::string &load) {
  char date[64];
  time_t t = time(nullptr);
  strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", gmtime(&t));
  if (!options.csv.empty()) {
    std::ofstream out(options.csv);
    out << Row::columns() << '\n';
    for (const Row &row : rows)
      out << row.line() << '\n';
  }
  if (options.markdown.empty())
    return;
  std::ofstream out(options.markdown);
  char text[512];
  out << "# Speed of the emulator\n\n"
         "CPU time of an interpreter of PTX. No figure here says anything about a GPU.\n\n- "
      << date << "\n- " << machine() << "\n- load when it began: " << load << "\n- `" << options.command
      << "`; least and median CPU time of one launch; G/s: thread instructions per second of the least CPU time (of "
         "the "
         "median wall time with several threads)\n\n";
  out << "| kernel | shape | least ms | median ms | million thread instructions | G/s |\n|---|---|---|---|---|---|\n";
  for (const Row &row : rows)
    if (row.threads == 1 && (row.group == "kernel" || row.group == "growth")) {
      snprintf(text, sizeof text, "| %s | %s | %.3f | %.3f | %.2f | %.2f |\n", row.name.c_str(), row.shape.c_str(),
               row.cpuLeast * 1e3, row.cpu * 1e3, row.instructions / 1e6, row.rate());
      out << text;
    }
  out << "\n| driver | what | least us | median us |\n|---|---|---|---|\n";
  for (const Row &row : rows)
    if (row.group == "driver") {
      snprintf(text, sizeof text, "| %s | %s | %.1f | %.1f |\n", row.name.c_str(), row.shape.c_str(),
               row.cpuLeast * 1e6, row.cpu * 1e6);
      out << text;
    }
  if (options.threads.size() > 1)
    writeThreads(options, rows, "kernel", out);
  if (options.scaling)
    writeThreads(options, rows, "scaling", out);
}

bool parse(int count, char **arguments, Options &options) {
  for (int k = 0; k < count; ++k)
    options.command += (k ? " " : "") + std::string(k ? arguments[k] : "tenon-emulator-benchmark");
  for (int k = 1; k < count; ++k) {
    std::string argument = arguments[k];
    auto value = [&](const char *name) -> const char * {
      size_t length = strlen(name);
      return argument.compare(0, length, name) == 0 ? argument.c_str() + length : nullptr;
    };
    if (const char *v = value("--ptx="))
      options.ptx = v;
    else if (const char *v = value("--csv="))
      options.csv = v;
    else if (const char *v = value("--md="))
      options.markdown = v;
    else if (const char *v = value("--filter="))
      options.filter = v;
    else if (const char *v = value("--seconds="))
      options.seconds = atof(v);
    else if (const char *v = value("--threads=")) {
      options.threads.clear();
      std::stringstream text(v);
      for (std::string number; std::getline(text, number, ',');)
        options.threads.push_back(static_cast<unsigned>(std::max(1, atoi(number.c_str()))));
    } else if (const char *v = value("--slots=")) {
      sscanf(v, "%lf,%lf", &options.slotsFrom, &options.slotSeconds);
    } else if (argument == "--worker") {
      options.worker = true;
    } else if (argument == "--scaling") {
      options.scaling = true;
    } else {
      fprintf(stderr, "error: unknown argument '%s'\n", arguments[k]);
      return false;
    }
  }
  if (options.ptx.empty())
    options.ptx = ownFolder() + "/kernels.ptx";
  return !options.threads.empty();
}

} // namespace
} // namespace tenon::benchmarks

int main(int count, char **arguments) {
  using namespace tenon::benchmarks;
  Options options;
  if (!parse(count, arguments, options)) {
    fprintf(stderr, "usage: tenon-emulator-benchmark [--ptx=FILE] [--threads=1,2,...] [--seconds=S] [--filter=TEXT]\n"
                    "                                [--scaling] [--csv=FILE] [--md=FILE]\n");
    return 2;
  }
  if (options.worker) {
    measureAll(options);
    return 0;
  }
  double loads[1] = {0};
  char load[32];
  getloadavg(loads, 1);
  snprintf(load, sizeof load, "%.1f", loads[0]);
  std::vector<Row> rows;
  auto add = [&](const std::vector<Row> &more) { rows.insert(rows.end(), more.begin(), more.end()); };
  for (unsigned threads : options.threads) {
    add(runWorkers(options, threads, 1));
    if (options.scaling && threads > 1)
      add(runWorkers(options, 1, threads));
  }
  write(options, rows, load);
  return 0;
}
