// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leavesNothingBehind } from '../support/leftovers.js';
import { skipFor } from '../support/needs.js';
import { describeForAll, makeScene, runAs, useScenes } from '../support/sandbox.js';

// Packages come by the proxy, from a registry of ours; what is tested with them comes from PyPI.
leavesNothingBehind();
const scenes = useScenes();
const files = new Map<string, Buffer | string>();
const asked: string[] = [];
let server: Server;
let pip: string | undefined;
let pytest: string | undefined;

/** An npm package whose program prints 42, and what a registry says of it. */
function addNpmPackage(folder: string, origin: string): void {
  const path = join(folder, 'package');
  mkdirSync(path);
  const described = { name: 'answer', version: '1.0.0', bin: { answer: 'answer.js' } };
  writeFileSync(join(path, 'package.json'), JSON.stringify(described));
  writeFileSync(join(path, 'answer.js'), '#!/usr/bin/env node\nconsole.log(42);\n', {
    mode: 0o755,
  });
  execFileSync('tar', ['-czf', 'answer.tgz', 'package'], { cwd: folder });
  const tarball = readFileSync(join(folder, 'answer.tgz'));
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const dist = { tarball: `${origin}/answer.tgz`, integrity };
  const versions = { '1.0.0': { ...described, dist } };
  files.set(
    '/answer',
    JSON.stringify({ name: 'answer', 'dist-tags': { latest: '1.0.0' }, versions }),
  );
  files.set('/answer.tgz', tarball);
}

/** Whatever pip there is, where any user finds it; undefined: none. */
function copyPip(folder: string): string | undefined {
  const where = 'import os, pip; print(os.path.dirname(pip.__file__))';
  const { status, stdout } = spawnSync('python3', ['-c', where], { encoding: 'utf8' });
  if (status !== 0) return undefined;
  execFileSync('cp', ['-r', stdout.trim(), join(folder, 'pip')]);
  return folder;
}

/** pytest and xdist, where any user finds them; undefined: PyPI can't be reached. */
function installPytest(folder: string): string | undefined {
  const args = ['-m', 'pip', 'install', '-q', '--target', folder, 'pytest', 'pytest-xdist'];
  const env = { ...process.env, PYTHONPATH: pip };
  const { status } = spawnSync('/usr/bin/python3', args, { timeout: 50_000, env });
  return status === 0 ? folder : undefined;
}

/** A wheel with a module whose value is 42, and the page of an index for it. */
function addWheel(folder: string): void {
  const name = 'answer-1.0.0-py3-none-any.whl';
  const code = `
import zipfile
info = 'answer-1.0.0.dist-info/'
with zipfile.ZipFile('${name}', 'w') as wheel:
    wheel.writestr('answer.py', 'value = 42')
    wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: answer\\nVersion: 1.0.0\\n')
    wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(info + 'RECORD', 'answer.py,,\\n' + ''.join(info + f + ',,\\n' for f in ('METADATA', 'WHEEL', 'RECORD')))`;
  execFileSync('python3', ['-c', code], { cwd: folder });
  files.set('/simple/answer/', `<a href="/${name}">${name}</a>`);
  files.set(`/${name}`, readFileSync(join(folder, name)));
}

