// The measurements. Every function blocks its thread and returns nanoseconds (MONOTONIC), taken
// as close to the work as can be, so that no JavaScript is in the figure.
#ifndef FORKLINE_BENCH_MEASURES_H
#define FORKLINE_BENCH_MEASURES_H

#include <cstdint>
#include <vector>

#include "start.h"

namespace bench {

// Starts, reads to the end, waits; one time for each iteration.
std::vector<double> latency(Way way, const Command &command, uint32_t iterations);

// Runs `count` commands, the given ones in turn, never more than `in_flight` at a time, by one
// thread on epoll: the whole time.
double throughput(Way way, const std::vector<const Command *> &commands, uint32_t count,
                  uint32_t in_flight);

struct Drained {
  double ns = 0;
  uint64_t bytes = 0;
};

// Reads in a blocking loop to the end; with a path, each chunk is also written there.
Drained drain(Way way, const Command &command, const char *path);

// The time from SIGKILL to a process group of `count` commands until all of them are reaped.
double kill_group(const Command &command, uint32_t count);

// Makes this process the new parent of descendants whose parent ends.
void adopt_orphans();

// Waits for all children, `at_most_ms` at most; no other code may wait for a child.
void await_orphans(double at_most_ms);

}  // namespace bench

#endif  // FORKLINE_BENCH_MEASURES_H
