// What is measured. Every function blocks its thread and returns nanoseconds (MONOTONIC), taken as
// close to the work as can be, so that no JavaScript is in the figure.
#ifndef FORKLINE_BENCH_MEASURES_H
#define FORKLINE_BENCH_MEASURES_H

#include <cstdint>
#include <vector>

#include "start.h"

namespace bench {

// Start, read to the end, wait; one time for each iteration.
std::vector<double> latency(Way way, const Command &command, uint32_t iterations);

// `count` commands, the given ones in turn, never more than `in_flight` at a time, by one thread on
// epoll: the whole time.
double throughput(Way way, const std::vector<const Command *> &commands, uint32_t count,
                  uint32_t in_flight);

struct Drained {
  double ns = 0;
  uint64_t bytes = 0;
};

// A blocking read loop to the end; with a path, each chunk is also written there.
Drained drain(Way way, const Command &command, const char *path);

// From SIGKILL to a process group of `count` commands until all of them are reaped.
double kill_group(const Command &command, uint32_t count);

// From now on descendants whose parent ends are this process's children.
void adopt_orphans();

// Waits for all children, for so many milliseconds; nobody else may have one to wait for.
void await_orphans(double at_most_ms);

}  // namespace bench

#endif  // FORKLINE_BENCH_MEASURES_H
