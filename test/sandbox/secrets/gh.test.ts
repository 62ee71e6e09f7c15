import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { installed, where } from '../../support/needs.js';
import { makeScene, people, runAs, useScenes } from '../../support/sandbox.js';
import { type Asked, BY_PROXY, useServer } from './server.js';

// GitHub's own program, which is in Go, and a GitHub of ours that it takes for a company's.
leavesNothingBehind();
const scenes = useScenes();

const VALUE = 'ghp_0123456789abcdefABCDEF0123456789abcd';
const REPOSITORY = 'somebody/thing';
const API = '/api/v3';
/** With a dot behind: programs in Go ask no proxy for `localhost`, whatever they are told. */
const host = () => github.host.replace(':', '.:');

/** What has been uploaded to the release, once there is one. */
const assets: Buffer[] = [];

const github = useServer(scenes, (asked, answer) => {
  const { authorization = '' } = asked.headers;
  const basic = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString();
  const isKnown = [`token ${VALUE}`, `Bearer ${VALUE}`].includes(authorization);
  if (!isKnown && basic !== `x-access-token:${VALUE}`) {
    answer.statusCode = 401;
    answer.setHeader('WWW-Authenticate', 'Basic realm="GitHub"');
    tell(answer, { message: 'Bad credentials' });
  } else if (asked.url.startsWith(`/${REPOSITORY}.git/`)) serveFile(asked.url, answer);
  else {
    answer.setHeader('X-Oauth-Scopes', 'repo, read:org, gist');
    const found = asked.url === '/api/graphql' ? queried(asked) : resource(asked);
    if (found === undefined) answer.statusCode = 404;
    if (Buffer.isBuffer(found)) answer.end(found);
    else tell(answer, found ?? { message: 'Not Found' });
  }
});

function tell(answer: ServerResponse, what: object): void {
  answer.setHeader('Content-Type', 'application/json; charset=utf-8').end(JSON.stringify(what));
}

function serveFile(url: string, answer: ServerResponse): void {
  try {
    answer.end(readFileSync(join(scenes.path, new URL(url, 'http://a').pathname)));
  } catch {
    answer.statusCode = 404;
    answer.end();
  }
}

const release = () => {
  const url = `https://${host()}${API}/repos/${REPOSITORY}/releases/7`;
  const file = { name: 'data', url: `${url}/data`, state: 'uploaded', size: assets[0]?.length };
  const page = `https://${host()}/${REPOSITORY}/releases/v1.0.0`;
  const names = { id: 7, tag_name: 'v1.0.0', name: 'the first', html_url: page };
  return { ...names, url, upload_url: `${url}/assets{?name,label}`, assets: [file] };
};

/** By the paths of GitHub's API. */
function resource({ method, url, raw }: Asked): object | Buffer | undefined {
  const path = new URL(url, 'http://a').pathname.replace(API, '');
  const isChange = method !== 'GET' && method !== 'HEAD';
  const releases = `/repos/${REPOSITORY}/releases`;
  if (path === '/' || path === '') return {};
  if (path === '/user') return { login: 'somebody', echoed: `token ${VALUE}` };
  if (path === `${releases}/7/assets`) assets.push(raw);
  if (path === `${releases}/7/data`) return assets[0];
  if (path === releases && method === 'POST') return release();
  if (path.startsWith(releases) && (isChange || assets.length > 0)) return release();
  return undefined;
}

/** By what a query asks for: no more may be answered. */
function queried({ body }: Asked): object {
  const { query }: { query: string } = JSON.parse(body);
  const owner = { login: 'somebody' };
  const features = [...query.matchAll(/(\w+): *__type/g)].map(([, name]) => [name, { fields: [] }]);
  if (features.length > 0) return { data: Object.fromEntries(features) };
  if (query.includes('viewer{')) return { data: { viewer: owner } };
  if (query.includes('createIssue')) {
    const url = `https://${host()}/${REPOSITORY}/issues/1`;
    return { data: { createIssue: { issue: { id: 'I_1', url } } } };
  }
  // It looks for one that is not published yet beside the other, whichever comes first.
  if (query.includes('release(')) return { data: { repository: { release: null } } };
  if (query.includes('releases(')) {
    const node = { name: 'the first', tagName: 'v1.0.0', isDraft: false, isPrerelease: false };
    const dates = { createdAt: '2024-01-01T00:00:00Z', publishedAt: '2024-01-01T00:00:00Z' };
    const nodes = [{ ...node, isLatest: true, ...dates }];
    return { data: { repository: { releases: { nodes, pageInfo: { hasNextPage: false } } } } };
  }
  const repository = { id: 'R_1', name: 'thing', hasIssuesEnabled: true, description: 'A thing.' };
  return { data: { viewer: owner, repository: { ...repository, owner } } };
}

