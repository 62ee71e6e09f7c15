// Starting one command and waiting for it, in the ways that are compared.
#ifndef FORKLINE_BENCH_START_H
#define FORKLINE_BENCH_START_H

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "launch.h"
#include "relay.h"

namespace bench {

// A program with its arguments and environment, ready for exec: building the two pointer arrays
// is not part of any figure.
class Command {
 public:
  Command(std::string path, std::vector<std::string> arguments, std::vector<std::string> variables);
  Command(const Command &) = delete;
  Command &operator=(const Command &) = delete;

  const char *path() const {
    return path_.c_str();
  }
  char *const *argv() const {
    return argv_.data();
  }
  char *const *envp() const {
    return envp_.data();
  }

 private:
  std::string path_;
  std::vector<std::string> arguments_;
  std::vector<std::string> variables_;
  std::vector<char *> argv_;
  std::vector<char *> envp_;
};

enum class Way {
  kSpawn,   // posix_spawn, stdout and stderr in a pipe each: the floor
  kLaunch,  // forkline_launch, both in one pipe: forkline's own floor
  kCradle   // the same by another process, which is the command's parent: that of its shape
};

struct Started {
  pid_t pid = -1;
  int pidfd = -1;           // kLaunch only
  Relay *relay = nullptr;   // kCradle only
  int pipes[2] = {-1, -1};  // read ends
  int pipe_count = 0;
};

// Starts commands one after another, from one thread.
class Starter {
 public:
  explicit Starter(Way way);
  ~Starter();
  Starter(const Starter &) = delete;
  Starter &operator=(const Starter &) = delete;

  Started start(const Command &command);

 private:
  Started spawn(const Command &command);
  Started launch(const Command &command);
  Started hand_over(const Command &command);

  Way way_;
  int null_ = -1;
  void *stack_ = nullptr;
};

// Waits for a command whose pipes are at their end. A command that failed is an error: its figure
// would measure something else.
void finish(const Started &started);

// Reads to the end with the given buffer, closes, and returns the number of bytes.
uint64_t read_to_end(int descriptor, char *buffer, size_t size);

// A buffer that begins on a page boundary; freed with the object.
class PageBuffer {
 public:
  explicit PageBuffer(size_t size);
  ~PageBuffer();
  PageBuffer(const PageBuffer &) = delete;
  PageBuffer &operator=(const PageBuffer &) = delete;

  char *data() const {
    return static_cast<char *>(data_);
  }
  size_t size() const {
    return size_;
  }

 private:
  void *data_;
  size_t size_;
};

constexpr size_t kReadSize = 64 * 1024;

uint64_t now_ns();

[[noreturn]] void fail(const char *what, int error);

}  // namespace bench

#endif  // FORKLINE_BENCH_START_H
