import { existsSync, linkSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { publicSshFiles } from '../../../src/sandbox/keys/public-files.js';
import { startHost } from '../../support/hosts.js';
import { leavesNothingBehind, useFolders } from '../../support/leftovers.js';
import {
  as,
  describeForAll,
  give,
  makeScene,
  type Person,
  type Scene,
  useScenes,
} from '../../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();
const newFolder = useFolders();
const PRIVATE = '-----BEGIN OPENSSH PRIVATE KEY-----\nthe secret key\n';

/** Writes files, and gives the whole home to its owner. */
function write(person: Person, home: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(home, name, '..'), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  give(person, home);
}

/** Runs commands one after another in one host, with something done before each; what each printed. */
async function said(
  person: Person,
  scene: Scene,
  steps: readonly (readonly [before: () => void, command: string, options?: object])[],
): Promise<string[]> {
  const host = startHost('commands', { under: as(person), env: { HOME: scene.home } });
  const texts: string[] = [];
  for (const [before, command, options] of steps) {
    before();
    const given = { cwd: scene.work, sandbox: 'workspace-write', ...options };
    const { result, error } = await host.run(`(${command}) 2>&1`, given);
    texts.push(error?.message ?? (result?.output.kind === 'complete' ? result.output.text : ''));
  }
  host.child.stdin?.end();
  await host.ended;
  return texts;
}

const nothing = () => {};

const PUBLIC = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA me';
const PUTTY = 'PuTTY-User-Key-File-3: ssh-ed25519\nPublic-Lines: 1\nAAAA\nPrivate-Lines: 1\nAAAA\n';

test.each([
  ['key.pub', `${PUBLIC}\n`, true],
  ['key.pub', `# mine\r\n\r\n${PUBLIC}\r\n`, true],
  ['key.pub', 'ssh-ed25519-cert-v01@openssh.com AAAAIHNzaA== me\n', true],
  ['key.pub', 'sk-ssh-ed25519@openssh.com AAAAGnNr me\n', true],
  ['key.pub', '---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n---- END SSH2 PUBLIC KEY ----\n', true],
  ['key.pub', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n', true],
  ['key.pub', PUTTY, false],
  ['config', PUTTY, false],
  ['key.pub', `${PUBLIC}\n${PRIVATE}`, false],
  ['key.pub', '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nAAAA\n', false],
  ['key.pub', '-----BEGIN PGP PRIVATE KEY BLOCK-----\n', false],
  ['known_hosts', 'b3BlbnNzaC1rZXktdjEAAAAABG5vbmU\n', false],
  ['key.pub', '{"kty":"OKP","d":"the secret"}\n', false],
  ['key.pub', 'AGE-SECRET-KEY-1QQQ\n', false],
  ['config', 'Host x\n  IdentityFile ~/.ssh/key\n', true],
])('%s with %j is shown: %s', (name, text, isShown) => {
  const home = newFolder();
  const path = join(home, '.ssh', name);
  mkdirSync(join(home, '.ssh'));
  writeFileSync(path, text);
  expect(publicSshFiles(home)).toEqual(isShown ? [path] : []);
});

describeForAll('%s', (person) => {
  test('U10: ~/.ssh shows servers and public keys, and nothing else', async () => {
    const scene = makeScene(scenes.path, person);
    const { home } = scene;
    write(person, home, {
      '.ssh/known_hosts': 'known\n',
      '.ssh/config': 'Host x\n',
      '.ssh/id_ed25519': PRIVATE,
      '.ssh/id_ed25519.pub': 'ssh-ed25519 AAAA me\n',
      '.ssh/authorized_keys': 'who may log in\n',
      '.ssh/trick.pub': PRIVATE,
      '.ssh/agent/s.x': 'in the place of a socket\n',
    });
    linkSync(join(home, '.ssh/id_ed25519'), join(home, '.ssh/second.pub'));
    symlinkSync('id_ed25519', join(home, '.ssh/link.pub'));
    const look = `cd ~/.ssh; ls -A; cat known_hosts config id_ed25519.pub; cat id_ed25519 trick.pub
      cat second.pub link.pub agent/s.x; echo x >>known_hosts; echo x >new`;
    const later = () => {
      write(person, home, { '.ssh/later.pub': 'ssh-rsa AAAAB3 later\n', '.ssh/id_later': PRIVATE });
      // As ssh does when a server has new keys.
      write(person, home, { '.ssh/known_hosts.new': 'known anew\n' });
      renameSync(join(home, '.ssh/known_hosts.new'), join(home, '.ssh/known_hosts'));
    };
    const [first, second] = await said(person, scene, [
      [nothing, look],
      [later, 'cd ~/.ssh; ls -A; cat known_hosts later.pub id_later'],
    ]);
    expect(first).toMatch(
      /^config\nid_ed25519\.pub\nknown_hosts\nknown\nHost x\nssh-ed25519 AAAA me\n/,
    );
    expect(first).not.toMatch(/secret|who may log in|in the place/);
    expect(second).toMatch(
      /^config\nid_ed25519\.pub\nknown_hosts\nlater\.pub\nknown anew\nssh-rsa AAAAB3 later\n/,
    );
    expect(second).not.toContain('secret');
  });

  test('what the policy hides itself is hidden whole', async () => {
    const scene = makeScene(scenes.path, person);
    write(person, scene.home, { '.ssh/known_hosts': 'known\n', '.docker/config.json': '{}' });
    const sandbox = { filesystem: { denyRead: ['~/.ssh', '~/.docker'] } };
    const [text] = await said(person, scene, [
      [nothing, 'cat ~/.ssh/known_hosts ~/.docker/config.json', { sandbox }],
    ]);
    expect(text).not.toContain('known\n');
    expect(text).not.toContain('{}');
  });

  test('U10: ~/.docker shows plug-ins and settings, and no credentials', async () => {
    const scene = makeScene(scenes.path, person);
    const config = {
      auths: { 'registry.example': { auth: 'dGhlIHNlY3JldA==' } },
      credsStore: 'pass',
      credHelpers: { other: 'helper' },
      HttpHeaders: { Authorization: 'the secret' },
      proxies: { default: { httpProxy: 'http://me:secret@proxy' } },
      currentContext: 'mine',
    };
    write(person, scene.home, {
      '.docker/config.json': JSON.stringify(config),
      '.docker/key.pem': 'the secret\n',
      '.docker/contexts/tls/a/key.pem': 'the secret\n',
      '.docker/tls/key.pem': 'the secret\n',
      '.docker/config.json.bak': JSON.stringify(config),
      '.docker/config.json3141592': JSON.stringify(config),
      '.docker/buildx/certs/key.pem': 'the secret\n',
      '.docker/contexts/meta/a/meta.json': 'a context\n',
      '.docker/cli-plugins/docker-compose': 'a plug-in\n',
    });
    const look = `cd ~/.docker; cat cli-plugins/docker-compose contexts/meta/a/meta.json config.json
      cat key.pem contexts/tls/a/key.pem tls/key.pem config.json.bak config.json3* buildx/certs/key.pem
      grep -r . ~/.docker; echo x >config.json; echo x >cli-plugins/new; echo x >new`;
    const [text] = await said(person, scene, [[nothing, look]]);
    expect(text).toMatch(/^a plug-in\na context\n\{\n {2}"currentContext": "mine"\n\}\n/);
    expect(text).not.toMatch(/secret|c2Vj|auths|creds/i);
    const replace = () => {
      write(person, scene.home, { '.docker/new': JSON.stringify({ auths: 'the secret, new' }) });
      renameSync(join(scene.home, '.docker/new'), join(scene.home, '.docker/config.json'));
    };
    const [after] = await said(person, scene, [[replace, 'cat ~/.docker/config.json']]);
    expect(after).toBe('{}\n');
    const written = ['cli-plugins/new', 'new'].map((name) => join(scene.home, '.docker', name));
    expect(written.filter((path) => existsSync(path))).toEqual([]);
  });

  test('a config.json of docker that is no JSON is hidden', async () => {
    const scene = makeScene(scenes.path, person);
    write(person, scene.home, { '.docker/config.json': '{"auths": "the secret"' });
    const [text] = await said(person, scene, [[nothing, 'cat ~/.docker/config.json']]);
    expect(text).not.toContain('secret');
  });

  test('a home that is the workspace: a command makes ~/.ssh and ~/.docker first', async () => {
    const scene = makeScene(scenes.path, person);
    const { home, outside } = scene;
    write(person, outside, { 'keys/config': 'the secret of others\n' });
    const options = { cwd: home, sandbox: { filesystem: { denyRead: [outside] } } };
    const usual = { cwd: home, sandbox: 'workspace-write' };
    const [, made, shown] = await said(person, { ...scene, work: home }, [
      [nothing, 'true', options],
      [
        nothing,
        `ln -s '${outside}/keys' .ssh; mkdir .docker; ln -s ../.ssh/config .docker/config.json; cat .ssh/config`,
        options,
      ],
      [nothing, 'cat .docker/config.json; ls -A .ssh/', usual],
    ]);
    expect(made).not.toContain('secret');
    expect(shown).not.toContain('secret');
  });
});
