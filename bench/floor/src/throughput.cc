#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "measures.h"

namespace bench {

namespace {

struct Live {
  Started started;
  int open_pipes = 0;
};

// One thread that starts, reads and reaps.
class Loop {
 public:
  Loop(Way way, const std::vector<const Command *> &commands, uint32_t count)
      : starter_(way), commands_(commands), buffer_(kReadSize), live_(count) {
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0) fail("epoll_create1", errno);
  }
  ~Loop() {
    close(epoll_);
  }

  void run(uint32_t in_flight) {
    while (started_ < live_.size() && started_ < in_flight) start();
    epoll_event events[64];
    while (ended_ < live_.size()) {
      int ready = epoll_wait(epoll_, events, 64, -1);
      if (ready < 0 && errno != EINTR) fail("epoll_wait", errno);
      for (int index = 0; index < ready; index++) on_readable(events[index].data.u64);
    }
  }

 private:
  void start() {
    Live &live = live_[started_];
    live.started = starter_.start(*commands_[started_ % commands_.size()]);
    live.open_pipes = live.started.pipe_count;
    for (int pipe = 0; pipe < live.started.pipe_count; pipe++) {
      epoll_event event = {};
      event.events = EPOLLIN;
      event.data.u64 = static_cast<uint64_t>(started_) * 2 + static_cast<uint64_t>(pipe);
      if (epoll_ctl(epoll_, EPOLL_CTL_ADD, live.started.pipes[pipe], &event) != 0)
        fail("epoll_ctl", errno);
    }
    started_++;
  }

  void on_readable(uint64_t token) {
    Live &live = live_[token / 2];
    int pipe = live.started.pipes[token % 2];
    ssize_t count = read(pipe, buffer_.data(), buffer_.size());
    if (count > 0 || (count < 0 && errno == EINTR)) return;
    if (count < 0) fail("read", errno);
    // Removed from epoll before the close: a child that another thread is just starting may still
    // hold a copy, and close alone would leave the registration behind, to fire for the next
    // descriptor of this number.
    epoll_ctl(epoll_, EPOLL_CTL_DEL, pipe, nullptr);
    close(pipe);
    if (--live.open_pipes > 0) return;
    finish(live.started);
    ended_++;
    if (started_ < live_.size()) start();
  }

  Starter starter_;
  const std::vector<const Command *> &commands_;
  PageBuffer buffer_;
  std::vector<Live> live_;
  int epoll_ = -1;
  size_t started_ = 0;
  size_t ended_ = 0;
};

}  // namespace

double throughput(Way way, const std::vector<const Command *> &commands, uint32_t count,
                  uint32_t in_flight) {
  Loop loop(way, commands, count);
  uint64_t begin = now_ns();
  loop.run(in_flight);
  return static_cast<double>(now_ns() - begin);
}

}  // namespace bench
