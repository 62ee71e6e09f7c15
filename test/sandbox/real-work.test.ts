// @module-tag slow
import { spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { expect, test } from 'vitest';
import { leavesNothingBehind } from '../support/leftovers.js';
import {
  as,
  describeForAll,
  makeScene,
  type Person,
  runAs,
  useScenes,
} from '../support/sandbox.js';

// What people do all day works in a workspace that is a sandbox.
leavesNothingBehind();
const scenes = useScenes();

/** Somebody's work: a script that ends with `done` when all of it has worked. */
interface Work {
  readonly name: string;
  readonly script: string;
  /** Programs that it takes; without one of them it is left out. */
  readonly needs?: readonly string[];
  readonly options?: object;
}

const GIT = `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b`;
const python = (code: string) => `/usr/bin/python3 - <<'END'\n${code}\nEND\n`;

const works: readonly Work[] = [
  {
    name: 'git: commit, branch, stash, rebase, tag, gc',
    script: `${GIT}; echo 1 > a; git add a; git commit -qm one; git checkout -qb side
      echo 2 > b; git add b; git commit -qm two; git checkout -q -; echo 3 > c; git add c
      git commit -qm three; git rebase -q side; echo 4 >> a; git stash -q; git stash pop -q
      git tag v1; git gc -q; test $(git log --oneline | wc -l) = 3`,
  },
  {
    name: 'git: clone, and work in the clone',
    script: `${GIT}; git commit -q --allow-empty -m one; git clone -q . sub; cd sub
      git config user.name x; echo 1 > f; git add f; git commit -qm two; git log --oneline | grep -q two`,
  },
  {
    name: 'git: worktrees',
    script: `${GIT}; git commit -q --allow-empty -m one; git worktree add -q tree -b side; cd tree
      echo 1 > f; git add f; git commit -qm two; cd ..; git worktree remove tree; git branch -D side`,
  },
  {
    name: 'npm: a package with a dependency in a folder, its lock, its script',
    needs: ['npm'],
    script: `mkdir -p dep; echo '{"name":"dep","version":"1.0.0"}' > dep/package.json
      echo '{"name":"x","version":"1.0.0","dependencies":{"dep":"file:dep"},"scripts":{"t":"node -p 6*7"}}' > package.json
      npm install --offline --no-audit --no-fund --silent; npm ci --offline --no-audit --no-fund --silent
      npm run --silent t | grep -q 42`,
  },
  {
    name: 'a server and a client of node on the loopback',
    script: `cat > s.mjs <<'END'
import { createServer } from 'node:http';
const server = createServer((_, answer) => answer.end('pong')).listen(0, '127.0.0.1', async () => {
  console.log(await (await fetch('http://localhost:' + server.address().port)).text());
  server.close();
});
END
      '${process.execPath}' s.mjs | grep -q pong`,
  },
  {
    name: 'node: worker threads, child processes, sockets with a path',
    script: `cat > w.mjs <<'END'
import { execFileSync, fork } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { Worker, isMainThread } from 'node:worker_threads';
import { networkInterfaces } from 'node:os';
if (isMainThread && !process.send) {
  networkInterfaces();
  execFileSync('true');
  const server = createServer((socket) => socket.end('x')).listen('own.sock', () =>
    connect('own.sock').resume().on('end', () => {
      server.close();
      new Worker(new URL(import.meta.url)).on('exit', () => fork('w.mjs').on('exit', (code) => console.log('all', code)));
    }));
}
END
      '${process.execPath}' w.mjs | grep -q 'all 0'`,
  },
  {
    name: 'python: a virtual environment',
    script: `/usr/bin/python3 -m venv --without-pip v; ./v/bin/python -c 'import sys; assert sys.prefix != sys.base_prefix'`,
  },
  {
    name: 'python: multiprocessing with all that it shares, asyncio, subprocesses',
    script: python(`
import asyncio, multiprocessing, subprocess, tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import shared_memory

def square(x): return x * x

async def work():
    process = await asyncio.create_subprocess_exec('true')
    assert await process.wait() == 0
    server = await asyncio.start_server(lambda r, w: w.close(), '127.0.0.1', 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
    assert await reader.read() == b''
    server.close()

if __name__ == '__main__':
    with multiprocessing.Pool(2) as pool: assert pool.map(square, range(4)) == [0, 1, 4, 9]
    queue = multiprocessing.Queue(); queue.put(1); assert queue.get() == 1
    with multiprocessing.Manager() as manager: manager.list([1])
    memory = shared_memory.SharedMemory(create=True, size=16); memory.close(); memory.unlink()
    asyncio.run(work())
    with tempfile.NamedTemporaryFile() as file: file.write(b'x')
`),
  },
  {
    name: 'python: many who wait for a busy server, and others who need not',
    script: python(`
import socket, threading, time

busy = socket.socket(socket.AF_UNIX); busy.bind('busy.sock'); busy.listen(0)
waiting = [socket.socket(socket.AF_UNIX) for _ in range(12)]
threads = [threading.Thread(target=each.connect, args=('busy.sock',)) for each in waiting]
for thread in threads: thread.start()
free = socket.create_server(('127.0.0.1', 0))
for _ in range(20): socket.create_connection(free.getsockname()).close(); free.accept()[0].close()
assert any(thread.is_alive() for thread in threads)
for _ in threads: busy.accept()
for thread in threads: thread.join()
for _ in range(20):
    again = socket.socket(socket.AF_UNIX); again.connect('busy.sock'); busy.accept()
`),
  },
  {
    name: 'make -j',
    needs: ['make', 'cc'],
    script: `printf 'all: a b c d\\n%%: %%.c\\n\\tcc -o $@ $<\\n' > Makefile
      for f in a b c d; do echo 'int main(void) { return 0; }' > $f.c; done; make -sj4; ./a && ./d`,
  },
  {
    name: 'cargo build, test',
    needs: ['cargo'],
    script: `export CARGO_HOME='${homedir()}/.cargo' RUSTUP_HOME='${homedir()}/.rustup'
      # A workspace of its own: none above is looked for.
      printf '[package]\\nname = "x"\\nversion = "0.1.0"\\nedition = "2021"\\n[workspace]\\n' > Cargo.toml
      mkdir src; echo 'fn main() { println!("hello") }' > src/main.rs; cargo build -q --offline; cargo test -q --offline; ./target/debug/x`,
  },
  {
    name: 'go build',
    needs: ['go'],
    script: `export GOFLAGS=-mod=mod GOTOOLCHAIN=local; printf 'module x\\n' > go.mod
      printf 'package main\\nfunc main() {}\\n' > m.go; go build -o x . && ./x`,
  },
  {
    name: 'ssh-keygen into the workspace',
    needs: ['ssh-keygen'],
    script: `ssh-keygen -q -t ed25519 -N '' -f key; ssh-keygen -lf key.pub`,
  },
  {
    name: 'strace and what else traces its own children',
    needs: ['strace'],
    script: `strace -f -o trace sh -c 'ls >/dev/null'; grep -q exited trace`,
  },
  {
    name: 'tmux with a server of its own',
    needs: ['tmux'],
    // Without SHELL it takes the one of the user, and an ordinary one may have none to log in with.
    script: `export SHELL=/bin/sh; tmux new-session -d -s x 'echo here > t; sleep 60'; until grep -qs here t; do sleep 0.05; done
      tmux ls; tmux kill-server`,
  },
  {
    name: 'vim on a terminal',
    needs: ['vim'],
    script: `vim -u NONE -es -c 'normal ihello' -c 'wq' v; grep -q hello v; test -t 1; echo x > /dev/tty`,
    options: { pty: true },
  },
  {
    name: 'files for the descriptors, and pipes by name',
    script: `echo a > /dev/stdout; echo b >/dev/stderr; echo c | cat /dev/stdin; mkfifo p; echo d > p & cat p
      cat <(echo e); echo f > /dev/fd/1; : > /dev/null; head -c 3 /dev/urandom | wc -c`,
  },
  {
    name: 'jobs: nohup, setsid, wait, kill, ps, pgrep',
    script: `nohup sleep 50 >/dev/null 2>&1 & a=$!; setsid sleep 60 &
      until pgrep -f 'sleep 60' >/dev/null; do sleep .05; done; ps -o pid= -p $a; pgrep sleep | wc -l
      kill $a; pkill -f 'sleep 60'; wait $a || true`,
  },
  {
    name: 'archives, permissions, links, sparse and large files',
    script: `mkdir d; echo x > d/f; chmod 600 d/f; ln -s f d/l; ln d/f d/h; tar cf t.tar d; tar xf t.tar -C /tmp
      truncate -s 1G sparse; cp -a d e; rm -rf d; mv e d; find . -name f | xargs touch -d 2001-01-01`,
  },
];

/** Whether somebody has a program. */
function has(person: Person, program: string): boolean {
  const [shell = 'sh', ...args] = [
    ...as(person),
    'sh',
    '-c',
    `cd / && command -v "$0" && "$0" --version || "$0" version || "$0" -V`,
  ];
  if (program === 'ssh-keygen') return spawnSync('which', [program]).status === 0;
  return spawnSync(shell, [...args, program], { stdio: 'ignore' }).status === 0;
}

describeForAll('%s', (person) => {
  const possible = works.filter(({ needs = [] }) => needs.every((program) => has(person, program)));
  test.each(possible)('$name', async ({ script, options }) => {
    const scene = makeScene(scenes.path, person);
    const command = `set -e; ${script}\necho done`;
    const place = { cwd: scene.work, sandbox: 'workspace-write', ...options };
    const { text, result } = await runAs(person, scene, command, place);
    expect([text, result.outcome]).toEqual([
      expect.stringMatching(/done\r?\n$/),
      { kind: 'exited', exitCode: 0 },
    ]);
  });

  test('tools that cannot work in a sandbox say why', async () => {
    const { home, work } = makeScene(scenes.path, person);
    const command = `echo x > ~/file; unshare -Ur true; mkdir /opt/x; git config user.name x`;
    const options = { cwd: work, sandbox: 'workspace-write' };
    const { text } = await runAs(person, { home }, command, options);
    expect(text).toMatch(/file: Read-only.*unshare failed.*Read-only.*could not/s);
  });
});