beforeAll(async () => {
  server = createServer(({ url = '' }, answer) => {
    asked.push(url);
    const file = files.get(url);
    answer.statusCode = file === undefined ? 404 : 200;
    if (url.startsWith('/simple')) answer.setHeader('Content-Type', 'text/html');
    answer.end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = mkdtempSync(join(scenes.path, 'packages-'));
  addNpmPackage(folder, registry());
  addWheel(folder);
  pip = copyPip(folder);
  pytest = installPytest(join(folder, 'pytest'));
  execFileSync('chmod', ['-R', 'a+rX', folder]);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const registry = () => `http://localhost:${(server.address() as AddressInfo).port}`;

// What is meant by its own name is the host's loopback, not that of the sandbox.
const BY_PROXY = 'export NO_PROXY= no_proxy= npm_config_noproxy=';
const sandbox = { network: { allowedDomains: ['localhost'] } };

describeForAll('%s', (person) => {
  const ask = async (script: string) => {
    const { work } = makeScene(scenes.path, person);
    asked.length = 0;
    const command = `set -e; ${BY_PROXY}; ${script}`;
    return runAs(person, { home: join(work, '../home') }, command, { cwd: work, sandbox });
  };

  test('npm installs from its registry, and from the lock of that', async () => {
    const quiet = '--no-audit --no-fund --silent --no-update-notifier';
    const { text, result } = await ask(`echo '{"name":"x","version":"1.0.0"}' >package.json
      npm install ${quiet} --registry ${registry()} answer
      rm -r node_modules; npm ci ${quiet} --registry ${registry()}; npx --no answer`);
    expect({ text, outcome: result.outcome }).toEqual({
      text: '42\n',
      outcome: { kind: 'exited', exitCode: 0 },
    });
    expect(asked).toContain('/answer.tgz');
  });

  test('npm and git ask the proxy of the sandbox, whatever proxy their own settings name', async () => {
    const { work } = makeScene(scenes.path, person);
    const home = join(work, '../home');
    const nobody = 'http://127.0.0.1:9';
    const own = `proxy=${nobody}\nhttps-proxy=${nobody}\nfetch-retries=0\n`;
    writeFileSync(join(home, '.npmrc'), own);
    writeFileSync(join(home, '.gitconfig'), `[http]\nproxy = ${nobody}\n`);
    const command = `${BY_PROXY}; npm view --registry ${registry()} answer version
      git ls-remote ${registry()}/repository 2>/dev/null; git config a.greeting`;
    const env = {
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'a.greeting',
      GIT_CONFIG_VALUE_0: 'hello',
    };
    asked.length = 0;
    const { text } = await runAs(person, { home }, command, { cwd: work, sandbox, env });
    expect(text).toBe('1.0.0\nhello\n');
    expect(asked).toContain('/repository/info/refs?service=git-upload-pack');
  });

  test('programs do not check for newer versions of themselves, unless the caller wants it', async () => {
    const { work } = makeScene(scenes.path, person);
    const names = ['npm_config_update_notifier', 'NO_UPDATE_NOTIFIER', 'GH_NO_UPDATE_NOTIFIER'];
    const command = `printenv ${names.join(' ')}`;
    const told = async (more: object, env: object) => {
      const options = { cwd: work, sandbox: more, env };
      const without = Object.fromEntries(names.map((name) => [name, undefined]));
      const home = join(work, '../home');
      return (await runAs(person, { home }, command, options, without)).text;
    };
    expect(await told(sandbox, {})).toBe('false\n1\n1\n');
    expect(await told({}, { npm_config_update_notifier: 'true' })).toBe('true\n1\n1\n');
    expect(await told({ network: 'full' }, { NO_UPDATE_NOTIFIER: 'mine' })).toBe('mine\n');
  });

  test('pip installs from its index into an environment', async (context) => {
    if (pip === undefined) skipFor(context, 'pip is not installed');
    const { text, result } = await ask(`/usr/bin/python3 -m venv --without-pip env
      PYTHONPATH='${pip}' env/bin/python -m pip install -q --disable-pip-version-check \
        --index-url ${registry()}/simple answer
      env/bin/python -c 'import answer; print(answer.value)'`);
    expect({ text, outcome: result.outcome }).toEqual({
      text: '42\n',
      outcome: { kind: 'exited', exitCode: 0 },
    });
    expect(asked).toContain('/answer-1.0.0-py3-none-any.whl');
  });

  test('pytest distributes its tests to processes, which use pools of processes', async (context) => {
    if (pytest === undefined) skipFor(context, 'PyPI is out of reach');
    const { text, result } = await ask(`cat >test_pool.py <<'END'
import multiprocessing, os, pytest

@pytest.mark.parametrize('number', range(8))
def test_pool(number, tmp_path):
    with multiprocessing.Pool(2) as pool:
        assert pool.map(abs, [-number, number]) == [number, number]
    (tmp_path / 'file').write_text(os.environ['PYTEST_XDIST_WORKER'])
END
      PYTHONPATH='${pytest}' /usr/bin/python3 -m pytest -q -n 2 2>&1`);
    expect({ text, outcome: result.outcome }).toEqual({
      text: expect.stringMatching(/\n8 passed in /),
      outcome: { kind: 'exited', exitCode: 0 },
    });
  });
});
