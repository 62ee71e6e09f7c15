// Steps of commands that change files by system calls that no tool makes, as statements of Python.
import { inPython, namesOf } from './names.mjs';

/** @typedef {import('./random.mjs').Random} Random */
/** @typedef {import('./trees.mjs').Tree} Tree */

const PROGRAM = `import ctypes, mmap, os, threading
libc = ctypes.CDLL(None)
def renameat2(a, b, flags): libc.renameat2(-100, a, -100, b, flags)
def write(fd, at=0, text=b'python'): os.pwrite(fd, text, at)
def open_tmp(d, name):
  fd = os.open(d, os.O_TMPFILE | os.O_RDWR, 0o640)
  os.write(fd, b'nameless')
  os.link('/proc/self/fd/%d' % fd, name, follow_symlinks=True)
  os.write(fd, b' and named')
  os.close(fd)
def mapped(p):
  with open(p, 'r+b') as f:
    with mmap.mmap(f.fileno(), 0) as m:
      f.close()
      m[0:1] = b'M'
      m[-1:] = b'W'
def unnamed(p, n):
  fd = os.open(p, os.O_RDWR)
  os.link(p, n); os.unlink(p); os.ftruncate(fd, 3); os.rename(n, p); write(fd, 1)
  os.close(fd)
def by_descriptor(d, n):
  at = os.open(d, os.O_RDONLY | os.O_DIRECTORY)
  os.rename(d, n)
  os.close(os.open(b'by', os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=at))
  os.mkdir(b'bydir', dir_fd=at)
  for one in os.listdir(at)[:2]: os.rename(one, os.fsencode(one) + b'.r', src_dir_fd=at, dst_dir_fd=at)
  os.close(at)
def by_reading(p):
  fd = os.open(p, os.O_RDONLY)
  for call in (lambda: os.fchmod(fd, 0o751), lambda: os.utime(fd, ns=(5, 7)), lambda: os.setxattr(fd, 'user.fd', b'1'),
    lambda: os.close(os.open('/proc/self/fd/%d' % fd, os.O_WRONLY | os.O_TRUNC))): attempt(call)
  os.close(fd)
def copied(p, q):
  a = os.open(p, os.O_RDONLY); b = os.open(q, os.O_WRONLY | os.O_CREAT, 0o604)
  os.copy_file_range(a, b, 3000, 1, 77)
  os.sendfile(b, a, 0, 100)
  os.close(a); os.close(b)
def swarm(d, names):
  def work(i):
    for turn in range(6):
      one, other = names[(i + turn) % len(names)], names[(i * turn + 1) % len(names)]
      attempt(lambda: os.rename(one, other))
      attempt(lambda: open(one, 'ab').write(b'%d' % turn))
      attempt(lambda: os.link(other, d + b'/s%d%d' % (i, turn)))
      attempt(lambda: os.unlink(other))
      attempt(lambda: os.rename(d + b'/s%d%d' % (i, turn), other))
  all = [threading.Thread(target=work, args=(i,)) for i in range(4)]
  for one in all: one.start()
  for one in all: one.join()
def attempt(call):
  try: call()
  except (OSError, ValueError): pass
`;

/**
 * A step by some of these statements.
 *
 * @param {Random} random
 * @param {Tree} tree
 */
export function programStep(random, tree) {
  const names = namesOf(random, tree, inPython);
  const statements = [];
  for (let left = 1 + random.below(5); left > 0; left -= 1) {
    statements.push(`attempt(lambda: ${statement(random, names)})`);
  }
  return `/usr/bin/python3 -S -E - <<'END'\n${PROGRAM}${statements.join('\n')}\nEND`;
}

/**
 * @param {Random} random
 * @param {ReturnType<typeof namesOf>} names
 */
function statement(random, { file, directory, any, fresh }) {
  const time = random.below(2 ** 31) * 1_000_003;
  return random.text([
    () => `os.rename(${any()}, ${fresh()})`,
    () => `os.replace(${file()}, ${file()})`,
    () => `renameat2(${any()}, ${any()}, 2)`,
    () => `renameat2(${directory()}, ${directory()}, 2)`,
    () => `renameat2(${file()}, ${fresh()}, 1)`,
    () => `[renameat2(${any()}, ${any()}, 2) for _ in range(3)]`,
    () => `open_tmp(${directory()}, ${fresh()})`,
    () => `mapped(${file()})`,
    () => `unnamed(${file()}, ${fresh()})`,
    () => `by_descriptor(${directory()}, ${fresh()})`,
    () => `by_reading(${any()})`,
    () => `copied(${file()}, ${file()})`,
    () => `swarm(${directory()}, [${file()}, ${file()}, ${file()}, ${fresh()}])`,
    () => `os.truncate(${file()}, ${random.below(9000)})`,
    () => `os.close(os.open(${file()}, os.O_RDONLY | os.O_TRUNC))`,
    () => `os.close(os.open(${fresh()}, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o1751))`,
    () => `os.utime(${any()}, ns=(${time}, ${time}), follow_symlinks=False)`,
    () => `os.utime(${any()})`,
    () => `os.setxattr(${any()}, 'user.new', b'value' * ${random.pick([1, 100])})`,
    () => `os.setxattr(${any()}, 'user.note', b'other')`,
    () => `os.removexattr(${any()}, 'user.note')`,
    () => `os.mknod(${fresh()}, 0o10600)`,
    () => `[os.mkdir(${fresh()}), os.rmdir(${directory()})]`,
    () => `[os.mkfifo(${fresh()}), os.unlink(${any()})]`,
    () => `os.removedirs(${directory()})`,
  ]);
}
