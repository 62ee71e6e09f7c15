/* A library that has the thread that loads it give something up, for which Node has no function.
   What: -DGIVE_UP=NAME, one of the functions below. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NET_BIND_SERVICE = 10 };

__attribute__((unused)) static int bounding(void) {
  return prctl(PR_CAPBSET_DROP, NET_BIND_SERVICE, 0, 0, 0);
}
__attribute__((unused)) static int ambient(void) {
  return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}
__attribute__((unused)) static int no_new_privileges(void) {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* mkdir is denied from now on. */
__attribute__((unused)) static int filter(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdir, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  return no_new_privileges() || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* No directory can be made from now on. */
__attribute__((unused)) static int landlock(void) {
  struct landlock_ruleset_attr attributes = {.handled_access_fs = LANDLOCK_ACCESS_FS_MAKE_DIR};
  int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
  if (rules < 0) return -1;
  int failed = no_new_privileges() || syscall(SYS_landlock_restrict_self, rules, 0) != 0;
  return close(rules) || failed;
}

__attribute__((unused)) static int mounts(void) {
  return unshare(CLONE_NEWNS);
}
__attribute__((unused)) static int network(void) {
  return unshare(CLONE_NEWNET);
}
__attribute__((unused)) static int host_name(void) {
  return unshare(CLONE_NEWUTS) || sethostname("given-up", 8);
}
__attribute__((unused)) static int root(void) {
  return chroot(getenv("GIVE_UP_TO"));
}

__attribute__((unused)) static int limits(void) {
  struct rlimit limit = {77, 77};
  return setrlimit(RLIMIT_NOFILE, &limit);
}
__attribute__((unused)) static int processors(void) {
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  return sched_setaffinity(0, sizeof first, &first);
}
__attribute__((unused)) static int policy(void) {
  struct sched_param none = {0};
  return sched_setscheduler(0, SCHED_BATCH, &none);
}
/* The idle class. */
__attribute__((unused)) static int disk(void) {
  return (int)syscall(SYS_ioprio_set, 1, 0, 3 << 13);
}
__attribute__((unused)) static int layout(void) {
  return personality(ADDR_NO_RANDOMIZE) < 0;
}
/* A session's keyring of its own. */
__attribute__((unused)) static int keyring(void) {
  return syscall(SYS_keyctl, 1, 0) < 0;
}

/* Moves the process to the cgroup at a path. */
__attribute__((unused)) static int cgroup(void) {
  FILE *file = fopen(getenv("GIVE_UP_TO"), "w");
  return file == NULL || fputs("0", file) < 0 || fclose(file) != 0;
}

/* This thread alone: libc's function would change all. */
__attribute__((unused)) static int user_of_thread(void) {
  return (int)syscall(SYS_setresuid, 65534, 65534, 65534);
}

__attribute__((constructor)) static void give_up(void) {
  if (GIVE_UP() == 0) return;
  perror("give-up");
  _exit(3);
}