beforeAll(() => {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: scenes.path, stdio: 'ignore' });
  git('init', '-q', '--bare', `${REPOSITORY}.git`);
  git('init', '-q', 'source');
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  git('-C', 'source', ...author, 'commit', '-q', '--allow-empty', '-m', 'the first');
  git('-C', 'source', 'push', '-q', `../${REPOSITORY}.git`, 'HEAD:master');
  git('-C', `${REPOSITORY}.git`, 'update-server-info');
});

describe.each(people)('gh, by %s', where(installed('gh')), (person) => {
  const ask = async (command: string, files: Readonly<Record<string, Buffer>> = {}) => {
    const scene = makeScene(scenes.path, person);
    // Whoever is logged in himself has a token there, which is hidden.
    const own = join(scene.home, '.config/gh');
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, 'hosts.yml'), `${host()}:\n    oauth_token: ${VALUE}\n`);
    for (const [name, data] of Object.entries(files)) writeFileSync(join(scene.work, name), data);
    const secrets = { GH_ENTERPRISE_TOKEN: { value: VALUE, domains: ['localhost'] } };
    const options = { cwd: scene.work, sandbox: { secrets } };
    const trust = { NODE_EXTRA_CA_CERTS: github.trust, GH_HOST: host() };
    const script = `${BY_PROXY} { ${command}; } 2>&1`;
    const { text, result } = await runAs(person, scene, script, options, trust);
    expect(JSON.stringify(result)).not.toContain(VALUE);
    expect(result.sandbox?.denials).toEqual([]);
    return text;
  };
  const repository = () => `-R ${host()}/${REPOSITORY}`;

  test('asks the API, and is shown no token', async () => {
    const text = await ask('gh api user');
    expect(JSON.parse(text)).toEqual({
      login: 'somebody',
      echoed: expect.stringMatching(/^token ghp_StandIn\w{29}$/),
    });
    expect(github.asked.map(({ headers }) => headers.authorization)).toEqual([`token ${VALUE}`]);
  });

  test('says that it is logged in, and prints the stand-in as its token', async () => {
    const text = await ask('gh auth status; gh auth token -h "$GH_HOST"');
    expect(text).toMatch(/Logged in to localhost\.:\d+ .*\(GH_ENTERPRISE_TOKEN\)/);
    expect(text).toMatch(/^ghp_StandIn\w{29}$/m);
  });

  test('looks at a repository and its releases', async () => {
    const text = await ask(
      `gh repo view ${host()}/${REPOSITORY} --json name,description; gh release list ${repository()}`,
    );
    expect(text).toMatch(/^\{"description":"A thing.","name":"thing"\}\nthe first\tLatest\tv1.0.0/);
  });

  test('opens an issue', async () => {
    const text = await ask(`gh issue create ${repository()} --title 'A title' --body "no $RANDOM"`);
    expect(text).toContain(`https://${host()}/${REPOSITORY}/issues/1`);
  });

  test('makes a release with a file, which arrives as it is and comes back so', async () => {
    assets.length = 0;
    const data = randomBytes(300_000);
    const text = await ask(
      `gh release create v1.0.0 data --notes none --title 'the first' ${repository()} && ` +
        `mkdir back && cd back && gh release download v1.0.0 ${repository()} && sha256sum <data`,
      { data },
    );
    expect(text).toContain(`${createHash('sha256').update(data).digest('hex')}  -\n`);
    expect(assets[0]?.equals(data)).toBe(true);
  });

  test('gives git its token', async () => {
    // By libraries of C the dot would be part of the name that is certified.
    const text = await ask(
      `export GH_HOST=${github.host}; git -c credential.helper= -c credential.helper='!gh auth git-credential' ` +
        `clone -q https://$GH_HOST/${REPOSITORY}.git cloned; git -C cloned log --format=%s`,
    );
    expect(text).toBe('the first\n');
  });
});
