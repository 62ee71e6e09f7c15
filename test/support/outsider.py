"""Somebody outside of the sandbox: listens in every way there is, and notes what he hears.

Its arguments: a folder for its sockets and its notes. It says its process id and its ports, and ends
with its stdin.
"""

import ctypes
import json
import os
import select
import socket
import sys
import threading

folder = sys.argv[1]
heard = os.path.join(folder, 'heard')


def listener(family, kind, address):
    made = socket.socket(family, kind)
    made.bind(address)
    if family == socket.AF_UNIX and address[0] != '\0':
        os.chmod(address, 0o777)
    if kind == socket.SOCK_STREAM:
        made.listen()
    return made


def elsewhere(path):
    """One in another network: it is made by a child, who hands it over."""
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        user, network = 0x10000000, 0x40000000
        if ctypes.CDLL(None).unshare(network | (user if os.geteuid() else 0)) == 0:
            made = listener(socket.AF_UNIX, socket.SOCK_STREAM, path)
            socket.send_fds(theirs, [b'x'], [made.fileno()])
        os._exit(0)
    theirs.close()
    _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
    os.wait()
    return socket.socket(fileno=descriptors[0])


def renamed(before, after):
    made = listener(socket.AF_UNIX, socket.SOCK_STREAM, before)
    os.rename(before, after)
    return made


def note(how):
    with open(heard, 'a') as notes:
        notes.write(how + '\n')


def later():
    """One that is made only when somebody asks for it, so after all else."""
    asked = os.path.join(folder, '../work/now')
    while not os.path.exists(asked):
        if over.wait(0.02):
            return
    made = listener(socket.AF_UNIX, socket.SOCK_STREAM, os.path.join(folder, 'late.sock'))
    made.settimeout(0.05)
    while not over.is_set():
        try:
            made.accept()[0].close()
            note('late')
        except TimeoutError:
            pass


over = threading.Event()
path = os.path.join(folder, 'outsider.sock')
name = f'\0outsider-{os.getpid()}'
sockets = {
    'tcp': listener(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', 0)),
    'udp': listener(socket.AF_INET, socket.SOCK_DGRAM, ('127.0.0.1', 0)),
    'path': listener(socket.AF_UNIX, socket.SOCK_STREAM, path),
    'abstract': listener(socket.AF_UNIX, socket.SOCK_STREAM, name),
    'datagram': listener(socket.AF_UNIX, socket.SOCK_DGRAM, os.path.join(folder, 'datagram.sock')),
    'renamed': renamed(os.path.join(folder, 'before.sock'), os.path.join(folder, 'renamed.sock')),
    'elsewhere': elsewhere(os.path.join(folder, 'elsewhere.sock')),
}
os.chdir(folder)
sockets['relative'] = listener(socket.AF_UNIX, socket.SOCK_STREAM, 'relative.sock')
late = threading.Thread(target=later)
late.start()
# System V's shared memory, for whoever shares it.
libc = ctypes.CDLL(None)
segment = libc.shmget(0, 4096, 0o1666)
# It goes with its last user, however that ends; until then it can be had by its number.
libc.shmat(segment, 0, 0)
libc.shmctl(segment, 0, None)
# What hangs on the user, and lies in memory that is shared.
numbers = {'x86_64': (248, 250), 'aarch64': (217, 219)}[os.uname().machine]
ADD_KEY, KEYCTL = numbers
OF_USER, UNLINK, SET_TIMEOUT = -4, 9, 15
call = libc.syscall
key = call(ADD_KEY, b'user', name[1:].encode(), b'the secret key', 14, OF_USER)
# A user may have 200. Who is killed leaves it; it goes after so many seconds.
call(KEYCTL, SET_TIMEOUT, key, 300)
shared = '/dev/shm/' + name[1:]
with open(shared, 'w') as file:
    file.write('the secret key')
told = {
    'pid': os.getpid(),
    'tcp': sockets['tcp'].getsockname()[1],
    'udp': sockets['udp'].getsockname()[1],
    'segment': segment,
    'key': key,
}
print(json.dumps(told), flush=True)

while True:
    ready, _, _ = select.select([sys.stdin, *sockets.values()], [], [])
    if sys.stdin in ready:
        break
    for how, made in sockets.items():
        if made in ready:
            if made.type == socket.SOCK_DGRAM:
                made.recv(100)
            else:
                made.accept()[0].close()
            note(how)
over.set()
late.join()
call(KEYCTL, UNLINK, key, OF_USER)
os.unlink(shared)
