// Tries to have a denied program executed, by changing what a call names while the call is decided on.
//
// race MODE COUNT HARMLESS DENIED: makes COUNT attempts. Whatever runs as `DENIED`, or with the argument `denied`,
// adds a byte to the file `ran`.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *shared;  // A path at 0, and an argument at 4096, which all processes see.
static const char *mode, *harmless, *denied;
static volatile int over;

static int is(const char *name) { return strcmp(mode, name) == 0; }

static void put_file(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
  if (file < 0) return;
  if (write(file, text, strlen(text)) < 0) perror("write");
  close(file);
}

static void set(int to_denied) {
  char text[4200];
  if (is("path")) {
    strcpy(shared, to_denied ? denied : harmless);
  } else if (is("argument")) {
    strcpy(shared + 4096, to_denied ? "denied" : "harmls");
  } else if (is("memory")) {
    // As the other two, from outside of the process's own threads.
    int file = open("/proc/self/mem", O_WRONLY);
    const char *path = to_denied ? denied : harmless;
    if (pwrite(file, path, strlen(path) + 1, (off_t)(unsigned long)shared) < 0) perror("pwrite");
    close(file);
  } else if (is("link")) {
    symlink(to_denied ? denied : harmless, "next");
    rename("next", "link");
  } else if (is("script")) {
    snprintf(text, sizeof text, "#!%s\n", to_denied ? denied : harmless);
    put_file("next", text);
    rename("next", "script");
  }
}

static void *flip(void *unused) {
  (void)unused;
  for (unsigned turn = 0; !over; turn++) {
    set(turn & 1);
    if (is("path") || is("argument"))
      for (volatile int pause = rand() % 4000; pause > 0; pause--) {
      }
  }
  return NULL;
}

static void attempt(void) {
  char *argv[] = {"program", shared + 4096, NULL}, *envp[] = {NULL};
  const char *path = is("link") ? "./link" : is("script") ? "./script" : shared;
  pid_t child = fork();
  if (child == 0) {
    execve(path, argv, envp);
    _exit(126);
  }
  waitpid(child, NULL, 0);
}

int main(int count, char **arguments) {
  if (count != 5) {
    char own[4096];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length < 0 ? 0 : length] = 0;
    int is_denied = strstr(own, "denied") || (count > 1 && !strcmp(arguments[1], "denied"));
    int file = open(is_denied ? "ran" : "passed", O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (write(file, "x", 1) < 0) perror("write");
    return 0;
  }
  mode = arguments[1], harmless = arguments[3], denied = arguments[4];
  shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  strcpy(shared, harmless);
  strcpy(shared + 4096, "harmls");
  pthread_t thread;
  set(0);
  pthread_create(&thread, NULL, flip, NULL);
  for (long rest = atol(arguments[2]); rest > 0; rest--) attempt();
  over = 1;
  pthread_join(thread, NULL);
  return 0;
}
