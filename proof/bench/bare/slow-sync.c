/* A disk that takes longer to make things safe: put before the C library with LD_PRELOAD, every sync of a process waits first. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void wait_first(void) {
  const char *ms = getenv("SLOW_SYNC_MS");
  if (ms) usleep(1000 * atoi(ms));
}

int fsync(int fd) {
  int (*sync)(int) = dlsym(RTLD_NEXT, "fsync");
  wait_first();
  return sync(fd);
}

int fdatasync(int fd) {
  int (*sync)(int) = dlsym(RTLD_NEXT, "fdatasync");
  wait_first();
  return sync(fd);
}
