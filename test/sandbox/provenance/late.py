"""Has a call that makes a file wait for its processor while the file is removed: `late.py NAME`."""

import os
import sys
import threading
import time

NAME = sys.argv[1]
opened = []


def spin():
    pid = os.fork()
    while pid == 0:
        pass
    return pid


def open_late():
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    os.sched_setaffinity(0, {0})
    try:
        opened.append(os.open(NAME, os.O_CREAT | os.O_RDWR))
    except OSError:
        pass


os.sched_setaffinity(0, {0})
spinning = [spin() for _ in range(3)]
os.sched_setaffinity(0, {1})
thread = threading.Thread(target=open_late)
thread.start()
time.sleep(0.002)
os.unlink(NAME)
thread.join(5)
for file in opened:
    try:
        os.pwrite(file, b"evil\n", 0)
    except OSError:
        pass
for pid in spinning:
    os.kill(pid, 9)
os._exit(0)
