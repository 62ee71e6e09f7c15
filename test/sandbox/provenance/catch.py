"""Tries to get hold of a setting at the moment at which it gets or loses its name: `catch.py WAY NAME`."""

import os
import signal
import subprocess
import sys
import time

WAY, NAME = sys.argv[1:]
ABOVE = os.path.dirname(NAME)
SECONDS, MOST = 1, 100


def mount_of(file):
    with open(f"/proc/self/fdinfo/{file}") as lines:
        return next(line for line in lines if line.startswith("mnt_id"))


def put(branch):
    with open("new", "wb") as file:
        file.write(CONTENTS[branch])
    os.rename("new", NAME)


def replace():
    put("main")
    put("release")


def remake():
    put("main")
    os.unlink(NAME)


def remake_directory():
    for step in (lambda: os.unlink(NAME), lambda: os.rmdir(ABOVE), lambda: os.mkdir(ABOVE), lambda: put("main")):
        attempt(step)


def attempt(act, *arguments, **options):
    try:
        return act(*arguments, **options)
    except OSError:
        return None


def beside(change):
    """Has another process make the change again and again."""
    pid = os.fork()
    if pid:
        return pid
    while True:
        attempt(change)


def catch(path):
    """Opens what can't be seen through a mount of its own."""
    workspace = mount_of(os.open(".", os.O_PATH))
    until, caught = time.time() + SECONDS, []
    while time.time() < until and len(caught) < MOST:
        file = attempt(os.open, path, os.O_PATH | os.O_NOFOLLOW)
        if file is not None:
            caught.append(file) if mount_of(file) == workspace else os.close(file)
    return caught


def write(path, **options):
    file = attempt(os.open, path, os.O_WRONLY | os.O_NONBLOCK, **options)
    return file is not None and os.write(file, b"evil\n") > 0


CONTENTS = {branch: subprocess.check_output(["git", "show", f"{branch}:{NAME}"]) for branch in ("main", "release")}
pid = beside({"replace": replace, "remake": remake, "directory": remake_directory, "open": replace}[WAY])
if WAY == "open":
    until, held = time.time() + SECONDS, 0
    while time.time() < until:
        file = attempt(os.open, NAME, os.O_WRONLY | os.O_NONBLOCK)
        if file is not None:
            held += 1
            os.close(file)
    print(held, int(not os.path.exists(NAME)))
elif WAY == "directory":
    caught = catch(ABOVE)
    print(len(caught), sum(write(os.path.basename(NAME), dir_fd=file) for file in caught))
else:
    caught = catch(NAME)
    print(len(caught), sum(write(f"/proc/self/fd/{file}") for file in caught))
os.kill(pid, signal.SIGKILL)
os.waitpid(pid, 0)
