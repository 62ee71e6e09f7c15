"""Makes random calls that change attributes, lengths and what is open, below the working directory, and prints
their results.

Arguments: the number that decides on all of them, and how many there are.
"""

import ctypes
import errno
import fcntl
import os
import random
import socket
import stat
import sys

libc = ctypes.CDLL(None, use_errno=True)
NAMES = [b"file", b"closed", b"dir", b"dir/in", b"to-file", b"to-dir", b"to-nothing", b"to-itself", b"fifo",
         b"socket", b"read-only", b"linked", b"sticky/mine", b"file/", b"file/x", b"dir/", b"missing", b"", b".",
         b"x" * 300]
NUMBERS = [0, 0o400, 0o644, 0o755, 0o1777, 0o4755, 0o2755, 0o7777, 0o177777]
LENGTHS = [0, 1, 5000, -1, 1 << 20, 1 << 62]
ATTRIBUTES = [b"user.one", b"user.two", b"user.", b"trusted.x", b"security.capability", b"system.posix_acl_access",
              b"system.posix_acl_default", b"nothing", b"", b"user." + b"n" * 300]
OWNERS = [-1, 0, 65534, os.getuid(), os.getgid(), 12345]
MOMENTS = [(0, 0), (5, 999_999_999), (5, 1 << 30), (7, (1 << 30) - 1), (7, (1 << 30) - 2), (-1, 1), (1, -1)]
PATH, NOFOLLOW, EMPTY = os.O_PATH, 0x100, 0x1000


def prepare():
    os.umask(0o022)
    for name in ["dir", "sticky"]:
        os.mkdir(name)
    for name in ["file", "closed", "dir/in", "read-only", "sticky/mine"]:
        with open(name, "w") as file:
            file.write(name * 50)
    for name, target in {"to-file": "file", "to-dir": "dir", "to-nothing": "none", "to-itself": "to-itself"}.items():
        os.symlink(target, name)
    os.link("file", "linked")
    os.mkfifo("fifo")
    made = socket.socket(socket.AF_UNIX)
    made.bind("socket")
    made.close()
    os.chmod("closed", 0)
    os.chmod("read-only", 0o444)
    os.chmod("sticky", 0o1777)


