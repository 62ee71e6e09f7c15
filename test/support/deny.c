/* deny ERRNO CALL ... -- PROGRAM [ARG ...]: runs a program under a filter that answers these system
   calls with this errno, as container runtimes do with calls that they don't know. `CALL=N`: only if its
   first argument is this number, as that of a descriptor. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
  const char *name;
  unsigned number;
} calls[] = {
    {"clone3", SYS_clone3},           {"close_range", SYS_close_range},
    {"openat2", SYS_openat2},         {"pidfd_open", SYS_pidfd_open},
    {"unshare", SYS_unshare},         {"pidfd_send_signal", SYS_pidfd_send_signal},
    {"memfd_create", SYS_memfd_create}, {"socketpair", SYS_socketpair},
    {"bind", SYS_bind},               {"waitid", SYS_waitid},
    {"wait4", SYS_wait4},             {"sendmsg", SYS_sendmsg},
    {"pidfd_getfd", SYS_pidfd_getfd}, {"faccessat2", SYS_faccessat2},
    {"open_tree", SYS_open_tree},     {"mount_setattr", SYS_mount_setattr},
    {"epoll_pwait2", SYS_epoll_pwait2}, {"prctl", SYS_prctl},
    {"landlock_create_ruleset", SYS_landlock_create_ruleset},
};

static const struct {
  const char *name;
  unsigned number;
} errors[] = {{"ENOSYS", ENOSYS}, {"ENOBUFS", ENOBUFS}, {"ENOMEM", ENOMEM},
              {"EOPNOTSUPP", EOPNOTSUPP}};

int main(int argc, char **argv) {
  struct sock_filter filter[64];
  unsigned length = 0;
  int at = 2;
  if (argc < 3) return 2;
  unsigned answer = SECCOMP_RET_ERRNO | EPERM;
  for (size_t error = 0; error < sizeof errors / sizeof *errors; error++) {
    if (strcmp(errors[error].name, argv[1]) == 0) answer = SECCOMP_RET_ERRNO | errors[error].number;
  }
  filter[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                  offsetof(struct seccomp_data, nr));
  for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
    size_t index = 0;
    char *argument = strchr(argv[at], '=');
    if (argument != NULL) *argument++ = 0;
    while (index < sizeof calls / sizeof *calls && strcmp(calls[index].name, argv[at]) != 0) index++;
    if (index == sizeof calls / sizeof *calls) {
      fprintf(stderr, "deny: unknown call %s\n", argv[at]);
      return 2;
    }
    filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                    calls[index].number, 0, argument ? 4 : 1);
    if (argument != NULL) {
      const struct sock_filter only[] = {
          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(argument), 1, 0),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      };
      memcpy(filter + length, only, sizeof only);
      length += 3;
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
  }
  filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {(unsigned short)length, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) {
    perror("deny");
    return 2;
  }
  execvp(argv[at + 1], argv + at + 1);
  perror(argv[at + 1]);
  return 2;
}
