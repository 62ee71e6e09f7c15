import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';
import {
  as,
  describeForAll,
  give,
  makeScene,
  type Person,
  runAs,
  type Scene,
  useScenes,
} from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();

/** A home in which somebody outside puts other files in the places of hidden ones. */
function makeHome(person: Person, name = 'home'): Scene {
  const scene = makeScene(scenes.path, person);
  const home = join(scene.home, '..', name);
  if (name !== 'home') renameSync(scene.home, home);
  mkdirSync(`${home}/.config/gh`, { recursive: true });
  mkdirSync(`${home}/.config/tool`);
  mkdirSync(`${home}/other/deep`, { recursive: true });
  writeFileSync(`${home}/.config/gh/hosts.yml`, 'the secret key\n');
  writeFileSync(`${home}/.config/tool/settings`, 'before\n');
  writeFileSync(`${home}/.config/file`, 'in .config\n');
  writeFileSync(`${home}/.netrc`, 'the secret key\n');
  writeFileSync(`${home}/.gitconfig`, '[user]\n');
  writeFileSync(`${home}/other/file`, 'before\n');
  symlinkSync('/nowhere/at all', `${home}/dangling`);
  give(person, home);
  return { ...scene, home };
}

/** Makes each hidden file and directory of a home anew, most of them by rename. */
function replaceHidden(person: Person, { home }: Scene): void {
  writeFileSync(`${home}/new`, 'the secret key, rotated\n');
  give(person, `${home}/new`);
  renameSync(`${home}/new`, `${home}/.netrc`);
  renameSync(`${home}/.ssh`, `${home}/.ssh-old`);
  mkdirSync(`${home}/.ssh`);
  writeFileSync(`${home}/.ssh/id_rsa`, 'the secret key, rotated\n');
  rmSync(`${home}/.config/gh`, { recursive: true });
  mkdirSync(`${home}/.config/gh`);
  writeFileSync(`${home}/.config/gh/hosts.yml`, 'the secret key, rotated\n');
  // The first time.
  mkdirSync(`${home}/.aws`);
  writeFileSync(`${home}/.aws/credentials`, 'the secret key, new\n');
  writeFileSync(`${home}/.git-credentials`, 'the secret key, new\n');
  give(person, home);
}

const SECRETS = '.ssh/id_rsa .netrc .config/gh/hosts.yml .aws/credentials .git-credentials';

/** Runs a command that reads what is hidden over and over, while something else is done outside. */
async function readWhile(
  person: Person,
  scene: Scene,
  options: object,
  act: () => void,
  then = 'true',
): Promise<{ text: string; read: string | undefined }> {
  const host = startHost('commands', { under: as(person), env: { HOME: scene.home } });
  const mark = join(scene.outside, 'done');
  const command = `cd ~; touch ${scene.work}/ready; read=0
    until [ -e '${mark}' ] && [ $read -gt 3 ]; do
      cat ${SECRETS}; read=$((read + 1)); [ -e '${mark}' ] || read=0; sleep 0.02
    done 2>/dev/null | sort -u | head -n 5; ${then}`;
  const ended = host.run(command, { timeoutMs: 50_000, ...options });
  await eventually(() => expect(existsSync(`${scene.work}/ready`)).toBe(true));
  act();
  writeFileSync(mark, '');
  const { result, error } = await ended;
  host.child.stdin?.end();
  await host.ended;
  if (result?.output.kind !== 'complete') throw new Error(error?.message ?? 'too much output');
  return { text: result.output.text, read: result.sandbox?.enforced.read };
}

