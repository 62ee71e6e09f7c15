#include "measures.h"

namespace bench {

std::vector<double> latency(Way way, const Command &command, uint32_t iterations) {
  Starter starter(way);
  PageBuffer buffer(kReadSize);
  std::vector<double> times;
  times.reserve(iterations);
  for (uint32_t iteration = 0; iteration < iterations; iteration++) {
    uint64_t begin = now_ns();
    Started started = starter.start(command);
    // One pipe after the other, which is enough for commands that write less than a pipe holds.
    for (int pipe = 0; pipe < started.pipe_count; pipe++)
      read_to_end(started.pipes[pipe], buffer.data(), buffer.size());
    finish(started);
    times.push_back(static_cast<double>(now_ns() - begin));
  }
  return times;
}

}  // namespace bench
