// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posix_spawn: safe beside other threads, and the kernel's error for a program that cannot start comes back as a value.
#include "linker/assembler/subprocess.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tenon::linker {

static constexpr int kFirstChildDescriptor = 3;

std::string childPath(size_t index) {
  return concat("/proc/self/fd/", index + kFirstChildDescriptor);
}

static Result<int> waitFor(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return makeError(StatusCode::Unavailable, "waitpid: ", std::strerror(errno));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<ProcessResult> runProcess(const std::vector<std::string> &arguments, std::span<const MemoryFile *const> files) {
  TENON_ASSIGN_OR_RETURN(MemoryFile output, MemoryFile::create("output"));
  std::vector<char *> argv;
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str())); // posix_spawn does not write to them
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  // Both share one open file and with it one position: lines come in the order written.
  posix_spawn_file_actions_adddup2(&actions, output.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.descriptor(), STDERR_FILENO);
  for (size_t i = 0; i < files.size(); ++i)
    posix_spawn_file_actions_adddup2(&actions, files[i]->descriptor(), kFirstChildDescriptor + int(i));
  pid_t child = 0;
  const int failed = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    return makeError(StatusCode::Unavailable, "cannot run '", arguments[0], "': ", std::strerror(failed));

  ProcessResult result;
  TENON_ASSIGN_OR_RETURN(result.exitStatus, waitFor(child));
  TENON_ASSIGN_OR_RETURN(result.output, output.contents());
  return result;
}

} // namespace tenon::linker
