/* trace PID ...: traces these processes, as a debugger does: they stand still, and only SIGKILL reaches them.
   Prints a line once they do, and ends with its stdin. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  for (int at = 1; at < argc; at++) {
    pid_t pid = atoi(argv[at]);
    if (ptrace(PTRACE_ATTACH, pid, 0, 0) != 0) {
      perror("trace");
      return 1;
    }
    waitpid(pid, NULL, __WALL);
  }
  puts("traced");
  fflush(stdout);
  struct pollfd input = {.fd = 0, .events = POLLIN};
  /* As a debugger, it takes note of who has ended. */
  while (poll(&input, 1, 20) == 0) waitpid(-1, NULL, __WALL | WNOHANG);
  return 0;
}
