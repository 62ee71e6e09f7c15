#include "relay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <deque>

#include "start.h"

namespace bench {

namespace {

constexpr size_t kMaxRequest = 64 * 1024;
constexpr size_t kMaxStrings = 512;
constexpr int kDescriptors = 2;

union Control {
  char bytes[CMSG_SPACE(sizeof(int) * kDescriptors)];
  cmsghdr aligned;
};

// Appends a string with its NUL; an empty one ends a list.
char *append(char *at, const char *string) {
  size_t size = strlen(string) + 1;
  memcpy(at, string, size);
  return at + size;
}

char *append_all(char *at, char *const *strings) {
  while (*strings != nullptr) at = append(at, *strings++);
  *at = '\0';
  return at + 1;
}

char *read_all(char *at, char **strings) {
  for (; *at != '\0'; at += strlen(at) + 1) *strings++ = at;
  *strings = nullptr;
  return at + 1;
}

// From here on only calls that are allowed between fork and exec of a process with threads.

bool receive(int socket, char *request, int descriptors[kDescriptors]) {
  Control control;
  iovec part = {request, kMaxRequest};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  ssize_t count;
  do count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (count < 0 && errno == EINTR);
  cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (count <= 0 || header == nullptr) return false;
  memcpy(descriptors, CMSG_DATA(header), sizeof(int) * kDescriptors);
  return true;
}

bool run(char *request, const int descriptors[kDescriptors], void *stack) {
  char *argv[kMaxStrings];
  char *envp[kMaxStrings];
  char *path = request;
  read_all(read_all(path + strlen(path) + 1, argv), envp);
  forkline_image image = {path, argv};
  forkline_request launch = {};
  launch.images = &image;
  launch.image_count = 1;
  launch.envp = envp;
  launch.stdio[0] = descriptors[0];
  launch.stdio[1] = descriptors[1];
  launch.stdio[2] = descriptors[1];
  launch.directory_fd = -1;
  launch.script = -1;
  launch.groups[0] = launch.groups[1] = -1;
  launch.outer_proc = -1;
  launch.reset = ~UINT64_C(0);
  launch.stack = stack;
  launch.stack_size = FORKLINE_STACK_SIZE;
  forkline_launched launched;
  int result = forkline_launch(&launch, &launched);
  for (int index = 0; index < kDescriptors; index++) close(descriptors[index]);
  if (result != 0) return false;
  siginfo_t info = {};
  while (waitid(P_ALL, 0, &info, WEXITED) != 0) {
    if (errno != EINTR) return false;
  }
  return info.si_code == CLD_EXITED && info.si_status == 0;
}

[[noreturn]] void serve(int socket, char *request, void *stack) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int descriptors[kDescriptors];
  // When the host closes its end, this process ends.
  while (receive(socket, request, descriptors)) {
    char answer = run(request, descriptors, stack) ? 1 : 0;
    if (send(socket, &answer, 1, MSG_NOSIGNAL) != 1) break;
  }
  _exit(0);
}

}  // namespace

Relay &Relay::idle() {
  static std::deque<Relay> all;
  for (Relay &each : all) {
    if (!each.busy_) return each;
  }
  all.push_back(Relay());
  return all.back();
}

Relay::Relay() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) fail("socketpair", errno);
  void *stack = mmap(nullptr, FORKLINE_STACK_SIZE + kMaxRequest, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) fail("mmap", errno);
  pid_t pid = fork();
  if (pid < 0) fail("fork", errno);
  if (pid == 0) {
    // Keeps its own end only: other relays' ends must close with the host.
    dup2(ends[1], 3);
    close_range(4, ~0U, 0);
    serve(3, static_cast<char *>(stack) + FORKLINE_STACK_SIZE, stack);
  }
  munmap(stack, FORKLINE_STACK_SIZE + kMaxRequest);
  close(ends[1]);
  socket_ = ends[0];
}

void Relay::start(const Command &command, int input, int output) {
  static char request[kMaxRequest];
  char *end =
      append_all(append_all(append(request, command.path()), command.argv()), command.envp());
  Control control = {};
  iovec part = {request, static_cast<size_t>(end - request)};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int) * kDescriptors);
  const int descriptors[kDescriptors] = {input, output};
  memcpy(CMSG_DATA(header), descriptors, sizeof descriptors);
  if (sendmsg(socket_, &message, MSG_NOSIGNAL) < 0) fail("sendmsg", errno);
  busy_ = true;
}

bool Relay::succeeded() {
  char answer = 0;
  ssize_t count;
  do count = recv(socket_, &answer, 1, 0);
  while (count < 0 && errno == EINTR);
  busy_ = false;
  return count == 1 && answer == 1;
}

}  // namespace bench
