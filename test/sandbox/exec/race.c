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

// Puts the bytes of the denied program into a file in memory by a mapping, which changes no time.
static void *overwrite(void *mapping) {
  static char bytes[1 << 22];
  for (unsigned turn = 0; !over; turn++) {
    int file = open(turn & 1 ? denied : harmless, O_RDONLY);
    long size = read(file, bytes, sizeof bytes);
    close(file);
    memcpy(mapping, bytes, (size_t)size);
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

static void attempt_in_memory(int file) {
  char *argv[] = {"program", shared + 4096, NULL}, *envp[] = {NULL};
  pid_t child = fork();
  if (child == 0) {
    syscall(SYS_execveat, file, "", argv, envp, AT_EMPTY_PATH);
    _exit(126);
  }
  waitpid(child, NULL, 0);
}

int main(int count, char **arguments) {
  if (count != 5) {
    const char *name = strrchr(arguments[0], '/');
    (void)name;
    char own[4096];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length < 0 ? 0 : length] = 0;
    int is_denied = strstr(own, "denied") != NULL || (count > 1 && strcmp(arguments[1], "denied") == 0);
    // In a file in memory only the bytes at the end tell.
    int self = open("/proc/self/exe", O_RDONLY);
    char last = 0;
    lseek(self, -1, SEEK_END);
    if (read(self, &last, 1) == 1 && last == 'D') is_denied = 1;
    int file = open(is_denied ? "ran" : "passed", O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (write(file, "x", 1) < 0) perror("write");
    return 0;
  }
  mode = arguments[1], harmless = arguments[3], denied = arguments[4];
  shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  strcpy(shared, harmless);
  strcpy(shared + 4096, "harmls");
  pthread_t thread;
  int file = -1;
  if (is("bytes")) {
    int source = open(harmless, O_RDONLY);
    off_t size = lseek(source, 0, SEEK_END);
    file = (int)syscall(SYS_memfd_create, "program", 0);
    if (ftruncate(file, size) != 0) perror("ftruncate");
    void *mapping = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    // Only a file that is not open for writing is executed.
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    int readable = open(path, O_RDONLY);
    close(file);
    file = readable;
    pthread_create(&thread, NULL, overwrite, mapping);
  } else {
    set(0);
    pthread_create(&thread, NULL, flip, NULL);
  }
  for (long rest = atol(arguments[2]); rest > 0; rest--) is("bytes") ? attempt_in_memory(file) : attempt();
  over = 1;
  pthread_join(thread, NULL);
  return 0;
}
