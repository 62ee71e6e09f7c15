import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { programPath, ROOT, where } from '../support/needs.js';
import { Machine } from './machine.js';
import { projectOf, troublesIn } from './project.js';
import { type Registry, serveRegistry } from './registry.js';
import { NODES, programs } from './tarballs.js';

const PROGRAMS = { node20: NODES.node20 } as const;

/** What an image has besides Node and bash, for the check set; the last two are for the way into it. */
const TOOLS = [
  ...[
    'bash',
    'env',
    'cat',
    'sleep',
    'head',
    'tail',
    'seq',
    'yes',
    'setsid',
    'stty',
    'test',
    'kill',
  ],
  ...['umount', 'setpriv'],
];

/** What a container's runtime does: the image as root, a process table of its own, and its first process. */
const ENTER = `set -e
image=$1 tmp=$2 root=$3 user=$4; shift 4
mount --make-rprivate / && mount --bind "$image" "$image"
mount -t proc proc "$image/proc" && mount --rbind /dev "$image/dev"
[ "$tmp" = none ] || mount -t tmpfs -o "mode=1777,$tmp" tmpfs "$image/tmp"
mount -o "remount,bind,$root" "$image"
cd "$image" && pivot_root . mnt && cd /
export PATH=/bin && umount -l /mnt
exec setpriv --reuid="$user" --regid="$user" --clear-groups env -i PATH=/bin "$@"`;

interface Container {
  /** Options of the file system at /tmp; none: there is only the image. */
  readonly tmp: string;
  readonly root: 'ro' | 'rw';
  readonly user: number;
  /** Variables of the environment. */
  readonly env: readonly string[];
}

const USUAL: Container = { tmp: 'size=1g', root: 'rw', user: 0, env: ['HOME=/root'] };

const CONTAINERS: Readonly<Record<string, Container>> = {
  'Node as process 1': USUAL,
  'a read-only root, and nothing on /tmp is executed': {
    ...USUAL,
    tmp: 'noexec,nosuid,nodev',
    root: 'ro',
  },
  'I8: a user without an entry in passwd, and without HOME': { ...USUAL, user: 12_345, env: [] },
  'a temporary directory elsewhere, of another user': {
    ...{ tmp: 'none', root: 'rw', user: 12_345 },
    env: ['HOME=/', 'TMPDIR=/scratch'],
  },
};

describe('in an image with Node, bash and little else', where(ROOT), () => {
  let registry: Registry;
  let machine: Machine;
  let image: string;

  beforeAll(async () => {
    const node = join(programs('image', PROGRAMS)('node20'), 'bin/node');
    registry = await serveRegistry(inject('tarballs'));
    machine = new Machine(registry.url);
    const project = await projectOf(machine, 'project');
    image = machine.directory('image');
    for (const name of ['proc', 'dev', 'tmp', 'mnt', 'scratch', 'bin']) {
      mkdirSync(join(image, name), { mode: 0o777 });
    }
    execFileSync('chmod', ['755', machine.home]);
    execFileSync('chmod', ['1777', join(image, 'scratch')]);
    for (const tool of TOOLS) addProgram(programPath(tool) ?? '', tool);
    addProgram(node, 'node');
    symlinkSync('bash', join(image, 'bin/sh'));
    cpSync(project, join(image, 'user'), { recursive: true });
    writeFileSync(join(image, 'enter.sh'), ENTER);
  });

  afterAll(() => {
    registry?.close();
    machine?.remove();
  });

  /** Copies a program with the libraries that it needs. */
  function addProgram(path: string, name: string): void {
    const file = realpathSync(path);
    cpSync(file, join(image, 'bin', name));
    const libraries = execFileSync('ldd', [file], { encoding: 'utf8' }).match(/\/\S+/g) ?? [];
    for (const library of libraries) {
      mkdirSync(dirname(join(image, library)), { recursive: true });
      cpSync(realpathSync(library), join(image, library));
    }
  }

  /** Runs a file of the project as the first process of a container. */
  function inContainer({ tmp, root, user, env }: Container, file: string) {
    const enter = ['bash', join(image, 'enter.sh'), image, tmp, root, String(user), ...env];
    const unshare = ['unshare', '--mount', '--pid', '--fork', '--kill-child'];
    const command = [...unshare, ...enter, 'node', `/user/${file}`];
    return machine.run('/', command, { PATH: process.env.PATH });
  }

  test.each(Object.entries(CONTAINERS))('the check set passes: %s', async (_, container) => {
    expect(troublesIn(await inContainer(container, 'smoke.mjs'))).toEqual([]);
  });

  test('without a shell the error names those that were looked for', async () => {
    const script = `import { rmSync } from 'node:fs';
rmSync('/bin/sh');
rmSync('/bin/bash');
import('forkline').then(({ run }) => run('true')).catch((error) => console.log(error.message));`;
    writeFileSync(join(image, 'user/no-shell.mjs'), script);
    const { stdout, stderr } = await inContainer(USUAL, 'no-shell.mjs');
    expect(stdout, stderr).toMatch(/^ENOENT: cannot execute '\/bin\/bash' or '\/bin\/sh'/);
  });
});
