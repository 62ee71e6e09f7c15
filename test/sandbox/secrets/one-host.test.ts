import { describe, expect, test } from 'vitest';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { makeScene, people, runAs, useScenes } from '../../support/sandbox.js';
import { saying } from './say.js';
import { useServer } from './server.js';

leavesNothingBehind();
const scenes = useScenes();

const VALUE = 'ghp_0123456789abcdefABCDEF0123456789abcd';
const server = useServer(scenes, ({ url }, answer) => answer.end(`asked for ${url}`));

// The proxy is the host's: whoever asks is the same to it.
describe.each(people.slice(-1))('within TLS that the proxy ends, %s', (person) => {
  const say = async (bytes: string, network?: object) => {
    const scene = makeScene(scenes.path, person);
    const secrets = { TOKEN: { value: VALUE, domains: ['localhost'] } };
    const command = saying(server.host, bytes.replaceAll('HERE', server.host));
    const options = { cwd: scene.work, sandbox: { secrets, ...(network && { network }) } };
    return runAs(person, scene, command, options, { NODE_EXTRA_CA_CERTS: server.trust });
  };
  const head = 'Host: HERE\r\nAuthorization: $TOKEN\r\nConnection: close\r\n\r\n';
  const denial = (target: string, rule: string) => [
    { kind: 'connect', target, rule, source: 'proxy' },
  ];

  test.each([
    ['http://other.example/x', 'other.example', 'allowedDomains'],
    ['https://other.example/x', 'other.example', 'allowedDomains'],
    ['https://OTHER.example.:443?x', 'other.example', 'allowedDomains'],
    ['https://HERE@other.example/x', 'other.example', 'allowedDomains'],
    ['https://other.example@HERE/x', 'localhost', 'secrets'],
    ['https://a:b@HERE/x', 'localhost', 'secrets'],
    ['https://denied.example/x', 'denied.example', 'deniedDomains'],
    ['https://allowed.example/x', 'localhost', 'secrets'],
    ['http://HERE/x', 'localhost', 'secrets'],
    ['ftp://HERE/x', 'localhost', 'secrets'],
    ['https://localhost/x', 'localhost', 'secrets'],
    ['https://localhost:1/x', 'localhost', 'secrets'],
    ['https:///x', 'localhost', 'secrets'],
    ['https://[::1]/x', '::1', 'allowedDomains'],
    ['*', 'localhost', 'secrets'],
  ])('S7: a request for %s is not forwarded, and is denied', async (target, host, rule) => {
    const network = {
      allowedDomains: ['*.example'],
      deniedDomains: ['denied.example'],
    };
    const policy = rule === 'allowedDomains' ? { allowedDomains: ['a.example'] } : network;
    const { text, result } = await say(`GET ${target} HTTP/1.1\r\n${head}`, policy);
    expect(text).toMatch(
      /^HTTP\/1\.1 403 .*within TLS to localhost the sandbox sends on requests to that host alone\n/s,
    );
    expect(result.sandbox?.denials).toEqual(denial(host, rule));
    expect(server.asked).toEqual([]);
  });

  test.each(['other.example:443', 'HERE'])('S7: no tunnel inside, to %s', async (target) => {
    const { text, result } = await say(`CONNECT ${target} HTTP/1.1\r\n${head}`);
    expect(text).toMatch(/^HTTP\/1\.1 403 /);
    const expected =
      target === 'HERE'
        ? denial('localhost', 'secrets')
        : denial('other.example', 'allowedDomains');
    expect(result.sandbox?.denials).toEqual(expected);
    expect(server.asked).toEqual([]);
  });

  test('S7: a change of protocol for another host is not forwarded', async () => {
    const bytes = `GET https://other.example/ HTTP/1.1\r\nUpgrade: a\r\n${head.replace('close', 'Upgrade')}`;
    const { text, result } = await say(bytes);
    expect(text).toMatch(/^HTTP\/1\.1 403 /);
    expect(result.sandbox?.denials).toEqual(denial('other.example', 'allowedDomains'));
    expect(server.asked).toEqual([]);
  });

  test.each([
    ['https://HERE/x?a=$TOKEN#b', `/x?a=${VALUE}`],
    ['HTTPS://HERE', '/'],
    ['https://HERE?a', '/?a'],
    ['https://HERE//other.example/..', '//other.example/..'],
    ['//other.example/x', '//other.example/x'],
    ['/http://other.example/', '/http://other.example/'],
  ])('S7: a request for %s is one for this host, by its path', async (target, path) => {
    const { text, result } = await say(`GET ${target} HTTP/1.1\r\n${head}`);
    expect(server.asked).toMatchObject([
      { url: path, headers: { host: server.host, authorization: VALUE } },
    ]);
    expect(text).toContain('200 OK');
    expect(text).not.toContain(VALUE);
    expect(result.sandbox?.denials).toEqual([]);
  });

  test.each([
    ['another name', 'Host: other.example'],
    ['two', 'Host: HERE\r\nHost: other.example'],
    ['a user', 'Host: a@other.example'],
    ['another port', 'Host: localhost:1'],
    ['capital letters and a dot', 'HOST: LOCALHOST.'],
    ['what Connection is to hide', 'Host: other.example\r\nConnection: Host'],
    ['a line that goes on', 'Host: HERE\r\nX-A: b\r\n Host: other.example'],
  ])('S7: the host is that of the tunnel, whatever the header says: %s', async (_, header) => {
    await say(`GET /x HTTP/1.1\r\n${header}\r\nConnection: close\r\n\r\n`);
    for (const { headers } of server.asked) expect(headers.host).toBe(server.host);
    expect(server.asked.length).toBeLessThan(2);
  });

  test('S7: other headers with host names are forwarded', async () => {
    const names = ['X-Forwarded-Host', 'Forwarded', 'X-HTTP-Host-Override'];
    const lines = names.map((name) => `${name}: other.example\r\n`).join('');
    await say(`GET /x HTTP/1.1\r\n${lines}${head}`);
    expect(server.asked).toMatchObject([{ headers: { 'x-forwarded-host': 'other.example' } }]);
  });

  test.each([
    ['a name of HTTP/2', 'GET /x HTTP/1.1\r\n:authority: other.example\r\nHost: HERE\r\n\r\n'],
    ['a blank behind its name', 'GET /x HTTP/1.1\r\nHost : other.example\r\nHost: HERE\r\n\r\n'],
    ['no path', 'GET other.example HTTP/1.1\r\nHost: HERE\r\n\r\n'],
  ])('S7: an ambiguous request is not forwarded: %s', async (_, bytes) => {
    await say(bytes);
    expect(server.asked).toEqual([]);
  });

  test('S7: each of several simultaneous requests is checked, and no trailer is forwarded', async () => {
    const body = '3\r\na=b\r\n0\r\nHost: other.example\r\nX-Key: $TOKEN\r\n\r\n';
    const first = `POST /one HTTP/1.1\r\nHost: HERE\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;
    const { text, result } = await say(
      `${first}GET /two HTTP/1.1\r\nHost: HERE\r\n\r\nGET https://other.example/three HTTP/1.1\r\n${head}`,
    );
    expect(text).toMatch(/asked for \/one.*asked for \/two.*HTTP\/1\.1 403 /s);
    expect(server.asked).toMatchObject([{ url: '/one', body: 'a=b' }, { url: '/two' }]);
    expect(JSON.stringify(server.asked)).not.toContain(VALUE);
    expect(result.sandbox?.denials).toEqual(denial('other.example', 'allowedDomains'));
  });
});
