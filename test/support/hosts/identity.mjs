// Runs a command, gives up what it is told to, and runs the command again.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../../dist/index.js';

const WHO = 'echo "id -u: $(id -u), id -g: $(id -g), id -G: $(id -G)"';

/** @param {string} command */
async function told(command) {
  const { output } = await run(command, { cwd: '/' });
  return output.kind === 'complete' ? output.text.trim() : '';
}

/** A root of its own: the same system at another place, where one file is another one. */
function otherRoot() {
  const place = mkdtempSync(join(tmpdir(), 'forkline-root-'));
  const marker = join(mkdtempSync(join(tmpdir(), 'forkline-marker-')), 'marker');
  writeFileSync(marker, 'inside');
  execFileSync('mount', ['--rbind', '/', place]);
  execFileSync('mount', ['--bind', marker, join(place, 'etc/passwd')]);
  return place;
}

/**
 * Has this very thread make a system call for which Node has no function.
 * @param {string} call
 */
function inProcess(call) {
  const source = join(mkdtempSync(join(tmpdir(), 'forkline-call-')), 'call.c');
  const code = `__attribute__((constructor)) static void make(void) { if (${call} != 0) __builtin_trap(); }`;
  writeFileSync(source, `#define _GNU_SOURCE\n#include <sched.h>\n#include <unistd.h>\n${code}\n`);
  execFileSync('cc', ['-shared', '-fPIC', '-o', `${source}.so`, source]);
  try {
    process.dlopen({ exports: {} }, `${source}.so`);
  } catch {
    // It is no addon; what it is for has been done.
  }
}

/** @type {Record<string, { command: string, change: () => void }>} */
const ways = {
  users: {
    command: WHO,
    change() {
      process.setgroups?.([65534, 7]);
      process.setgid?.(65534);
      process.setuid?.(65534);
    },
  },
  groups: { command: WHO, change: () => process.setgroups?.([0, 4711]) },
  root: {
    command: 'grep -q inside /etc/passwd && echo inside || echo outside',
    change: () => inProcess(`chroot("${otherRoot()}")`),
  },
  network: {
    command: 'readlink /proc/self/ns/net',
    change: () => inProcess('unshare(CLONE_NEWNET)'),
  },
  attributes: {
    command: 'echo "$(umask) $(nice)"',
    change() {
      process.umask(0o077);
      setPriority(7);
    },
  },
};

const way = ways[process.argv[2] ?? ''];
if (way) {
  process.umask(0o022);
  const before = await told(way.command);
  way.change();
  console.log(JSON.stringify({ before, after: await told(way.command) }));
}
