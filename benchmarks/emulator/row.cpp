// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/emulator/row.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace tenon::benchmarks {

std::string Row::line() const {
  char numbers[160];
  snprintf(numbers, sizeof numbers, ",%u,%llu,%.9f,%.9f,%.9f,%.0f", threads, static_cast<unsigned long long>(repeats),
           cpu, cpuLeast, wall, instructions);
  return group + "," + name + "," + shape + numbers;
}

const char *Row::columns() {
  return "group,name,shape,threads,repeats,cpu_seconds,cpu_seconds_least,wall_seconds,thread_instructions";
}

bool Row::parse(const std::string &text) {
  std::vector<std::string> fields;
  std::stringstream in(text);
  for (std::string field; std::getline(in, field, ',');)
    fields.push_back(field);
  if (fields.size() != 9)
    return false;
  group = fields[0];
  name = fields[1];
  shape = fields[2];
  threads = static_cast<unsigned>(std::stoul(fields[3]));
  repeats = std::stoull(fields[4]);
  cpu = std::stod(fields[5]);
  cpuLeast = std::stod(fields[6]);
  wall = std::stod(fields[7]);
  instructions = std::stod(fields[8]);
  return true;
}

std::vector<Row> runProcesses(const std::string &command, unsigned processes) {
  std::vector<FILE *> pipes;
  for (unsigned k = 0; k < processes; ++k)
    pipes.push_back(popen(command.c_str(), "r"));
  std::vector<std::vector<Row>> rows; // by case, of all processes
  for (FILE *pipe : pipes) {
    char line[1024];
    size_t count = 0;
    for (Row row; pipe && fgets(line, sizeof line, pipe);) {
      if (!row.parse(line))
        continue;
      if (count == rows.size())
        rows.emplace_back();
      rows[count++].push_back(row);
    }
    if (!pipe || pclose(pipe) != 0) {
      fprintf(stderr, "error: a measurement failed: %s\n", command.c_str());
      exit(1);
    }
  }
  std::vector<Row> out;
  for (std::vector<Row> &same : rows) {
    auto median = [&](double Row::*field) {
      std::nth_element(same.begin(), same.begin() + static_cast<ptrdiff_t>(same.size() / 2), same.end(),
                       [field](const Row &a, const Row &b) { return a.*field < b.*field; });
      return same[same.size() / 2].*field;
    };
    Row row = same[0];
    row.cpu = median(&Row::cpu);
    row.cpuLeast = median(&Row::cpuLeast);
    row.wall = median(&Row::wall);
    out.push_back(row);
  }
  return out;
}

} // namespace tenon::benchmarks
