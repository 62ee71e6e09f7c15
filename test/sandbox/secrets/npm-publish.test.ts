import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { describeForAll, makeScene, runAs, useScenes } from '../../support/sandbox.js';
import { type Asked, BY_PROXY, useServer } from './server.js';

leavesNothingBehind();
const scenes = useScenes();

const VALUE = 'npm_0123456789abcdefABCDEF0123456789abcd';

/** What is said of a package, and the bytes of its tarball: as they were published. */
const described = new Map<string, object>();
const tarballs = new Map<string, Buffer>();

const registry = useServer(scenes, (asked, answer) => {
  const path = decodeURIComponent(asked.url);
  if (asked.headers.authorization !== `Bearer ${VALUE}`) {
    answer.statusCode = 401;
    tell(answer, { error: 'not logged in' });
  } else if (path === '/-/whoami') tell(answer, { username: 'somebody' });
  else if (asked.method === 'PUT') {
    keep(asked);
    answer.statusCode = 201;
    tell(answer, { ok: true, id: path });
  } else if (tarballs.has(path)) answer.end(tarballs.get(path));
  else if (described.has(path)) tell(answer, described.get(path) ?? {});
  else {
    answer.statusCode = 404;
    tell(answer, { error: 'not found' });
  }
});

function tell(answer: ServerResponse, what: object): void {
  answer.setHeader('Content-Type', 'application/json').end(JSON.stringify(what));
}

/** Takes what is published, as registries do. */
function keep({ url, body }: Asked): void {
  const { _attachments: attachments, ...rest } = JSON.parse(body);
  described.set(decodeURIComponent(url), rest);
  for (const version of Object.values<{ dist: { tarball: string } }>(rest.versions)) {
    const { pathname } = new URL(version.dist.tarball);
    const [attached] = Object.values<{ data: string }>(attachments);
    tarballs.set(decodeURIComponent(pathname), Buffer.from(attached?.data ?? '', 'base64'));
    version.dist.tarball = `https://${registry.host}${pathname}`;
  }
}

describeForAll('%s', (person) => {
  const project = (name: string) => {
    const scene = makeScene(scenes.path, person);
    // Whatever a package runs when it is published may look for the token.
    const scripts = {
      prepublishOnly: `(env; cat .npmrc /proc/*/environ /proc/*/cmdline 2>/dev/null) | tr '\\0' '\\n' >seen`,
    };
    const files = ['data', 'seen'];
    const publishConfig = { registry: `https://${registry.host}/` };
    const described = { name, version: '1.2.3', files, scripts, publishConfig };
    writeFileSync(join(scene.work, 'package.json'), JSON.stringify(described));
    const settings = `//${registry.host}/:_authToken=\${NPM_TOKEN}\n`;
    writeFileSync(join(scene.work, '.npmrc'), settings, { mode: 0o644 });
    const data = randomBytes(300_000);
    writeFileSync(join(scene.work, 'data'), data);
    const ask = async (command: string, more: object = {}) => {
      const secrets = { NPM_TOKEN: { value: VALUE, domains: ['localhost'], ...more } };
      const options = { cwd: scene.work, sandbox: { secrets } };
      const trust = { NODE_EXTRA_CA_CERTS: registry.trust };
      const said = await runAs(person, scene, `unset CI; ${BY_PROXY} ${command}`, options, trust);
      expect(JSON.stringify(said)).not.toContain(VALUE);
      return said;
    };
    return { data, ask, read: (file: string) => readFileSync(join(scene.work, file), 'utf8') };
  };

  test.each([
    ['it is', 'answer', {}],
    ['it is, with a scope', '@scope/answer', {}],
    ['it is, where secrets are put into bodies', 'answer-in-bodies', { body: true }],
  ])('npm publishes a package as %s, by a token it does not have', async (_, name, more) => {
    described.clear();
    const { data, ask, read } = project(name);
    const { text, result } = await ask('npm publish --access public 2>&1', more);
    expect({ text, outcome: result.outcome, sandbox: result.sandbox?.denials }).toEqual({
      text: expect.stringContaining(`+ ${name}@1.2.3`),
      outcome: { kind: 'exited', exitCode: 0 },
      sandbox: [],
    });
    expect(read('seen')).toMatch(/^NPM_TOKEN=npm_StandIn\w{29}$/m);
    expect(read('seen')).not.toContain(VALUE);

    const put = registry.asked.find(({ method }) => method === 'PUT');
    expect(put?.headers.authorization).toBe(`Bearer ${VALUE}`);
    expect(put?.body).not.toContain(VALUE);
    const { dist } = JSON.parse(put?.body ?? '').versions['1.2.3'];
    const tarball = tarballs.get(decodeURIComponent(new URL(dist.tarball).pathname)) ?? '';
    expect(dist.integrity).toBe(`sha512-${createHash('sha512').update(tarball).digest('base64')}`);

    const { text: back } = await project('another').ask(
      `npm install --no-audit --no-fund --silent --registry https://${registry.host} ${name} 2>&1; ` +
        `sha256sum <node_modules/${name}/data`,
    );
    expect(back).toBe(`${createHash('sha256').update(data).digest('hex')}  -\n`);
  });

  test('npm whoami works', async () => {
    const { text } = await project('answer').ask(
      `npm whoami --registry https://${registry.host} 2>&1`,
    );
    expect(text).toBe('somebody\n');
  });
});
