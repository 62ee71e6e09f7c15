"""Makes random calls that make names, below the working directory, and prints their results.

Arguments: the number that decides on all of them, and how many there are.
"""

import ctypes
import errno
import os
import random
import shutil
import socket
import stat
import sys

libc = ctypes.CDLL(None, use_errno=True)
HERE = os.getcwd()
AT_FDCWD = -100
AT_EMPTY_PATH = 0x1000
AT_SYMLINK_FOLLOW = 0x400
TMPFILE = os.O_TMPFILE
KINDS = [0, stat.S_IFREG, stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFCHR, stat.S_IFDIR, 0o170000]
NAMES = ["file", "closed", "dir", "to-file", "to-dir", "to-nothing", "to-itself", "to-root", "fifo",
         "socket", "hidden", "acl", "sticky", "new1", "new2", "new3", ".", "..", "dir/sub", "dir/in",
         "to-dir/in", "to-dir/new", "acl/new", "sticky/new", "sticky/link", "file/new", "new1/new",
         "hidden/new", "x" * 256, ""]
MODES = [0, 0o600, 0o644, 0o666, 0o777, 0o1777, 0o4755, 0o2775, 0o7777, 0o177777]
FLAGS = [os.O_EXCL, os.O_TRUNC, os.O_APPEND, os.O_NOFOLLOW, os.O_DIRECTORY, os.O_NONBLOCK, os.O_SYNC,
         os.O_CLOEXEC, os.O_PATH, TMPFILE, os.O_NOATIME, os.O_DIRECT, os.O_NOCTTY, 0x40000000]


def prepare():
    """Makes what the calls meet."""
    os.umask(0o022)
    for name in ["dir", "dir/sub", "hidden", "acl", "sticky", "gone"]:
        os.mkdir(name)
    for name in ["file", "closed", "dir/in"]:
        with open(name, "w") as file:
            file.write(name)
    links = {"to-file": "file", "to-dir": "dir/", "to-nothing": "dir/made", "to-itself": "to-itself",
             "to-root": HERE + "/dir/absolute", "sticky/link": "../file"}
    for name, target in links.items():
        os.symlink(target, name)
    os.mkfifo("fifo")
    made = socket.socket(socket.AF_UNIX)
    # By a short path, which sockets need.
    made.bind("socket")
    made.close()
    entries = b"".join(int.to_bytes(part, size, "little") for tag, rights in [(1, 7), (4, 7), (32, 5)]
                       for part, size in [(tag, 2), (rights, 2), (0xFFFFFFFF, 4)])
    try:
        os.setxattr("acl", "system.posix_acl_default", b"\2\0\0\0" + entries)
    except OSError:
        pass
    os.chmod("closed", 0)
    os.chmod("hidden", 0o600)
    os.chmod("sticky", 0o1777)
    path = os.O_PATH | os.O_DIRECTORY
    directories = [AT_FDCWD] * 4 + [os.open("dir", os.O_RDONLY), os.open("dir", path), os.open("gone", path),
                                    os.open("file", os.O_RDONLY), os.open("to-nothing", os.O_PATH | os.O_NOFOLLOW),
                                    77, -5]
    os.rmdir("gone")
    return directories


