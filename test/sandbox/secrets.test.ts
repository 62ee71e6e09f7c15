import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Authority } from '../../src/sandbox/secrets/authority.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { describeForAll, makeScene, runAs, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();

const VALUE = 'ghp_0123456789abcdefABCDEF0123456789abcd';
/** Shorter than any stand-in, and with what is written otherwise in URLs and JSON. */
const SHORT = 'p"w/\\+ =&x';

/** What a server was asked: the parts in which a secret may be. */
interface Asked {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly authorization: string | undefined;
  readonly key: unknown;
  readonly body: string;
}

const asked: Asked[] = [];
const authority = new Authority();
let server: Server;
let stranger: Server;
const portOf = (of: Server) => (of.address() as AddressInfo).port;

/** Answers with all that it was asked, by its path packed or as files of a directory. */
function makeServer(identity: { key: string; cert: string }): Server {
  const made = createServer(identity, (request, answer) => {
    const { method, url, headers } = request;
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const { authorization } = headers;
      asked.push({ method, url, authorization, key: headers['x-key'], body });
      if (url?.startsWith('/repo/')) return serveFile(url, answer);
      if (url === '/-/whoami') return void answer.end(JSON.stringify({ username: authorization }));
      const all = JSON.stringify({ url, headers, body });
      answer.setHeader('X-Echo', authorization ?? '');
      if (url === '/gzip') {
        answer.setHeader('Content-Encoding', 'gzip').end(gzipSync(all));
      } else if (url === '/br' && headers['accept-encoding']?.includes('br')) {
        answer.setHeader('Content-Encoding', 'br').end(brotliCompressSync(all));
      } else if (url === '/pieces') {
        for (const char of all) answer.write(char);
        answer.end();
      } else answer.setHeader('Content-Length', Buffer.byteLength(all)).end(all);
    });
  });
  made.on('upgrade', (request, socket) => {
    const { method, url, headers } = request;
    asked.push({ method, url, authorization: headers.authorization, key: '', body: '' });
    socket.write('HTTP/1.1 101 Yes\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    socket.on('error', () => {}).pipe(socket);
  });
  return made;
}

function serveFile(url: string, answer: { statusCode: number; end(data?: Buffer): void }): void {
  const path = join(scenes.path, new URL(url, 'http://a').pathname);
  try {
    answer.end(readFileSync(path));
  } catch {
    answer.statusCode = 404;
    answer.end();
  }
}

beforeAll(async () => {
  server = makeServer(authority.certify('localhost'));
  stranger = makeServer(new Authority().certify('localhost'));
  for (const one of [server, stranger]) {
    await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  }
  const file = join(scenes.path, 'ca.pem');
  writeFileSync(file, authority.certificate);
  chmodSync(scenes.path, 0o755);
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: scenes.path, stdio: 'ignore' });
  git('init', '-q', '--bare', 'repo');
  git('init', '-q', 'source');
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  git('-C', 'source', ...author, 'commit', '-q', '--allow-empty', '-m', 'the first');
  git('-C', 'source', 'push', '-q', '../repo', 'HEAD:master');
  git('-C', 'repo', 'update-server-info');
});
afterAll(() => {
  for (const one of [server, stranger]) {
    one.closeAllConnections();
    one.close();
  }
});

/** Its own loopback is the sandbox's: what is meant here is the host's. */
const BY_PROXY = 'export NO_PROXY= no_proxy= npm_config_noproxy=;';

