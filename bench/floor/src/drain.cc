#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "measures.h"

namespace bench {

namespace {

void write_all(int file, const char *data, size_t size) {
  while (size > 0) {
    ssize_t count = write(file, data, size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("write", errno);
    data += count;
    size -= static_cast<size_t>(count);
  }
}

uint64_t copy_to_end(int pipe, int file, const PageBuffer &buffer) {
  uint64_t total = 0;
  for (;;) {
    ssize_t count = read(pipe, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("read", errno);
    if (count == 0) break;
    write_all(file, buffer.data(), static_cast<size_t>(count));
    total += static_cast<uint64_t>(count);
  }
  close(pipe);
  return total;
}

}  // namespace

Drained drain(Way way, const Command &command, const char *path) {
  Starter starter(way);
  PageBuffer buffer(kReadSize);
  Drained drained;
  uint64_t begin = now_ns();
  int file = -1;
  if (path != nullptr) {
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) fail(path, errno);
  }
  Started started = starter.start(command);
  // Reads standard output to its end, then standard error, which is expected to be nearly empty.
  for (int pipe = 0; pipe < started.pipe_count; pipe++) {
    drained.bytes += file < 0 ? read_to_end(started.pipes[pipe], buffer.data(), buffer.size())
                              : copy_to_end(started.pipes[pipe], file, buffer);
  }
  if (file >= 0) close(file);
  finish(started);
  drained.ns = static_cast<double>(now_ns() - begin);
  return drained;
}

}  // namespace bench
