// Has threads execute a program.
//
// threads PROGRAM COUNT AT_ONCE THREADS [leader]: COUNT processes, of which so many are at work at
// once. In each so many threads, and with `leader` the first one as well, execute the program.
// Prints how many ended with another status than 0.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char *program;

static void *execute(void *unused) {
  char *argv[] = {"program", NULL};
  execv(program, argv);
  return unused;
}

static void begin(int threads, int leads) {
  if (fork() != 0) return;
  while (threads-- > 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, execute, NULL);
  }
  if (leads) execute(NULL);
  for (;;) pause();
}

int main(int count, char **arguments) {
  if (count < 5) return 2;
  program = arguments[1];
  int rest = atoi(arguments[2]), most = atoi(arguments[3]), running = 0, bad = 0, status;
  while (rest > 0 || running > 0) {
    for (; rest > 0 && running < most; rest--, running++) begin(atoi(arguments[4]), count > 5);
    if (wait(&status) > 0) {
      running--;
      bad += status != 0;
    }
  }
  printf("%d\n", bad);
  return 0;
}
