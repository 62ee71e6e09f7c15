import type { Scene } from '../../support/sandbox.js';
import { python, type WayOut } from './way.js';

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
  {
    name: 'gives a name outside to a file that had none',
    command: python(
      `import ctypes, os\nf = os.open('${outside}', os.O_TMPFILE | os.O_WRONLY)\nctypes.CDLL(None).linkat(-100, b'/proc/self/fd/%d' % f, -100, b'${outside}/new', 0x400)`,
    ),
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
