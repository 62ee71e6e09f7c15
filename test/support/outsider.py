"""Somebody outside of the sandbox: listens in every way there is, and notes what he hears.

Its arguments: a folder for its socket and its notes. It says its process id and its ports, and ends
with its stdin.
"""

import ctypes
import json
import os
import select
import socket
import sys

folder = sys.argv[1]
heard = os.path.join(folder, 'heard')


def listener(family, kind, address):
    made = socket.socket(family, kind)
    made.bind(address)
    if kind == socket.SOCK_STREAM:
        made.listen()
    return made


path = os.path.join(folder, 'outsider.sock')
name = f'\0outsider-{os.getpid()}'
sockets = {
    'tcp': listener(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', 0)),
    'udp': listener(socket.AF_INET, socket.SOCK_DGRAM, ('127.0.0.1', 0)),
    'path': listener(socket.AF_UNIX, socket.SOCK_STREAM, path),
    'abstract': listener(socket.AF_UNIX, socket.SOCK_STREAM, name),
}
os.chmod(path, 0o777)
# System V's shared memory, for whoever shares it.
segment = ctypes.CDLL(None).shmget(0, 4096, 0o1666)
told = {
    'pid': os.getpid(),
    'tcp': sockets['tcp'].getsockname()[1],
    'udp': sockets['udp'].getsockname()[1],
    'segment': segment,
}
print(json.dumps(told), flush=True)

while True:
    ready, _, _ = select.select([sys.stdin, *sockets.values()], [], [])
    if sys.stdin in ready:
        break
    for how, made in sockets.items():
        if made in ready:
            if how == 'udp':
                made.recv(100)
            else:
                made.accept()[0].close()
            with open(heard, 'a') as notes:
                notes.write(how + '\n')
ctypes.CDLL(None).shmctl(segment, 0, None)
