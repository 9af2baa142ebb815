// Loaded before the C library by disk-faults.test.mjs: makes fdatasync and fsync fail or wait while the file named by
// REPRISE_DISK_FAULT says so. "fail": EIO; "stall": as slow as a disk that does not answer; anything else: as usual.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char fault(void) {
  const char *name = getenv("REPRISE_DISK_FAULT");
  if (name == NULL) return 0;
  const int file = open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char first = 0;
  if (read(file, &first, 1) != 1) first = 0;
  close(file);
  return first;
}

static int synced(long number, int file) {
  const struct timespec moment = {.tv_sec = 0, .tv_nsec = 2000000};
  while (fault() == 's') nanosleep(&moment, NULL);
  if (fault() == 'f') {
    errno = EIO;
    return -1;
  }
  return (int)syscall(number, file);
}

int fdatasync(int file) { return synced(SYS_fdatasync, file); }
int fsync(int file) { return synced(SYS_fsync, file); }
