import type { Outsider, Scene } from '../support/sandbox.js';

/** A way out of a sandbox: what a command tries. */
export interface WayOut {
  readonly name: string;
  /** It prints `OUT` when it has got out, if that shows in nothing else. */
  readonly command: string;
  /** Only root could, even without a sandbox. */
  readonly forRoot?: true;
  /** Not to be tried without a sandbox, since it would harm the machine, or nobody could. */
  readonly untried?: true;
}

const python = (code: string) => `/usr/bin/python3 - <<'END'\n${code}\nEND\n`;
const connect = (family: string, address: string) =>
  python(
    `import socket\ns = socket.socket(socket.${family})\ns.settimeout(2)\ns.connect(${address})\nprint('OUT')`,
  );

/** By changing files. Each leaves a trace in `outside`, or in what the host obeys. */
export const byWriting = ({ outside, work }: Scene): readonly WayOut[] => [
  { name: 'makes a file outside', command: `echo x > ${outside}/new` },
  { name: 'appends to a file outside', command: `echo x >> ${outside}/file` },
  { name: 'empties a file outside', command: `truncate -s 0 ${outside}/file` },
  { name: 'changes the mode of a file outside', command: `chmod 777 ${outside}/file` },
  { name: 'changes the times of a file outside', command: `touch -d 2001-01-01 ${outside}/file` },
  { name: 'renames a file outside', command: `mv ${outside}/file ${outside}/other` },
  { name: 'takes a file from outside', command: `mv ${outside}/file ${work}/taken` },
  { name: 'removes a file outside', command: `rm -f ${outside}/file` },
  { name: 'makes a directory outside', command: `mkdir ${outside}/new` },
  { name: 'makes a link outside', command: `ln -s / ${outside}/link` },
  { name: 'makes a pipe outside', command: `mkfifo ${outside}/pipe` },
  { name: 'writes through a link of its own', command: `ln -s ${outside} l; echo x > l/new` },
  {
    name: 'writes through a second name of a file',
    command: `ln ${outside}/file hard && echo x >> hard`,
  },
  { name: 'writes by way of its root', command: `echo x > /proc/self/root${outside}/new` },
  { name: 'writes by way of its directory', command: `echo x > /proc/self/cwd/../outside/new` },
  {
    name: 'sets an attribute of a file outside',
    command: `${python(`import os\nos.setxattr('${outside}/file', 'user.x', b'x')\nprint('OUT')`)}`,
  },
  { name: 'puts a hook into the repository', command: 'echo x > .git/hooks/pre-commit' },
  {
    name: 'puts another directory in the place of the hooks',
    command: 'mv .git/hooks .git/h2 && mkdir .git/hooks && echo x > .git/hooks/pre-commit',
  },
  {
    name: 'puts another repository in the place of the repository',
    command: 'mv .git .g2 && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit',
  },
  {
    name: 'removes the repository and makes another',
    command: 'rm -rf .git; mkdir -p .git/hooks && echo x > .git/hooks/pre-commit',
  },
  { name: 'has git start a program', command: 'git config core.fsmonitor "touch /x"' },
  { name: 'edits the configuration of git', command: 'echo "[core]" >> .git/config' },
  {
    name: 'renames something over the configuration of git',
    command: 'echo x > .git/c2; mv -f .git/c2 .git/config',
  },
  { name: "edits an editor's settings", command: 'echo x > .vscode/settings.json' },
  {
    name: "puts others in the place of an editor's settings",
    command: 'mv .vscode v2 && mkdir .vscode && echo x > .vscode/settings.json',
  },
];

/** By reading what is hidden: it prints the secret. */
export const byReading = ({ home, work }: Scene): readonly WayOut[] => [
  { name: 'reads a key', command: `cat ${home}/.ssh/id_rsa` },
  { name: 'reads a key by way of a link', command: `ln -s ${home} h; cat h/.ssh/id_rsa` },
  { name: 'reads a key by way of its root', command: `cat /proc/self/root${home}/.ssh/id_rsa` },
  {
    name: 'reads a key by way of a second name',
    command: `ln ${home}/.ssh/id_rsa ${work}/key; cat key`,
  },
  { name: 'moves the directory of keys away', command: `mv ${home}/.ssh k; cat k/id_rsa` },
  {
    name: 'reads the passwords of the machine',
    command: `grep -q '^root:' /etc/shadow && echo 'the secret key'`,
    forRoot: true,
  },
];

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
    name: 'connects to an abstract socket',
    command: connect('AF_UNIX', `'\\0outsider-${told.pid}'`),
  },
];

const TRACE = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
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
];
