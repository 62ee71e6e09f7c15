/* become-root SECONDS: set-uid, becomes root and sleeps: nobody else may signal it. */
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (setuid(0) != 0 || argc < 2) return 1;
  sleep((unsigned)atoi(argv[1]));
  return 0;
}
