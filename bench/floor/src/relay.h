// A process that starts commands for another one and is their parent: the least that a cradle can
// be.
#ifndef FORKLINE_BENCH_RELAY_H
#define FORKLINE_BENCH_RELAY_H

#include <sys/types.h>

namespace bench {

class Command;

// One process, forked once and kept for the life of the bench: a fork of the host makes each of
// its pages fault anew, which must not be part of a figure.
class Relay {
 public:
  // Returns an idle relay, or a new one when all are at work.
  static Relay &idle();

  // Makes the relay start the command. The descriptors are copied, and the caller keeps its own.
  void start(const Command &command, int input, int output);

  // Waits until the command has ended; the relay is idle again then.
  bool succeeded();

 private:
  Relay();

  int socket_ = -1;
  bool busy_ = false;
};

}  // namespace bench

#endif  // FORKLINE_BENCH_RELAY_H
