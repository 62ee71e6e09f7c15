"""Makes random trees of files, and tells all of a tree that a revert has to bring back.

Reads a request per line, as JSON, and answers with a line. Names are told as Latin-1, since they may be any bytes.
"""

import base64
import errno
import hashlib
import json
import os
import random
import shutil
import stat
import sys

NAMES = [b"a", b"b", b"c", b"file.txt", b"with blank", b"new\nline", b"\xff\xfe", b"-dash", b"\xc3\xbc",
         b"*", b".hidden", b"x" * 180, b"'", b"$(x)"]
MODES = [0o644, 0o644, 0o600, 0o755, 0o444, 0o000, 0o666]
DIRECTORY_MODES = [0o755, 0o755, 0o755, 0o700, 0o500, 0o1777, 0o2775]


def text(name):
    return name.decode("latin-1")


class Maker:
    def __init__(self, root, seed, user):
        self.random, self.root, self.user = random.Random(seed), root, user
        self.made, self.modes = [], []

    def free(self, directory):
        name = self.random.choice(NAMES)
        path = os.path.join(directory, name)
        return None if os.path.lexists(path) else path

    def content(self):
        size = self.random.choice([0, 1, 40, 400, 5000, 70000])
        return self.random.randbytes(size // 2) + b"line a\nline b\n" * (size // 28)

    def file(self, path):
        kind = self.random.randrange(8)
        with open(path, "wb") as file:
            if kind == 0:
                file.truncate(self.random.choice([4096, 1 << 20, 3 << 20]))
                file.seek(self.random.choice([0, 8192, 500000]))
                file.write(b"island" * 100)
            elif kind == 1:
                file.write(b"full " * 60000)
            else:
                file.write(self.content())
        if self.random.randrange(4) == 0:
            os.setxattr(path, "user.note", self.random.randbytes(self.random.choice([0, 5, 900])))
        self.modes.append((path, self.random.choice(MODES)))

    def one(self, directory, depth):
        path = self.free(directory)
        if path is None:
            return
        kind = self.random.randrange(12)
        files = [it for it in self.made if os.path.isfile(it) and not os.path.islink(it)]
        if kind < 3 and depth < 5:
            os.mkdir(path)
            self.fill(path, depth + 1)
            self.modes.append((path, self.random.choice(DIRECTORY_MODES)))
        elif kind == 3:
            target = self.random.choice([b"a", b"../b", b"nowhere", b".", b"/etc/hostname", b"\xff"])
            os.symlink(target, path)
        elif kind == 4 and files:
            os.link(self.random.choice(files), path)
        elif kind == 5:
            os.mkfifo(path, 0o640)
        else:
            self.file(path)
        self.made.append(path)

    def fill(self, directory, depth):
        for _ in range(self.random.randrange(3, 9)):
            self.one(directory, depth)

    def make(self):
        os.makedirs(self.root)
        self.fill(self.root, 0)
        if self.user is not None:
            os.chown(self.root, self.user, self.user)
        for path in self.made:
            if self.user is not None:
                os.chown(path, self.user, self.user, follow_symlinks=False)
            when = self.random.randrange(10 ** 18, 17 * 10 ** 17)
            os.utime(path, ns=(when, when), follow_symlinks=False)
        for path, mode in reversed(self.modes):
            os.chmod(path, mode)


class Opened:
    """Lets the owner of files see what their modes forbid, until it is closed."""

    def __init__(self):
        self.modes = []

    def open(self, path, mode, more):
        if os.geteuid() != 0 and mode & more != more:
            self.modes.append((path, mode))
            os.chmod(path, mode | more)

    def close(self):
        while self.modes:
            os.chmod(*self.modes.pop())


def attributes(path):
    found = {}
    for name in sorted(os.listxattr(path, follow_symlinks=False)):
        value = os.getxattr(path, name, follow_symlinks=False)
        found[name] = base64.b64encode(value).decode()
    return found


def entry(path, status, groups, relative, opened):
    kind = stat.S_IFMT(status.st_mode)
    told = {"kind": oct(kind), "mode": oct(stat.S_IMODE(status.st_mode)),
            "owner": f"{status.st_uid}:{status.st_gid}"}
    if kind in (stat.S_IFDIR, stat.S_IFREG):
        opened.open(path, stat.S_IMODE(status.st_mode), 0o400)
    told["attributes"] = attributes(path)
    if kind == stat.S_IFDIR:
        return told
    first = groups.setdefault((status.st_dev, status.st_ino), relative)
    told |= {"first": first, "links": status.st_nlink}
    # What passes through a FIFO sets its time.
    if kind != stat.S_IFIFO:
        told["time"] = status.st_mtime_ns
    if kind == stat.S_IFLNK:
        told["target"] = text(os.readlink(path))
    elif kind == stat.S_IFREG:
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha1").hexdigest()
        told |= {"size": status.st_size, "digest": digest, "blocks": status.st_blocks}
    return told


def look(root):
    opened = Opened()
    try:
        return entries(root, opened)
    finally:
        opened.close()


def drop(root):
    # Nothing is closed again of what is removed.
    entries(root, Opened())
    shutil.rmtree(root)


def entries(root, opened):
    # All modes are read before one is changed: a file may have several names.
    statuses, waiting = [], [root]
    while waiting:
        path = waiting.pop()
        status = status_of(path)
        statuses.append((path, status))
        if status is not None and stat.S_ISDIR(status.st_mode):
            opened.open(path, stat.S_IMODE(status.st_mode), 0o700)
            waiting += sorted((os.path.join(path, name) for name in os.listdir(path)), reverse=True)
    found, groups = {}, {}
    for path, status in statuses:
        relative = text(os.path.relpath(path, root))
        deep = {"kind": "too deep"}
        found[relative] = entry(path, status, groups, relative, opened) if status else deep
    return found


def status_of(path):
    try:
        return os.lstat(path)
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        return None


def answer(request):
    if "make" in request:
        Maker(os.fsencode(request["make"]), request["seed"], request.get("user")).make()
        return {}
    if "drop" in request:
        drop(os.fsencode(request["drop"]))
        return {}
    return look(os.fsencode(request["look"]))


for line in sys.stdin:
    try:
        print(json.dumps({"answer": answer(json.loads(line))}), flush=True)
    except OSError as error:
        print(json.dumps({"error": str(error)}), flush=True)
