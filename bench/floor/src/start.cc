#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <stdexcept>
#include <system_error>
#include <utility>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

namespace bench {

namespace {

std::vector<char *> pointers(std::vector<std::string> &strings) {
  std::vector<char *> result;
  result.reserve(strings.size() + 1);
  for (std::string &string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

// Close-on-exec from the start: the bench is one process with other threads in it.
void open_pipe(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe2", errno);
}

}  // namespace

Command::Command(std::string path, std::vector<std::string> arguments,
                 std::vector<std::string> variables)
    : path_(std::move(path)),
      arguments_(std::move(arguments)),
      variables_(std::move(variables)),
      argv_(pointers(arguments_)),
      envp_(pointers(variables_)) {
}

Starter::Starter(Way way) : way_(way) {
  null_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null_ < 0) fail("/dev/null", errno);
  if (way_ != Way::kLaunch) return;
  stack_ = mmap(nullptr, FORKLINE_STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
  if (stack_ == MAP_FAILED) fail("mmap", errno);
}

Starter::~Starter() {
  close(null_);
  if (stack_ != nullptr) munmap(stack_, FORKLINE_STACK_SIZE);
}

Started Starter::start(const Command &command) {
  switch (way_) {
    case Way::kSpawn:
      return spawn(command);
    case Way::kLaunch:
      return launch(command);
    case Way::kCradle:
      return hand_over(command);
  }
  fail("way", EINVAL);
}

Started Starter::spawn(const Command &command) {
  int out[2];
  int err[2];
  open_pipe(out);
  open_pipe(err);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, null_, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  Started started;
  int error =
      posix_spawn(&started.pid, command.path(), &actions, nullptr, command.argv(), command.envp());
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  close(err[1]);
  if (error != 0) fail("posix_spawn", error);
  started.pipes[0] = out[0];
  started.pipes[1] = err[0];
  started.pipe_count = 2;
  return started;
}

Started Starter::launch(const Command &command) {
  int merged[2];
  open_pipe(merged);
  forkline_image image = {command.path(), command.argv()};
  forkline_request request = {};
  request.images = &image;
  request.image_count = 1;
  request.envp = command.envp();
  request.stdio[0] = null_;
  request.stdio[1] = merged[1];
  request.stdio[2] = merged[1];
  request.directory_fd = -1;
  request.script = -1;
  request.groups[0] = request.groups[1] = -1;
  request.outer_proc = -1;
  request.want_pidfd = 1;
  request.reset = ~UINT64_C(0);
  request.stack = stack_;
  request.stack_size = FORKLINE_STACK_SIZE;
  forkline_launched launched;
  int result = forkline_launch(&request, &launched);
  close(merged[1]);
  if (result != 0) fail("forkline_launch", launched.error);
  Started started;
  started.pid = launched.pid;
  started.pidfd = launched.pidfd;
  started.pipes[0] = merged[0];
  started.pipe_count = 1;
  return started;
}

Started Starter::hand_over(const Command &command) {
  int merged[2];
  open_pipe(merged);
  Started started;
  started.relay = &Relay::idle();
  started.relay->start(command, null_, merged[1]);
  close(merged[1]);
  started.pipes[0] = merged[0];
  started.pipe_count = 1;
  return started;
}

void finish(const Started &started) {
  bool succeeded = false;
  if (started.relay != nullptr) {
    succeeded = started.relay->succeeded();
  } else if (started.pidfd < 0) {
    int status = 0;
    while (waitpid(started.pid, &status, 0) < 0) {
      if (errno != EINTR) fail("waitpid", errno);
    }
    succeeded = status == 0;
  } else {
    siginfo_t info = {};
    while (waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(started.pidfd), &info,
                  WEXITED) != 0) {
      if (errno != EINTR) fail("waitid", errno);
    }
    close(started.pidfd);
    succeeded = info.si_code == CLD_EXITED && info.si_status == 0;
  }
  if (!succeeded) throw std::runtime_error("the command failed, so there is nothing to compare");
}

uint64_t read_to_end(int descriptor, char *buffer, size_t size) {
  uint64_t total = 0;
  for (;;) {
    ssize_t count = read(descriptor, buffer, size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("read", errno);
    if (count == 0) break;
    total += static_cast<uint64_t>(count);
  }
  close(descriptor);
  return total;
}

PageBuffer::PageBuffer(size_t size) : size_(size) {
  data_ = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
               -1, 0);
  if (data_ == MAP_FAILED) fail("mmap", errno);
}

PageBuffer::~PageBuffer() {
  munmap(data_, size_);
}

uint64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

void fail(const char *what, int error) {
  throw std::system_error(error, std::generic_category(), what);
}

}  // namespace bench