class Calls:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.directories = prepare()

    def path(self):
        pick = self.random
        path = pick.choice(NAMES) + pick.choice(["", "", "", "", "/", "//", "/."])
        if pick.random() < 0.15:
            path = HERE + "/" + path
        if pick.random() < 0.02:
            path = pick.choice(["/", "//", HERE, "/missing/new", "/dev/new", "/etc/new"])
        return pick.choice(self.directories), path

    def open(self):
        at, path = self.path()
        if self.random.random() < 0.02:
            path = self.random.choice(["./" * 2047 + "n", "./" * 2048 + "n"])
        flags = self.random.choice([0, 1, 2, 2, 3]) | self.random.choice([os.O_CREAT] * 4 + [0])
        for _ in range(self.random.choice([0, 0, 1, 1, 2, 3])):
            flags |= self.random.choice(FLAGS)
        mode = self.random.choice(MODES)
        # Nobody opens the other end.
        if leads_to_pipe(at, path):
            flags |= os.O_NONBLOCK
        return (at, path, oct(flags), oct(mode)), libc.openat(at, path.encode(), flags, mode)

    def mkdir(self):
        (at, path), mode = self.path(), self.random.choice(MODES)
        return (at, path, oct(mode)), libc.mkdirat(at, path.encode(), mode)

    def mknod(self):
        (at, path), mode = self.path(), self.random.choice(MODES) & 0o7777 | self.random.choice(KINDS)
        device = self.random.choice([0, 0x103, 0x12345678])
        return (at, path, oct(mode), device), libc.mknodat(at, path.encode(), mode, ctypes.c_ulong(device))

    def rename(self):
        (old, source), (new, target) = self.path(), self.path()
        flags = self.random.choice([0, 0, 0, 1, 2, 3, 4, 8])
        result = libc.renameat2(old, source.encode(), new, target.encode(), flags)
        return (old, source, new, target, flags), result

    def link(self):
        (old, source), (new, target) = self.path(), self.path()
        flags = self.random.choice([0, 0, AT_SYMLINK_FOLLOW, AT_EMPTY_PATH, 0x100])
        result = libc.linkat(old, source.encode(), new, target.encode(), flags)
        return (old, source, new, target, flags), result

    def symlink(self):
        target = self.random.choice(["file", "dir", "/", "", "y" * 4095, "y" * 4096])
        at, path = self.path()
        return (target, at, path), libc.symlinkat(target.encode(), at, path.encode())

    def unlink(self):
        (at, path), flags = self.path(), self.random.choice([0, 0, 0x200])
        return (at, path, flags), libc.unlinkat(at, path.encode(), flags)

    def descriptor(self):
        """Gives a file without a name one, and opens what is open once more."""
        with open("../../spare") as file:
            number = file.fileno()
            place = self.random.choice(["/proc/self/fd", "/dev/fd", "/proc/thread-self/fd"])
            path = f"{place}/{self.random.choice([number, number, 78])}".encode()
            at, name = self.path()
            if self.random.random() < 0.5:
                result = libc.linkat(AT_FDCWD, path, at, name.encode(), AT_SYMLINK_FOLLOW)
                return (place, at, name), result
            flags = os.O_CREAT | self.random.choice([0, 1, 2, os.O_EXCL, os.O_NOFOLLOW])
            return (place, oct(flags)), libc.openat(AT_FDCWD, path, flags, 0o600)

    def unreadable(self):
        return (), libc.mkdirat(AT_FDCWD, ctypes.c_void_p(8), 0)

    def next(self):
        os.umask(self.random.choice([0, 0o022, 0o027, 0o077, 0o777]))
        names = ["open"] * 12 + ["mkdir", "mknod", "rename", "link", "symlink", "unlink"] * 2
        name = self.random.choice(names + ["descriptor", "unreadable"])
        ctypes.set_errno(0)
        arguments, result = getattr(self, name)()
        code = ctypes.get_errno()
        told = errno.errorcode.get(code, code) if result < 0 else "ok"
        if result > 0:
            told = described(result)
            os.close(result)
        shown = [word if not isinstance(word, str) else word.replace(HERE, "HERE")[:40] for word in arguments]
        return f"{name} {shown} {told}"


def described(number):
    found = os.fstat(number)
    flags = libc.fcntl(number, 3)
    is_closed = libc.fcntl(number, 1)
    return f"mode {found.st_mode:o} links {found.st_nlink} size {size_of(found)} flags {flags:o} {is_closed}"


def size_of(found):
    return 0 if stat.S_ISDIR(found.st_mode) else found.st_size


def leads_to_pipe(at, path):
    try:
        return stat.S_ISFIFO(os.stat(path, dir_fd=None if at == AT_FDCWD else at).st_mode)
    except OSError:
        return False


def tree():
    for above, directories, files in sorted(os.walk(".")):
        for name in sorted(directories + files):
            path = os.path.join(above, name)
            found = os.lstat(path)
            target = os.readlink(path)[:40] if stat.S_ISLNK(found.st_mode) else ""
            yield f"{path} {found.st_mode:o} {found.st_nlink} {size_of(found)} {target}".replace(HERE, "HERE")


with open("spare", "w") as spare:
    spare.write("spare")
first, rounds, count = map(int, sys.argv[1:])
for seed in range(first, first + rounds):
    shutil.rmtree("play", ignore_errors=True)
    # Links that are moved lead to the directory above.
    os.makedirs("play/here")
    os.chdir("play/here")
    HERE = os.getcwd()
    calls = Calls(seed)
    for index in range(count):
        print(seed, index, calls.next())
    os.umask(0o022)
    print("\n".join(tree()))
    for number in {number for number in calls.directories if 0 <= number != 77}:
        os.close(number)
    os.chdir("../..")
    os.system("chmod -R u+rwX play; rm -rf play")