describeForAll('%s', (person) => {
  const ask = async (command: string, secrets: object = {}, more: object = {}) => {
    const scene = makeScene(scenes.path, person);
    asked.length = 0;
    const all = { TOKEN: { value: VALUE, domains: ['localhost'] }, ...secrets };
    const sandbox = { secrets: all, ...more };
    const said = await runAs(
      person,
      scene,
      `${BY_PROXY} ${command}`,
      { cwd: scene.work, sandbox },
      { NODE_EXTRA_CA_CERTS: join(scenes.path, 'ca.pem') },
    );
    expect(JSON.stringify(said)).not.toContain(VALUE);
    return said;
  };
  const url = (path: string) => `https://localhost:${portOf(server)}${path}`;

  test('a command has a stand-in of the same form, and nowhere the value', async () => {
    const { text } = await ask(
      `echo "$TOKEN $OTHER"; env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; cat "$SSL_CERT_FILE" | grep -c BEGIN`,
      {},
    );
    expect(text).toMatch(/^ghp_[A-Za-z\d]{36} /);
  });

  test('a variable of another name with the same value has the stand-in, too', async () => {
    const scene = makeScene(scenes.path, person);
    const sandbox = { secrets: { TOKEN: { value: VALUE, domains: ['localhost'] } } };
    const options = { cwd: scene.work, sandbox, env: { OTHER: `Bearer ${VALUE}` } };
    const { text } = await runAs(person, scene, 'echo "$OTHER"; echo "Bearer $TOKEN"', options);
    const [one, other] = text.split('\n');
    expect(one).toBe(other);
    expect(text).not.toContain(VALUE);
  });

  test.each([
    [
      'in a header',
      `curl -sS -H "Authorization: Bearer $TOKEN"`,
      { authorization: `Bearer ${VALUE}` },
    ],
    ['in any header', `curl -sS -H "X-Key: $TOKEN"`, { key: VALUE }],
    [
      'as a password',
      `curl -sS -u "me:$TOKEN"`,
      { authorization: `Basic ${Buffer.from(`me:${VALUE}`).toString('base64')}` },
    ],
    ['by SOCKS', `curl -sS -x "$ALL_PROXY" -H "X-Key: $TOKEN"`, { key: VALUE }],
    [
      'by python',
      `/usr/bin/python3 -c "
import os, sys, urllib.request as u
print(u.urlopen(u.Request(sys.argv[1], headers={'X-Key': os.environ['TOKEN']})).read().decode())"`,
      { key: VALUE },
    ],
    [
      'by node',
      `node -e "
const { request } = require('http'), { get } = require('https'), url = new URL(process.argv[1]);
request({ port: 3128, method: 'CONNECT', path: url.host }).on('connect', (_, socket) => {
  get(url, { headers: { 'X-Key': process.env.TOKEN }, socket, agent: false, createConnection: (options) => require('tls').connect({ ...options, socket }) },
    (answer) => answer.pipe(process.stdout));
}).end()"`,
      { key: VALUE },
    ],
  ])('a secret reaches its domain %s, and is not in the answer', async (_, program, expected) => {
    const { text, result } = await ask(`${program} ${url('/echo')}`);
    expect(asked).toMatchObject([expected]);
    const echoed = text.match(/ghp_[A-Za-z\d]{36}|Basic [\w+/]+=*/g) ?? [];
    expect(echoed.length).toBeGreaterThan(0);
    expect(text).not.toContain(Buffer.from(`me:${VALUE}`).toString('base64').slice(4, -4));
    expect(result.sandbox?.denials).toEqual([]);
  });

  test('a secret is inserted into the query, encoded for a URL', async () => {
    await ask(`curl -sS "${url('/q')}?a=$TOKEN&b=$SHORT"`, {
      SHORT: { value: SHORT, domains: ['localhost'] },
    });
    expect(asked[0]?.url).toBe(`/q?a=${VALUE}&b=${encodeURIComponent(SHORT)}`);
  });

  test('a secret is inserted into a body only where its option says so', async () => {
    const SECRETS = {
      BODY: { value: SHORT, domains: ['localhost'], body: true },
    };
    const { text } = await ask(
      `for type in json x-www-form-urlencoded; do curl -sS -H "Content-Type: application/$type" ` +
        `-d "$BODY $TOKEN" ${url('/b')}; done; printf %s "$TOKEN"`,
      SECRETS,
    );
    const standIn = text.slice(-40);
    expect(asked[0]?.body).toBe(`${JSON.stringify(SHORT).slice(1, -1)} ${standIn}`);
    expect(asked[1]?.body).toBe(`${encodeURIComponent(SHORT)} ${standIn}`);
  });

  test.each(['/gzip', '/br', '/pieces'])('an answer shows no value, sent as %s', async (path) => {
    const { text } = await ask(`curl -sSi --compressed -H "Authorization: $TOKEN" ${url(path)}`);
    expect(text.match(/ghp_[A-Za-z\d]{36}/g)?.length).toBe(2);
    expect(asked[0]?.authorization).toBe(VALUE);
  });

  test('git clones by https with a secret as the password', async () => {
    const { text } = await ask(
      `git clone -q https://me:$TOKEN@localhost:${portOf(server)}/repo cloned && git -C cloned log --format=%s`,
    );
    expect(text).toBe('the first\n');
  });

  test('npm uses a secret for a registry', async () => {
    // Without a package here npm would read the settings of one above. A new .npmrc here would be held back.
    const { text } = await ask(
      `echo '{}' >package.json; echo '//localhost:${portOf(server)}/:_authToken=\${TOKEN}' >/tmp/npmrc; npm_config_userconfig=/tmp/npmrc npm whoami --registry ${url('/')} 2>&1`,
    );
    expect(asked[0]?.authorization).toBe(`Bearer ${VALUE}`);
    expect(text).toMatch(/^Bearer ghp_/);
  });

  test('a connection that switches to another protocol passes', async () => {
    const { text } = await ask(
      `/usr/bin/python3 -c "
import os, socket, ssl
s = socket.create_connection(('127.0.0.1', 3128))
s.sendall(b'CONNECT localhost:${portOf(server)} HTTP/1.1\\r\\n\\r\\n')
s.recv(4096)
s = ssl.create_default_context().wrap_socket(s, server_hostname='localhost')
s.sendall(f'GET /up HTTP/1.1\\r\\nHost: a\\r\\nConnection: Upgrade\\r\\nUpgrade: echo\\r\\nAuthorization: {os.environ[\\"TOKEN\\"]}\\r\\n\\r\\n'.encode())
s.recv(4096)
s.sendall(b'over and back')
print(s.recv(4096).decode())"`,
    );
    expect(text).toBe('over and back\n');
    expect(asked[0]?.authorization).toBe(VALUE);
  });

  test('another domain gets only the stand-in, and its TLS is not terminated', async () => {
    const other = { network: { allowedDomains: ['127.0.0.1'] } };
    const { text } = await ask(
      `curl -sSk -H "X-Key: $TOKEN" https://127.0.0.1:${portOf(server)}/other -w '%{ssl_verify_result}'; ` +
        `echo "$TOKEN"`,
      {},
      other,
    );
    const standIn = text.trim().slice(-40);
    expect(asked).toMatchObject([{ url: '/other', key: standIn }]);
  });

  test('without TLS a secret is not sent, which is reported', async () => {
    const { text, result } = await ask(
      `curl -sS -H "X-Key: $TOKEN" http://localhost:${portOf(server)}/plain`,
    );
    expect(text).toBe('the sandbox sends TOKEN to localhost by https alone\n');
    const denial = { kind: 'connect', target: 'localhost', rule: 'secrets', source: 'proxy' };
    expect(result.sandbox?.denials).toEqual([denial]);
    expect(asked).toEqual([]);
  });

  test('a program with certificates of its own fails, which is reported', async () => {
    const { text, result } = await ask(
      `curl -sS --cacert ${join(scenes.path, 'ca.pem')} -H "X-Key: $TOKEN" ${url('/pinned')} 2>&1`,
    );
    expect(text).toContain('SSL certificate problem');
    expect(result.sandbox?.denials).toMatchObject([{ target: 'localhost', rule: 'secrets' }]);
    expect(asked).toEqual([]);
  });

  test('a server without a certificate for its name gets no secret', async () => {
    const { text } = await ask(
      `curl -sSk -H "X-Key: $TOKEN" https://localhost:${portOf(stranger)}/stranger`,
    );
    expect(text).toMatch(/^localhost:\d+ has broken off: .*certificate/);
    expect(asked).toEqual([]);
  });

  test('without a directory for certificates a sandbox is refused, with the reason', async () => {
    const scene = makeScene(scenes.path, person);
    const sandbox = { secrets: { TOKEN: { value: VALUE, domains: ['localhost'] } } };
    const nowhere = { TMPDIR: '/nowhere' };
    const run = runAs(person, scene, 'true', { cwd: scene.work, sandbox }, nowhere);
    await expect(run).rejects.toMatchObject({
      step: 'sandbox',
      message:
        'ENOENT: cannot write the certificates for sandbox.secrets: /nowhere: no such directory (TMPDIR)',
    });
  });
});
