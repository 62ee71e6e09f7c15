import type { Outsider, Scene } from '../../support/sandbox.js';
import { python, type WayOut } from './way.js';

const TRACE = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
`;

const KEYRINGS = `
KEYCTL = {'x86_64': 250, 'aarch64': 219}[os.uname().machine]
DESCRIBE, UNLINK = 6, 9
`;

/** By others' processes, and by the machine: it prints OUT, or somebody is gone. */
export const byPower = (scene: Scene, told: Outsider): readonly WayOut[] => [
  { name: 'signals somebody outside', command: `kill -9 ${told.pid}` },
  { name: 'signals everybody', command: 'kill -9 -1', untried: true },
  { name: 'sees somebody outside', command: `test -r /proc/${told.pid}/cmdline && echo OUT` },
  { name: 'makes somebody outside slower', command: `renice -n 19 ${told.pid} && echo OUT` },
  {
    name: 'looks into its parent',
    command: 'ls /proc/$PPID/fd >/dev/null && cat /proc/$PPID/environ >/dev/null && echo OUT',
  },
  {
    name: 'takes hold of its parent',
    command: python(
      `${TRACE}parent = os.getppid()\nprint('OUT' if libc.ptrace(16, os.getppid(), 0, 0) == 0 else 'in')`,
    ).replace('/usr', 'exec /usr'),
  },
  {
    name: 'looks into the first process',
    command: 'ls /proc/1/fd >/dev/null && ls /proc/1/root/ >/dev/null && echo OUT',
    untried: true,
  },
  {
    name: 'reads the memory of somebody outside',
    command: python(
      `${TRACE}there = (ctypes.c_ulong * 2)(8, 8)\nlibc.process_vm_readv(${told.pid}, there, 1, there, 1, 0)\nprint('OUT' if ctypes.get_errno() == 14 else 'in')`,
    ),
  },
  {
    name: 'takes a descriptor of somebody outside',
    command: python(
      `${TRACE}p = os.pidfd_open(${told.pid})\nprint('OUT' if libc.syscall(438, p, 1, 0) >= 0 else 'in')`,
    ),
  },
  {
    name: 'reaches files by way of somebody outside',
    command: `echo OUT > /proc/${told.pid}/cwd/new; cat /proc/${told.pid}/cwd/new`,
  },
  { name: 'makes namespaces of its own', command: 'unshare -Urm true && echo OUT' },
  {
    name: "enters the first process's namespaces",
    command: 'nsenter -t 1 -m true && echo OUT',
    forRoot: true,
    untried: true,
  },
  {
    name: 'mounts over what it may not write to',
    command: `mount -t tmpfs none ${scene.outside} && echo OUT`,
    forRoot: true,
    untried: true,
  },
  {
    name: 'makes the files writable again',
    command: 'mount -o remount,rw,bind / && echo OUT',
    forRoot: true,
    untried: true,
  },
  {
    name: 'uncovers what is hidden',
    command: `umount ${scene.home}/.ssh && echo OUT; umount /tmp && echo OUT`,
    forRoot: true,
    untried: true,
  },
  {
    name: 'makes a device',
    command: 'mknod disk b 254 0 && echo OUT',
    forRoot: true,
  },
  {
    name: 'opens a disk',
    command: 'for d in /dev/[vsx]da /dev/nvme0n1; do head -c1 $d >/dev/null && echo OUT; done',
    forRoot: true,
    untried: true,
  },
  {
    name: 'has the kernel start a program',
    command:
      'cat /proc/sys/kernel/core_pattern > c; cat c > /proc/sys/kernel/core_pattern && echo OUT',
    forRoot: true,
  },
  {
    name: 'presses the magic key',
    command: ': > /proc/sysrq-trigger && echo OUT',
    forRoot: true,
    untried: true,
  },
  {
    name: 'has control groups start a program',
    command:
      'mkdir cg; mount -t cgroup -o memory none cg && echo OUT; for f in /sys/fs/cgroup/*/release_agent; do : >> $f && echo OUT; done',
    forRoot: true,
    untried: true,
  },
  {
    name: 'opens a file by its number',
    command: python(
      `${TRACE}at = os.open('/', os.O_RDONLY)\nclass Handle(ctypes.Structure):\n    _fields_ = [('size', ctypes.c_uint), ('kind', ctypes.c_int), ('bytes', ctypes.c_ubyte * 128)]\nh = Handle(128)\nm = ctypes.c_int()\nlibc.name_to_handle_at(at, b'.', ctypes.byref(h), ctypes.byref(m), 0)\nprint('OUT' if libc.open_by_handle_at(at, ctypes.byref(h), 0) >= 0 else 'in')`,
    ),
    forRoot: true,
  },
  {
    name: 'leaves by another root',
    command: python(
      `import os\nos.mkdir('jail')\nos.chroot('jail')\nfor _ in range(50): os.chdir('..')\nos.chroot('.')\nopen('${scene.outside}/new', 'w')\nprint('OUT')`,
    ),
    forRoot: true,
    untried: true,
  },
  {
    name: 'gains rights by a program',
    command: `grep -q 'NoNewPrivs:.*0' /proc/self/status && echo OUT`,
  },
  {
    name: 'finds shared memory of others',
    command: python(
      `${TRACE}print('OUT' if libc.shmat(${told.segment}, 0, 0o10000) != -1 else 'in')`,
    ),
  },
  {
    name: 'makes sockets that are in no network namespace',
    command: python(
      `import socket\nfor family in (38, 40, 17, 29, 31):\n    try:\n        socket.socket(family, socket.SOCK_SEQPACKET if family == 38 else socket.SOCK_STREAM if family == 40 else socket.SOCK_RAW)\n        print('OUT')\n    except OSError: pass`,
    ),
  },
  {
    name: 'makes sockets without the call for it',
    command: python(
      `${TRACE}p = ctypes.create_string_buffer(120)\nprint('OUT' if libc.syscall(425, 4, p) >= 0 else 'in')`,
    ),
  },
  {
    name: 'finds a key of its user',
    command: python(
      `${TRACE}${KEYRINGS}print('OUT' if libc.syscall(KEYCTL, DESCRIBE, ${told.key}, None, 0) > 0 else 'in')`,
    ),
  },
  {
    name: "takes a key out of its user's ring",
    command: python(
      `${TRACE}${KEYRINGS}rings = [int(line.split()[0], 16) for line in open('/proc/keys') if '_uid.' in line]\nprint('OUT' if any(libc.syscall(KEYCTL, UNLINK, ${told.key}, ring) == 0 for ring in rings) else 'in')`,
    ),
  },
  {
    name: 'finds memory that is shared by name',
    command: `test -e /dev/shm/outsider-${told.pid} && echo OUT`,
  },
  {
    name: 'mounts by the newer calls',
    command: python(
      `${TRACE}opened = [libc.syscall(430, b'tmpfs', 0), libc.syscall(428, -100, b'/', 1)]\nprint('OUT' if max(opened) >= 0 else 'in')`,
    ),
    forRoot: true,
  },
  {
    name: 'watches a processor',
    command: python(
      `${TRACE}attributes = (ctypes.c_uint * 32)(1, 128)\nprint('OUT' if libc.syscall({'x86_64': 298, 'aarch64': 241}[os.uname().machine], attributes, -1, 0, -1, 0) >= 0 else 'in')`,
    ),
    forRoot: true,
  },
  {
    name: 'loads a program into the kernel',
    command: python(
      `${TRACE}attributes = (ctypes.c_uint * 32)(2, 4, 4, 1)\nprint('OUT' if libc.syscall({'x86_64': 321, 'aarch64': 280}[os.uname().machine], 0, attributes, 128) >= 0 else 'in')`,
    ),
    forRoot: true,
  },
  {
    name: 'has the kernel run files by a program of its own',
    command:
      'for f in /proc/sys/fs/binfmt_misc/register /sys/kernel/uevent_helper; do : >> $f && echo OUT; done',
    forRoot: true,
    untried: true,
  },
];
