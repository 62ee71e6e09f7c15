// A client of a server on loopback: sends a request at a fixed interval over a few connections,
// however long the answers take. When its standard input reaches EOF it prints how late each
// answer was by that schedule, as a JSON list of milliseconds. Has real-time priority where that
// is allowed, since it must not wait for a processor itself.
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <deque>
#include <vector>

namespace {

constexpr int kConnections = 8;
constexpr char kRequest[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
constexpr char kEnd[] = "\r\n\r\nok";

[[noreturn]] void fail(const char *what) {
  perror(what);
  exit(1);
}

double now_ms() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

struct Connection {
  uint16_t port = 0;
  int socket = -1;
  bool busy = false;
  double due = 0;
  std::vector<char> answer;

  void open() {
    socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0)
      fail("connect");
  }

  void send(double when) {
    busy = true;
    due = when;
    request();
  }

  void request() {
    answer.clear();
    if (write(socket, kRequest, sizeof kRequest - 1) < 0) fail("write");
  }

  // Reads from the socket. Returns whether the answer is complete.
  bool read_some() {
    char buffer[4096];
    ssize_t count = read(socket, buffer, sizeof buffer);
    // A server closes connections that were idle for long.
    if (count <= 0) return again();
    answer.insert(answer.end(), buffer, buffer + count);
    size_t size = sizeof kEnd - 1;
    return answer.size() >= size && memcmp(answer.data() + answer.size() - size, kEnd, size) == 0;
  }

  bool again() {
    close(socket);
    open();
    if (busy) request();
    return false;
  }
};

class Client {
 public:
  Client(uint16_t port, double every_ms) : every_(every_ms) {
    for (Connection &each : connections_) {
      each.port = port;
      each.open();
    }
    timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    long ns = static_cast<long>(every_ms * 1e6);
    itimerspec times = {{ns / 1000000000, ns % 1000000000}, {ns / 1000000000, ns % 1000000000}};
    start_ = now_ms();
    if (timerfd_settime(timer_, 0, &times, nullptr) != 0) fail("timerfd_settime");
  }

  void run() {
    pollfd polled[kConnections + 2];
    polled[kConnections] = {timer_, POLLIN, 0};
    polled[kConnections + 1] = {STDIN_FILENO, POLLIN, 0};
    for (;;) {
      for (int index = 0; index < kConnections; index++)
        polled[index] = {connections_[index].socket, POLLIN, 0};
      if (poll(polled, kConnections + 2, -1) < 0 && errno != EINTR) fail("poll");
      for (int index = 0; index < kConnections; index++) {
        if (polled[index].revents != 0) answered(connections_[index]);
      }
      if (polled[kConnections].revents != 0) ticked();
      if (polled[kConnections + 1].revents != 0) return;
    }
  }

  void print() const {
    putchar('[');
    for (size_t index = 0; index < late_.size(); index++)
      printf(index == 0 ? "%.3f" : ",%.3f", late_[index]);
    puts("]");
  }

 private:
  void ticked() {
    uint64_t ticks = 0;
    if (read(timer_, &ticks, sizeof ticks) != sizeof ticks) return;
    for (; ticks > 0; ticks--) waiting_.push_back(start_ + every_ * static_cast<double>(++calls_));
    send_waiting();
  }

  void answered(Connection &connection) {
    if (!connection.read_some()) return;
    late_.push_back(now_ms() - connection.due);
    connection.busy = false;
    send_waiting();
  }

  // Sends waiting requests. A request that found no free connection is late from its due time on.
  void send_waiting() {
    for (Connection &each : connections_) {
      if (waiting_.empty()) return;
      if (each.busy) continue;
      each.send(waiting_.front());
      waiting_.pop_front();
    }
  }

  Connection connections_[kConnections];
  std::deque<double> waiting_;
  std::vector<double> late_;
  double every_;
  double start_ = 0;
  int timer_ = -1;
  uint64_t calls_ = 0;
};

}  // namespace

int main(int count, char **words) {
  if (count != 3) {
    fputs("usage: client PORT EVERY_MS\n", stderr);
    return 2;
  }
  sched_param priority = {};
  priority.sched_priority = 1;
  sched_setscheduler(0, SCHED_FIFO, &priority);  // stays ordinary where not allowed
  Client client(static_cast<uint16_t>(atoi(words[1])), atof(words[2]));
  client.run();
  client.print();
  return 0;
}
