import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MergedResult } from '../../src/index.js';
import { type DomainRules, denyingRule, locate } from '../../src/sandbox/proxy/domains.js';
import { canonicalHost } from '../../src/sandbox/proxy/hosts.js';
import { runHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { fc } from '../support/properties.js';
import { describeForAll, makeScene, people, runAs, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();
let server: Server;
let port = 0;
beforeAll(async () => {
  server = createServer((asked, answer) => {
    asked.setEncoding('utf8');
    let body = '';
    asked.on('data', (chunk) => {
      body += chunk;
    });
    asked.on('end', () => answer.end(`${asked.method} ${asked.url} ${body}\n`));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Its own loopback is the sandbox's: what is meant here is the host's. */
const CURL = `curl -sS --noproxy ''`;

describeForAll('%s', (person) => {
  const ask = (command: string, network: object) => {
    const scene = makeScene(scenes.path, person);
    return runAs(person, scene, command, { cwd: scene.work, sandbox: { network } });
  };

  test.each([
    ['http', (to: string) => `${CURL} -d body ${to}/a`, 'POST /a body'],
    ['CONNECT', (to: string) => `${CURL} -p ${to}/b`, 'GET /b '],
    ['SOCKS', (to: string) => `${CURL} -x "$ALL_PROXY" ${to}/c`, 'GET /c '],
    [
      'several requests of one connection',
      (to: string) => `${CURL} ${to}/d ${to}/e`,
      'GET /d \nGET /e ',
    ],
    [
      'python',
      (to: string) => `NO_PROXY= no_proxy= /usr/bin/python3 -c "
import urllib.request
print(urllib.request.urlopen('${to}/f').read().decode(), end='')"`,
      'GET /f ',
    ],
  ])('a host that is allowed is reached by %s', async (_, command, expected) => {
    const network = { allowedDomains: ['localhost'] };
    const { text, result } = await ask(command(`http://localhost:${port}`), network);
    expect(text).toBe(`${expected}\n`);
    expect(result.sandbox).toMatchObject({ enforced: { network: 'proxy' }, denials: [] });
  });

  test.each([
    ['another one by http', () => `${CURL} http://example.com/`, 'example.com'],
    ['another one by CONNECT', () => `${CURL} https://example.com/`, 'example.com'],
    ['another one by SOCKS', () => `${CURL} -x "$ALL_PROXY" http://example.com/`, 'example.com'],
    ['the same by its address', () => `${CURL} http://127.0.0.1:${port}/`, '127.0.0.1'],
    [
      'its address by SOCKS',
      () => `${CURL} -x "socks5://127.0.0.1:3128" http://127.0.0.1:${port}/`,
      '127.0.0.1',
    ],
  ])('%s is denied, which is reported', async (_, command, target) => {
    const { text, result } = await ask(`${command()} || true`, { allowedDomains: ['localhost'] });
    expect(text).not.toContain('GET');
    const denial = { kind: 'connect', target, rule: 'allowedDomains', source: 'proxy' };
    expect(result.sandbox?.denials).toEqual([denial]);
  });

  test('a program that does not use the proxy reaches no host', async () => {
    const command = `${CURL} -x '' http://127.0.0.1:${port}/ || ${CURL} -x '' http://1.1.1.1/ || echo none`;
    const { text } = await ask(command, { allowedDomains: ['localhost', '127.0.0.1', '1.1.1.1'] });
    expect(text).toMatch(/none\n$/);
  });

  test('deniedDomains overrides allowedDomains', async () => {
    const network = { allowedDomains: ['localhost'], deniedDomains: ['localhost'] };
    const { result } = await ask(`${CURL} http://localhost:${port}/ || true`, network);
    expect(result.sandbox?.denials).toEqual([
      { kind: 'connect', target: 'localhost', rule: 'deniedDomains', source: 'proxy' },
    ]);
  });
});

test('denials are reported, however late a busy host learns of the end', async () => {
  const { work: cwd } = makeScene(scenes.path, people[0]);
  const command = `${CURL} http://example.com/; echo asked; sleep 0.1`;
  const options = { cwd, sandbox: { network: { allowedDomains: ['localhost'] } } };
  const { result, wasBusy } = await runHost<{ result: MergedResult; wasBusy: boolean }>('busy', {
    args: [command, JSON.stringify(options)],
  });
  expect(wasBusy).toBe(true);
  expect(result.sandbox?.denials).toMatchObject([{ target: 'example.com', source: 'proxy' }]);
});

describe('names', () => {
  const rules = (...allowedDomains: string[]): DomainRules => ({
    allowedDomains,
    deniedDomains: [],
  });

  test.each([
    ['example.com', 'example.com', true],
    ['EXAMPLE.com.', 'example.com', true],
    ['sub.example.com', 'example.com', false],
    ['sub.example.com', '*.example.com', true],
    ['example.com', '*.example.com', false],
    ['badexample.com', '*.example.com', false],
    ['example.com.evil.org', 'example.com', false],
    ['bücher.example', 'xn--bcher-kva.example', true],
    ['ⓔxample.com', 'example.com', true],
    ['example.com@evil.org', 'example.com', false],
    ['example.com/.evil.org', '*.evil.org', false],
    ['example.com#.evil.org', '*.evil.org', false],
    ['1.2.3.4', '*.3.4', false],
  ])('%s is one of %s: %s', (host, rule, expected) => {
    expect(denyingRule(host, rules(rule)) === undefined).toBe(expected);
  });

  test.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.0.0.1.',
    '[::ffff:127.0.0.1]',
    '::ffff:7f00:1',
  ])('%s is 127.0.0.1, in any notation', async (written) => {
    expect(canonicalHost(written)).toBe('127.0.0.1');
    expect(denyingRule(written, rules('example.com'))).toBe('allowedDomains');
    const some = { allowedDomains: ['127.0.0.1'], deniedDomains: [written] };
    expect(denyingRule('127.0.0.1', some)).toBe('deniedDomains');
  });

  test.each(['', '.', 'a b', 'a\r\nb', 'fe80::1%eth0', 'a:b', '[', 'a@b', '::1]'])(
    '%j is no host',
    (text) => expect(canonicalHost(text)).toBeUndefined(),
  );

  test('any text is a host in one canonical spelling, or none', () => {
    const anything = fc.oneof(fc.string(), fc.domain(), fc.ipV4Extended(), fc.ipV6());
    fc.assert(
      fc.property(anything, (text) => {
        const host = canonicalHost(text);
        if (host !== undefined) expect(canonicalHost(host)).toBe(host);
      }),
    );
  });

  test.each([
    ['127.0.0.1', '*.example.com', 'denied'],
    ['127.0.0.1', 'x.example.com', 'denied'],
    ['::1', 'x.example.com', 'denied'],
    ['::ffff:127.0.0.1', 'x.example.com', 'denied'],
    ['64:ff9b::7f00:1', 'x.example.com', 'denied'],
    ['0.0.0.0', 'x.example.com', 'denied'],
    ['169.254.169.254', 'x.example.com', 'denied'],
    ['fd00:ec2::254', 'x.example.com', 'denied'],
    ['fe80::1', 'x.example.com', 'denied'],
    ['10.1.2.3', '*.example.com', 'denied'],
    ['fd12::1', '*.example.com', 'denied'],
    ['10.1.2.3', 'x.example.com', 'found'],
    ['203.0.113.7', '*.example.com', 'found'],
    ['64:ff9b::cb00:7107', '*.example.com', 'found'],
  ])('a name that leads to %s, allowed as %s, is %s', async (address, rule, expected) => {
    const place = await locate('x.example.com', rules(rule), async () => [address]);
    expect(place.kind).toBe(expected);
  });

  test('a name that leads to an address of the host itself leads nowhere', async () => {
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const addresses = own.map(({ address }) => address);
    expect(await locate('x.example.com', rules('x.example.com'), async () => addresses)).toEqual({
      kind: 'denied',
      rule: 'allowedDomains',
    });
  });

  test('a name that leads to an address that is denied is denied', async () => {
    const some = { allowedDomains: ['*.example.com'], deniedDomains: ['203.0.113.7'] };
    const ask = async () => ['203.0.113.7', '203.0.113.8'];
    const place = await locate('x.example.com', some, ask);
    expect(place).toEqual({ kind: 'found', addresses: ['203.0.113.8'] });
    const only = await locate('x.example.com', some, async () => ['203.0.113.7']);
    expect(only).toEqual({ kind: 'denied', rule: 'deniedDomains' });
  });

  test('the host itself is reached by its own names', async () => {
    const found = async (host: string) => locate(host, rules('127.0.0.1', 'localhost'));
    expect(await found('127.0.0.1')).toEqual({ kind: 'found', addresses: ['127.0.0.1'] });
    expect(await found('localhost')).toMatchObject({ kind: 'found' });
    expect(await locate('10.1.2.3', rules('10.1.2.3'))).toMatchObject({ kind: 'found' });
    expect(await locate('169.254.169.254', rules('169.254.169.254'))).toMatchObject({
      kind: 'found',
    });
  });

  test('a name that cannot be resolved is not reported as denied', async () => {
    const nobody = async () => Promise.reject(new Error('ENOTFOUND'));
    expect(await locate('example.com', rules('example.com'), nobody)).toEqual({ kind: 'unknown' });
  });
});
