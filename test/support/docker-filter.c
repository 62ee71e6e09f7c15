// Starts a program under what Docker's default seccomp profile refuses to containers without
// CAP_SYS_ADMIN: docker-filter PROGRAM [ARGUMENT...]
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE(call, error)                              \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))

// CLONE_NEWCGROUP, -UTS, -IPC, -USER, -PID, -NET and -NS.
#define NAMESPACES 0x7E020000

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  struct sock_filter filter[] = {
      LOAD(nr),
      REFUSE(unshare, EPERM),
      REFUSE(setns, EPERM),
      REFUSE(mount, EPERM),
      REFUSE(umount2, EPERM),
      REFUSE(pivot_root, EPERM),
      REFUSE(keyctl, EPERM),
      REFUSE(add_key, EPERM),
      REFUSE(request_key, EPERM),
      REFUSE(bpf, EPERM),
      REFUSE(perf_event_open, EPERM),
      REFUSE(userfaultfd, EPERM),
      REFUSE(open_by_handle_at, EPERM),
      REFUSE(io_uring_setup, EPERM),
      REFUSE(open_tree, EPERM),
      REFUSE(move_mount, EPERM),
      REFUSE(fsopen, EPERM),
      REFUSE(fsmount, EPERM),
      REFUSE(mount_setattr, EPERM),
      REFUSE(clone3, ENOSYS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
      LOAD(args[0]),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("docker-filter");
    return 1;
  }
  execvp(argv[1], argv + 1);
  perror(argv[1]);
  return 127;
}