class Calls:
    def __init__(self, seed):
        self.random = random.Random(seed)
        prepare()
        here = os.open(".", os.O_RDONLY)
        self.files = [os.open("file", os.O_RDONLY), os.open("file", os.O_RDWR), os.open("file", PATH),
                      os.open("to-file", PATH | os.O_NOFOLLOW), os.open("dir", os.O_RDONLY), os.open("fifo", PATH),
                      os.open("dir/in", os.O_WRONLY | os.O_APPEND), 77, -100]
        self.places = [-100, -100, here, os.open("dir", PATH), self.files[0], 77]

    def one(self, among):
        return self.random.choice(among)

    def where(self):
        return self.one(self.places), self.one(NAMES)

    def elsewhere(self):
        """Not here: the working directory stays such that it can be entered."""
        at, name = self.where()
        return at, b"dir" if name in (b"", b".") else name

    def flags(self, *known):
        return self.one([0, 0, *known, known[0] | known[-1], 0x8000])

    def fchmodat(self):
        (at, name), mode = self.elsewhere(), self.one(NUMBERS)
        return (at, name, mode), libc.syscall(268, at, name, mode)

    def fchmodat2(self):
        (at, name), mode, flags = self.elsewhere(), self.one(NUMBERS), self.flags(NOFOLLOW, EMPTY)
        return (at, name, mode, flags), libc.syscall(452, at, name, mode, flags)

    def fchmod(self):
        file, mode = self.one(self.files), self.one(NUMBERS)
        return (self.files.index(file), mode), libc.fchmod(file, mode)

    def fchownat(self):
        (at, name), flags, user, group = self.where(), self.flags(NOFOLLOW, EMPTY), self.one(OWNERS), self.one(OWNERS)
        return (at, name, user, group, flags), libc.fchownat(at, name, user, group, flags)

    def fchown(self):
        file, user, group = self.one(self.files), self.one(OWNERS), self.one(OWNERS)
        return (self.files.index(file), user, group), libc.fchown(file, user, group)

    def utimensat(self):
        (at, name), flags = self.where(), self.flags(NOFOLLOW, EMPTY)
        name = self.one([name] * 6 + [None])
        at = self.one(self.files) if name is None else at
        times = self.one([None, (self.one(MOMENTS), self.one(MOMENTS))])
        packed = times and (ctypes.c_long * 4)(*times[0], *times[1])
        # As the kernel has it: the library lets no path be none.
        return (name, times, flags), libc.syscall(280, at, name, packed, flags)

    def utimes(self):
        name, micro = self.one(NAMES), self.one([0, 999_999, 1_000_000, -1])
        packed = self.one([None, (ctypes.c_long * 4)(3, 4, 5, micro)])
        number = self.one([235, 261])
        arguments = (name, packed) if number == 235 else (-100, name, packed)
        return (number, name, micro), libc.syscall(number, *arguments)

    def truncate(self):
        name, length = self.one(NAMES), self.one(LENGTHS)
        if leads_to_proc(name):
            return (name,), 0
        return (name, length), libc.truncate(name, ctypes.c_long(length))

    def ftruncate(self):
        file, length = self.one(self.files), self.one(LENGTHS)
        return (self.files.index(file), length), libc.ftruncate(file, ctypes.c_long(length))

    def set_attribute(self):
        name, key, how = self.one(NAMES), self.one(ATTRIBUTES), self.one([0, 1, 2, 3, 4])
        size = self.one([0, 3, 3, 70_000])
        call = self.one([libc.setxattr, libc.lsetxattr])
        return (call.__name__, name, key, size, how), call(name, key, b"v" * size, size, how)

    def set_open_attribute(self):
        # For the number of the working directory kernels differ.
        file, key = self.one(self.files[:-1]), self.one(ATTRIBUTES)
        return (self.files.index(file), key), libc.fsetxattr(file, key, b"open", 4, 0)

    def remove_attribute(self):
        name, key = self.one(NAMES), self.one(ATTRIBUTES)
        call = self.one([libc.removexattr, libc.lremovexattr])
        return (call.__name__, name, key), call(name, key)

    def remove_open_attribute(self):
        file, key = self.one(self.files[:-1]), self.one(ATTRIBUTES)
        return (self.files.index(file), key), libc.fremovexattr(file, key)

    def open(self):
        at, name = self.where()
        # Whether a pipe has a reader is a matter of time, where another process opens it.
        name = b"file" if name == b"fifo" else name
        flags = self.one([os.O_RDONLY, os.O_WRONLY, os.O_RDWR, 3]) | os.O_NONBLOCK
        for flag in [os.O_TRUNC, os.O_APPEND, os.O_NOFOLLOW, os.O_DIRECTORY, os.O_TMPFILE, PATH, os.O_DIRECT]:
            flags |= self.one([0, 0, 0, 0, flag])
        return (at, name, oct(flags)), libc.openat(at, name, flags, self.one(NUMBERS))

    def reopen(self):
        file, flags = self.one(self.files[:5]), self.one([0, 1, 2]) | self.one([0, os.O_TRUNC, os.O_NOFOLLOW])
        path = b"%s/%d" % (self.one([b"/proc/self/fd", b"/dev/fd"]), file)
        return (self.files.index(file), oct(flags)), libc.open(path, flags | os.O_NONBLOCK, 0)

    def lock(self):
        file, how = self.one(self.files[:6]), self.one([1, 2, 8]) | 4
        return (self.files.index(file), how), libc.flock(file, how)

    def lease(self):
        file, how = self.one(self.files[:6]), self.one([fcntl.F_RDLCK, fcntl.F_UNLCK])
        return (self.files.index(file), how), libc.fcntl(file, fcntl.F_SETLEASE, how)

    def unreadable(self):
        call = self.one([libc.truncate, libc.chmod, libc.removexattr])
        return (call.__name__,), call(ctypes.c_void_p(8), 0)

    def next(self):
        others = ("one", "where", "elsewhere", "flags", "next")
        name = self.one([name for name in vars(Calls) if name[0] != "_" and name not in others])
        ctypes.set_errno(0)
        arguments, result = getattr(self, name)()
        told = errno.errorcode.get(ctypes.get_errno()) if result < 0 else "ok"
        if result > 0 and name in ("open", "reopen"):
            found = os.fstat(result)
            told = f"{found.st_mode:o} {libc.fcntl(result, 3):o}"
            os.close(result)
        return f"{name} {arguments} {told}"


def leads_to_proc(name):
    return name.startswith((b"/proc", b"/dev"))


def tree():
    for above, directories, files in sorted(os.walk(".")):
        for name in sorted(directories + files):
            path = os.path.join(above, name)
            try:
                found = os.lstat(path)
                keys = [key for key in os.listxattr(path, follow_symlinks=False) if key.startswith("user.")]
            except OSError as error:
                yield f"{path} {error.errno}"
                continue
            time = found.st_mtime_ns if found.st_mtime < 1e6 else "later"
            size = 0 if stat.S_ISDIR(found.st_mode) else found.st_size
            yield f"{path} {found.st_mode:o} {found.st_uid} {found.st_gid} {size} {time} {sorted(keys)}"


top = os.getcwd()
first, rounds, count = map(int, sys.argv[1:])
for seed in range(first, first + rounds):
    os.mkdir(f"play-{seed}")
    os.chdir(f"play-{seed}")
    calls = Calls(seed)
    for index in range(count):
        print(seed, index, calls.next())
    print("\n".join(tree()))
    for number in {*calls.files, *calls.places} - {77, -100}:
        os.close(number)
    os.chdir(top)
