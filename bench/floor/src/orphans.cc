// Descendants whose parents end before them: forkline's keeper after its host. The process that
// adopts them can wait for them, and the CPU time that they have used counts as its own.
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "measures.h"

namespace bench {

void adopt_orphans() {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
    throw std::system_error(errno, std::generic_category(), "prctl");
}

void await_orphans(double at_most_ms) {
  using std::chrono::steady_clock;
  auto until = steady_clock::now() + std::chrono::duration<double, std::milli>(at_most_ms);
  for (;;) {
    pid_t pid = waitpid(-1, nullptr, WNOHANG);
    if (pid < 0 && errno == ECHILD) return;
    if (pid > 0) continue;
    if (steady_clock::now() >= until) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace bench
