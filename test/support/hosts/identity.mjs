// Runs a command, gives something up, and runs the command again, beside one that has been running.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { run, spawn } from '../../../dist/index.js';

const WHO = 'echo "id -u: $(id -u), id -g: $(id -g), id -G: $(id -G)"';
const MKDIR = 'd=$(mktemp -u) && mkdir $d 2>/dev/null && rmdir $d && echo may || echo may not';
/** @param {string} name */
const status = (name) => `sed -n 's/^${name}:\\t//p' /proc/self/status`;

/** @param {string} command */
async function told(command) {
  const { output } = await run(command);
  return output.kind === 'complete' ? output.text.trim() : '';
}

/**
 * Starts a command that waits to be asked.
 * @param {string} command
 */
async function telling(command) {
  const live = await spawn(`read -r; ${command}`, { stdin: 'pipe' });
  return async () => {
    await live.write('\n');
    await live.end();
    const result = await live.result;
    return 'output' in result && result.output.kind === 'complete' ? result.output.text.trim() : '';
  };
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

/** Whoever tests removes it. */
const ownCgroup = process.argv[3] ?? '';

/**
 * Has this very thread do what Node has no function for: see `give-up.c`.
 * @param {string} what
 * @param {string} [to]
 */
function giveUp(what, to) {
  const source = fileURLToPath(new URL('../give-up.c', import.meta.url));
  const library = join(mkdtempSync(join(tmpdir(), 'forkline-give-up-')), 'library.so');
  execFileSync('cc', ['-shared', '-fPIC', `-DGIVE_UP=${what}`, '-o', library, source]);
  if (to) process.env.GIVE_UP_TO = to;
  try {
    process.dlopen({ exports: {} }, library);
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
  capabilities: { command: status('CapBnd'), change: () => giveUp('bounding') },
  ambient: { command: status('CapEff'), change: () => giveUp('ambient') },
  privileges: { command: status('NoNewPrivs'), change: () => giveUp('no_new_privileges') },
  filter: { command: MKDIR, change: () => giveUp('filter') },
  landlock: { command: MKDIR, change: () => giveUp('landlock') },
  root: {
    command: 'grep -q inside /etc/passwd && echo inside || echo outside',
    change: () => giveUp('root', otherRoot()),
  },
  mounts: { command: 'readlink /proc/self/ns/mnt', change: () => giveUp('mounts') },
  network: { command: 'readlink /proc/self/ns/net', change: () => giveUp('network') },
  name: { command: 'uname -n', change: () => giveUp('host_name') },
  keyring: { command: `perl -e 'print syscall(250, 0, -3, 0)'`, change: () => giveUp('keyring') },
  cgroup: {
    command: 'grep -c forkline-test /proc/self/cgroup',
    change() {
      mkdirSync(ownCgroup);
      giveUp('cgroup', `${ownCgroup}/cgroup.procs`);
    },
  },
  policy: { command: 'chrt -p 0 | grep -o "SCHED.*"', change: () => giveUp('policy') },
  disk: { command: 'ionice', change: () => giveUp('disk') },
  layout: { command: 'cat /proc/self/personality', change: () => giveUp('layout') },
  limits: { command: 'ulimit -n', change: () => giveUp('limits') },
  processors: { command: 'nproc', change: () => giveUp('processors') },
  attributes: {
    command: 'echo "$(umask) $(nice)"',
    change() {
      process.umask(0o077);
      setPriority(7);
    },
  },
  directory: { command: 'pwd', change: () => process.chdir('/usr') },
};

/** A worker gives up its user, and no other thread does: what each of their commands is run as. */
async function inAWorker() {
  const who = () => told('id -u');
  const before = await who();
  const worker = new Worker(new URL(import.meta.url));
  const answers = [before];
  for (let count = 0; count < 3; count += 1) {
    const answered = new Promise((resolve) => worker.once('message', resolve));
    worker.postMessage('tell');
    answers.push(String(await answered), await who());
  }
  await worker.terminate();
  console.log(JSON.stringify(answers));
}

/** Gives up its groups when much has been asked for that has not been started yet. */
async function inABurst() {
  const burst = Array.from({ length: 200 }, () => told('id -G'));
  process.setgroups?.([0, 4711]);
  const after = await told('id -G');
  console.log(JSON.stringify({ burst: [...new Set(await Promise.all(burst))], after }));
}

if (!isMainThread) {
  giveUp('user_of_thread');
  parentPort?.on('message', async () => parentPort?.postMessage(await told('id -u')));
} else if (process.argv[2] === 'worker') {
  await inAWorker();
} else if (process.argv[2] === 'burst') {
  await inABurst();
} else {
  const way = ways[process.argv[2] ?? ''];
  if (way) {
    process.umask(0o022);
    process.chdir('/');
    const before = await told(way.command);
    const tell = await telling(way.command);
    way.change();
    const after = await told(way.command);
    console.log(JSON.stringify({ before, after, running: await tell() }));
  }
}
