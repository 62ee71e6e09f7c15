import type { Outsider, Scene } from '../../support/sandbox.js';
import { python, type WayOut } from './way.js';

const connect = (family: string, address: string) =>
  python(
    `import socket\ns = socket.socket(socket.${family})\ns.settimeout(2)\ns.connect(${address})\nprint('OUT')`,
  );

/** Connects again and again, to its own or to another's, while a second thread swaps what is named. */
const swapping = (named: string) =>
  python(`
import ctypes, os, socket, threading, time
libc = ctypes.CDLL(None, use_errno=True)
own = socket.socket(socket.AF_UNIX)
own.bind('own.sock')
own.listen(4096)
${named}
swap(0)
def swaps():
    while time.monotonic() < until:
        for turn in (1, 0):
            swap(turn)
            time.sleep(0.0003)
until = time.monotonic() + 1.5
threading.Thread(target=swaps, daemon=True).start()
while time.monotonic() < until:
    tried = socket.socket(socket.AF_UNIX)
    tried.setblocking(False)
    if libc.connect(tried.fileno(), name(), 110) == 0 and tried.getpeername() != 'own.sock':
        print('OUT')
        break
    tried.close()
    while True:
        own.setblocking(False)
        try: own.accept()[0].close()
        except BlockingIOError: break
`);

/** By talking: somebody outside hears it. */
export const byTalking = ({ outside }: Scene, told: Outsider): readonly WayOut[] => [
  { name: 'connects by TCP', command: connect('AF_INET', `('127.0.0.1', ${told.tcp})`) },
  {
    name: 'sends by UDP',
    command: python(
      `import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.sendto(b'x', ('127.0.0.1', ${told.udp}))`,
    ),
  },
  {
    name: 'connects to a socket with a path',
    command: connect('AF_UNIX', `'${outside}/outsider.sock'`),
  },
  {
    name: 'connects to a socket with a path by way of a link',
    command: `ln -s ${outside} l; ${connect('AF_UNIX', `'l/outsider.sock'`)}`,
  },
  {
    name: 'connects to a socket that was bound by a relative path',
    command: connect('AF_UNIX', `'${outside}/relative.sock'`),
  },
  {
    name: 'connects to a socket that was renamed',
    command: connect('AF_UNIX', `'${outside}/renamed.sock'`),
  },
  {
    name: 'connects to a socket of another network',
    command: connect('AF_UNIX', `'${outside}/elsewhere.sock'`),
  },
  {
    name: 'connects to a socket that is there only later',
    command: `touch now; for _ in $(seq 100); do test -S ${outside}/late.sock && break; sleep 0.05; done
      ${connect('AF_UNIX', `'${outside}/late.sock'`)}`,
  },
  {
    name: 'connects to a socket by way of its directory',
    command: connect('AF_UNIX', `'/proc/self/cwd/../outside/relative.sock'`),
  },
  {
    name: 'connects to another socket than it has named, by changing the name meanwhile',
    command: swapping(`
address = ctypes.create_string_buffer(b'\\1\\0' + b'own.sock', 110)
names = [b'own.sock'.ljust(40, b'\\0'), b'${outside}/outsider.sock\\0']
def swap(turn): ctypes.memmove(ctypes.byref(address, 2), names[turn], len(names[turn]))
def name(): return address`),
  },
  {
    name: 'connects to another socket than it has named, by changing a link meanwhile',
    command: swapping(`
address = ctypes.create_string_buffer(b'\\1\\0' + b'link', 110)
places = ['own.sock', '${outside}/outsider.sock']
def swap(turn):
    os.symlink(places[turn], 'new')
    os.rename('new', 'link')
def name(): return address`),
  },
  {
    name: 'sends to a socket with a path',
    command: python(
      `import socket\ns = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\ns.sendto(b'x', '${outside}/datagram.sock')\nprint('OUT')`,
    ),
  },
  {
    name: 'sends to a socket with a path that it has been connected to',
    command: python(
      `import socket\ns = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\ns.connect('${outside}/datagram.sock')\ns.send(b'x')\nprint('OUT')`,
    ),
  },
  {
    name: 'sends to a socket with a path by one of a pair',
    command: python(
      `import socket\ns, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\ns.sendmsg([b'x'], [], 0, '${outside}/datagram.sock')\nprint('OUT')`,
    ),
  },
  {
    name: 'connects to an abstract socket',
    command: connect('AF_UNIX', `'\\0outsider-${told.pid}'`),
  },
];
