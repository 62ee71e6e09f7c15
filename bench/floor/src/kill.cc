#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "measures.h"

namespace bench {

namespace {

// Puts a command in the given process group; 0 makes it the leader of a new one.
pid_t spawn_in_group(const Command &command, pid_t group) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, group);
  pid_t pid = -1;
  int error =
      posix_spawn(&pid, command.path(), nullptr, &attributes, command.argv(), command.envp());
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    if (group > 0) kill(-group, SIGKILL);
    fail("posix_spawn", error);
  }
  return pid;
}

}  // namespace

double kill_group(const Command &command, uint32_t count) {
  pid_t group = spawn_in_group(command, 0);
  for (uint32_t member = 1; member < count; member++) spawn_in_group(command, group);
  uint64_t begin = now_ns();
  if (kill(-group, SIGKILL) != 0) fail("kill", errno);
  uint32_t reaped = 0;
  while (reaped < count) {
    if (waitpid(-group, nullptr, 0) > 0)
      reaped++;
    else if (errno != EINTR)
      fail("waitpid", errno);
  }
  return static_cast<double>(now_ns() - begin);
}

}  // namespace bench
