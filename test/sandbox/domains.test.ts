import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type DomainRules,
  findAddress,
  isAllowed,
} from '../../src/command/sandbox/proxy/domains.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { makeScene, people, runAs, useScenes } from '../support/sandbox.js';

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

describe.each(people)('%s', (person) => {
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
  ])('%s is denied, which is told', async (_, command, target) => {
    const { text, result } = await ask(`${command()} || true`, { allowedDomains: ['localhost'] });
    expect(text).not.toContain('GET');
    const denial = { kind: 'connect', target, rule: 'allowedDomains', source: 'proxy' };
    expect(result.sandbox?.denials).toEqual([denial]);
  });

  test('what does not ask the proxy reaches nobody', async () => {
    const command = `${CURL} -x '' http://127.0.0.1:${port}/ || ${CURL} -x '' http://1.1.1.1/ || echo none`;
    const { text } = await ask(command, { allowedDomains: ['localhost', '127.0.0.1', '1.1.1.1'] });
    expect(text).toMatch(/none\n$/);
  });

  test('denied goes before allowed', async () => {
    const network = { allowedDomains: ['localhost'], deniedDomains: ['localhost'] };
    const { result } = await ask(`${CURL} http://localhost:${port}/ || true`, network);
    expect(result.sandbox?.denials).toMatchObject([{ target: 'localhost' }]);
  });
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
  ])('%s is one of %s: %s', (host, rule, expected) => {
    expect(isAllowed(host, rules(rule))).toBe(expected);
  });

  test('a name never leads to the host itself, unless that is named', async () => {
    expect(await findAddress('127.0.0.1', rules('*.0.0.1'))).toBeUndefined();
    expect(await findAddress('169.254.169.254', rules('*.254'))).toBeUndefined();
    expect(await findAddress('10.1.2.3', rules('*.2.3'))).toBeUndefined();
    expect(await findAddress('10.1.2.3', rules('10.1.2.3'))).toBe('10.1.2.3');
    expect(await findAddress('127.0.0.1', rules('127.0.0.1'))).toBe('127.0.0.1');
    expect(await findAddress('localhost', rules('localhost'))).toMatch(/^127\.|^::1$/);
  });
});
