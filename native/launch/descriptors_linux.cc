// Linux: close_range where it exists, otherwise the descriptors that /proc lists, otherwise one
// by one.
//
// Called between clone and exec: only system calls, on memory of this code's own.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "descriptors.h"

namespace {

// An entry of a buffer that getdents64(2) has filled.
struct DirectoryEntry {
  uint64_t inode;
  int64_t next;
  unsigned short length;
  unsigned char type;
  char name[1];
};

// Closes the descriptors that /proc lists; returns false when it lists none. A position in that
// directory is a descriptor's number, so closing descriptors shifts no entry.
bool close_listed(int first) {
  int directory =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY));
  if (directory < 0) return false;
  alignas(DirectoryEntry) char buffer[2048];
  bool seen = false;
  for (long filled; (filled = syscall(SYS_getdents64, directory, buffer, sizeof buffer)) > 0;) {
    for (long at = 0; at < filled;) {
      const DirectoryEntry *entry = reinterpret_cast<const DirectoryEntry *>(buffer + at);
      at += entry->length;
      int number = 0;
      const char *digit = entry->name;
      while (*digit >= '0' && *digit <= '9') number = number * 10 + (*digit++ - '0');
      if (digit == entry->name) continue;  // . and ..
      seen = true;
      if (number >= first && number != directory) close(number);
    }
  }
  close(directory);
  return seen;
}

}  // namespace

bool forkline_close_from(int first) {
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return true;
  // Before Linux 5.9, or where a container's filter refuses what it does not know (EPERM).
  if (close_listed(first)) return true;
  // One by one, up to the highest number that the kernel assigns by default.
  const rlim_t kMost = 1 << 20;
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  const rlim_t end = std::min(limit.rlim_cur, kMost);
  for (rlim_t number = first; number < end; number++) close(static_cast<int>(number));
  return true;
}
