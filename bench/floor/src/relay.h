// A process that starts commands for another one and is their parent: what a cradle is at the
// least.
#ifndef FORKLINE_BENCH_RELAY_H
#define FORKLINE_BENCH_RELAY_H

#include <sys/types.h>

namespace bench {

class Command;

// One process, forked once and kept for the life of the bench: a fork of the host makes each of its
// pages fault anew, which must not fall into a figure.
class Relay {
 public:
  // An idle one, or a new one when all are at work.
  static Relay &idle();

  // Has it start the command. The descriptors are copied, and stay the caller's.
  void start(const Command &command, int input, int output);

  // Waits until the command has ended, and is idle again.
  bool succeeded();

 private:
  Relay();

  int socket_ = -1;
  bool busy_ = false;
};

}  // namespace bench

#endif  // FORKLINE_BENCH_RELAY_H