describeForAll('%s', (person) => {
  test.each(['home', "a home: with, odd\\ 'characters"])(
    'S3: files that the host puts in the place of hidden names are hidden, too, in %s',
    async (name) => {
      const scene = makeHome(person, name);
      const options = { cwd: scene.work, sandbox: 'workspace-write' };
      const then = `cat .gitconfig .config/file other/file .config/tool/settings; readlink dangling
        ls -A . .config; ls .ssh .aws .config/gh`;
      const { text, read } = await readWhile(
        person,
        scene,
        options,
        () => {
          replaceHidden(person, scene);
          for (const file of ['other/file', '.config/tool/settings']) {
            writeFileSync(`${scene.home}/new`, 'after\n');
            give(person, `${scene.home}/new`);
            renameSync(`${scene.home}/new`, `${scene.home}/${file}`);
          }
        },
        then,
      );
      expect(text).not.toMatch(/secret|id_rsa|hosts\.yml|^credentials/m);
      const rest = '[user]\nin .config\nafter\nafter\n/nowhere/at all\n';
      const entries = ['.config', '.gitconfig', '.netrc', '.ssh', 'dangling', 'other'];
      expect(text).toContain(`${rest}.:\n`);
      expect(text.slice(text.indexOf('.:\n')).split('\n')).toEqual(
        expect.arrayContaining([...entries, 'file', 'gh', 'tool']),
      );
      expect(text).not.toMatch(/^\.aws$|^\.git-credentials$/m);
      expect(read).toBe('namespace');
    },
  );

  test('S3: links on the way to a hidden file are protected like it', async () => {
    const scene = makeHome(person);
    const { home, outside } = scene;
    // As of those who keep their settings elsewhere, and of tokens that are rotated by a link.
    renameSync(`${home}/.config`, `${home}/settings`);
    symlinkSync('settings', `${home}/.config`);
    mkdirSync(`${outside}/first`);
    renameSync(`${home}/.netrc`, `${outside}/first/netrc`);
    symlinkSync('first', `${outside}/current`);
    symlinkSync(`${outside}/current/netrc`, `${home}/.netrc`);
    symlinkSync(home, `${home}-link`);
    give(person, home, outside);
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    const linked = { ...scene, home: `${home}-link` };
    const then = 'cat .config/file; ls -d .config/*';
    const act = () => {
      mkdirSync(`${home}/config/gh`, { recursive: true });
      writeFileSync(`${home}/config/gh/hosts.yml`, 'the secret key, rotated\n');
      give(person, home);
      rmSync(`${home}/.config`);
      renameSync(`${home}/config`, `${home}/.config`);
      writeFileSync(`${home}/new`, 'the secret key, rotated\n');
      give(person, home);
      renameSync(`${home}/new`, `${home}/.netrc`);
    };
    const { text, read } = await readWhile(person, linked, options, act, then);
    expect(text).toBe('in .config\n.config/file\n.config/gh\n.config/tool\n');
    expect(read).toBe('namespace');
  });

  test('S3: files beside hidden ones are seen as the host has them, replaced and new', async () => {
    const scene = makeHome(person);
    const { home, work } = scene;
    writeFileSync(`${home}/gone`, 'before\n');
    give(person, home);
    const host = startHost('commands', { under: as(person), env: { HOME: home } });
    const files = '.gitconfig .config/file gone later .config/later';
    const command = `cd ~; cat ${files} 2>/dev/null; touch ${work}/ready
      for i in $(seq 400); do
        [ "$(cat ${files} 2>/dev/null)" = "$(printf '1\\n2\\n3\\n4')" ] && break; sleep 0.02
      done; cat ${files} 2>&1`;
    const ended = host.run(command, { cwd: work, sandbox: 'workspace-write', timeoutMs: 50_000 });
    await eventually(() => expect(existsSync(`${work}/ready`)).toBe(true));
    rmSync(`${home}/gone`);
    for (const [index, file] of [
      '.gitconfig',
      '.config/file',
      'later',
      '.config/later',
    ].entries()) {
      writeFileSync(`${home}/other/new`, `${index + 1}\n`);
      give(person, `${home}/other/new`);
      renameSync(`${home}/other/new`, `${home}/${file}`);
    }
    const { result } = await ended;
    host.child.stdin?.end();
    await host.ended;
    expect(result?.output).toMatchObject({
      text: '[user]\nin .config\nbefore\n1\n2\ncat: gone: No such file or directory\n3\n4\n',
    });
    expect(result?.sandbox?.enforced.read).toBe('namespace');
  });

  test('S3: a hidden file elsewhere is hidden by its name', async () => {
    const scene = makeHome(person);
    const { outside } = scene;
    mkdirSync(`${outside}/tokens/other`, { recursive: true });
    writeFileSync(`${outside}/tokens/token`, 'the secret key\n');
    writeFileSync(`${outside}/tokens/other/file`, 'seen\n');
    give(person, outside);
    const token = `${outside}/tokens/token`;
    const options = {
      cwd: scene.work,
      sandbox: { filesystem: { denyRead: [token, `${outside}/tokens/later`] } },
    };
    const then = `cat ${token} ${outside}/tokens/later; cat ${outside}/tokens/other/file`;
    const act = () => {
      writeFileSync(`${outside}/tokens/new`, 'the secret key, rotated\n');
      give(person, outside);
      renameSync(`${outside}/tokens/new`, token);
      writeFileSync(`${outside}/tokens/later`, 'the secret key, new\n');
      give(person, outside);
    };
    const { text, read } = await readWhile(person, scene, options, act, then);
    expect(text).toMatch(/token: Permission denied\n.*later: No such file or directory\nseen\n$/);
    expect(read).toBe('namespace');
  });

  test('S3: allowRead below a hidden directory is visible, and so are files written below the home', async () => {
    const scene = makeHome(person);
    const { home } = scene;
    mkdirSync(`${home}/.ssh/shown`);
    mkdirSync(`${home}/.config/written`);
    writeFileSync(`${home}/.ssh/shown/file`, 'shown\n');
    give(person, home);
    const filesystem = {
      allowRead: ['~/.ssh/shown', '~/.config', '~'],
      allowWrite: ['~/.config/written', '~/other/deep', '~/.gitconfig'],
    };
    const command = `cd ~; cat .ssh/shown/file; cat .ssh/id_rsa .config/gh/hosts.yml
      for f in .config/written/a other/deep/b .gitconfig; do echo x > $f && cat $f; done
      touch new .config/new other/new .ssh/new .config/tool/new 2>&1 | grep -c 'Read-only\\|denied'`;
    const { text, result } = await runAs(person, scene, command, {
      cwd: scene.work,
      sandbox: { filesystem },
    });
    expect(text).toMatch(/^shown\n.*(denied|No such).*\n.*(denied|No such).*\nx\nx\nx\n5\n$/);
    expect(result.sandbox?.enforced.read).toBe('namespace');
    expect(readFileSync(`${home}/other/deep/b`, 'utf8')).toBe('x\n');
  });

  test('S3: hidden files in a writable directory are hidden one by one', async () => {
    const { home, work } = makeHome(person);
    for (const cwd of [home, work]) {
      writeFileSync(`${work}/.env`, 'the secret key\n');
      give(person, work);
      const denyRead = cwd === home ? undefined : ['.env'];
      const options = { cwd, sandbox: { filesystem: { denyRead } } };
      const { text, result } = await runAs(person, { home }, 'cat .env .netrc', options);
      expect(text).toMatch(/Permission denied\n/);
      expect(result.sandbox?.enforced.read).toBe('mount');
    }
  });

  test('S3: git finds a repository from a subdirectory, also where a file in it is hidden', async () => {
    const scene = makeHome(person);
    const { work } = scene;
    mkdirSync(`${work}/src`);
    writeFileSync(`${work}/.env`, 'the secret key\n');
    give(person, work);
    const sandbox = { mode: 'read-only', filesystem: { denyRead: [`${work}/.env`] } };
    const command = 'git rev-parse --show-toplevel; cat ../.env';
    const { text, result } = await runAs(person, scene, command, { cwd: `${work}/src`, sandbox });
    expect(text).toMatch(new RegExp(`^${work}\n.*Permission denied\n$`));
    expect(result.sandbox?.enforced.read).toBe('namespace');
  });
});
