import { X509Certificate } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { run } from '../../src/index.js';
import { withoutValues } from '../../src/sandbox/proxy/forms.js';
import { Replacing } from '../../src/sandbox/proxy/replacing.js';
import { Authority } from '../../src/sandbox/secrets/authority.js';
import { standInFor } from '../../src/sandbox/secrets/stand-in.js';
import { fc } from '../support/properties.js';

const values = fc.stringMatching(/^[\x21-\x7e][\x20-\x7e]{6,80}[\x21-\x7e]$/);

describe('a stand-in', () => {
  test('has no part of its secret, is as long, and the same in a URL', () => {
    fc.assert(
      fc.property(values, (value) => {
        const standIn = standInFor(value);
        expect(standIn).not.toContain(value);
        expect(standIn.length).toBe(Math.max(value.length, 20));
        expect(encodeURIComponent(standIn)).toBe(standIn);
        expect(standInFor(value)).not.toBe(standIn);
      }),
    );
  });

  test.each([
    [`ghp_${'aB3'.repeat(12)}`, /^ghp_StandIn[A-Za-z\d]{29}$/],
    [
      `github_pat_${'a1B'.repeat(7)}_${'c2D'.repeat(20)}`,
      /^github_pat_[A-Za-z\d]{21}_[A-Za-z\d]{60}$/,
    ],
    [`sk-ant-api03-${'x_Y-9'.repeat(18)}`, /^sk-ant-api03-[\w-]{90}$/],
    ['0123456789abcdef0123456789abcdef', /^[\da-f]{32}$/],
    ['3f2504e0-4f89-11d3-9a0c-0305e82c3301', /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/],
    ['123456789012345678901234', /^\d{24}$/],
    ['hunter22', /^[a-z\d]{20}$/],
  ])('for %s is of the same form', (value, form) => {
    expect(standInFor(value)).toMatch(form);
  });
});

describe('replacing in a stream', () => {
  const replaced = async (parts: readonly Buffer[], value: string, standIn: string) => {
    const secret = { name: 'A', value, standIn, domains: [], body: false };
    return buffer(Readable.from(parts).pipe(new Replacing(withoutValues([secret]))));
  };

  test('finds a value in any form, wherever the stream is divided', async () => {
    const forms: readonly ((value: string) => string)[] = [
      String,
      encodeURIComponent,
      (value) => JSON.stringify(value),
      (value) => new URLSearchParams({ value }).toString(),
    ];
    await fc.assert(
      fc.asyncProperty(
        values,
        fc.constantFrom(...forms),
        fc.string(),
        fc.integer({ min: 1, max: 9 }),
        async (value, form, around, size) => {
          const text = Buffer.from(around + form(value) + around + form(value));
          const parts = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
            text.subarray(index * size, (index + 1) * size),
          );
          const standIn = standInFor(value);
          const whole = await replaced([text], value, standIn);
          expect(await replaced(parts, value, standIn)).toEqual(whole);
          expect(whole.toString()).toContain(standIn);
          expect(whole.toString()).not.toContain(form(value));
        },
      ),
    );
  });

  test.each([0, 1, 2])(
    'finds a value in base64 that begins %i bytes into a group',
    async (offset) => {
      const value = 'ghp_0123456789abcdefABCDEF0123456789abcd';
      const standIn = standInFor(value);
      const coded = (text: string) =>
        Buffer.from(`${'x'.repeat(offset)}${text}`).toString('base64');
      const text = (await replaced([Buffer.from(`"${coded(value)}"`)], value, standIn)).toString();
      const decoded = Buffer.from(text.slice(1, -1), 'base64').toString();
      expect(decoded).toContain(standIn.slice(1, -1));
      expect(decoded).not.toContain(value.slice(4, 20));
    },
  );

  test('passes on data that begins no value at once', async () => {
    const secret = {
      name: 'A',
      value: 'the value',
      standIn: 'the other',
      domains: [],
      body: false,
    };
    const stream = new Replacing(withoutValues([secret]));
    stream.write('event: one\n\n');
    expect(String(stream.read())).toBe('event: one\n\n');
    stream.write('event: th');
    expect(String(stream.read())).toBe('event: ');
    stream.end();
  });
});

test.each([
  ['example.com', 'DNS:example.com'],
  ['127.0.0.1', 'IP Address:127.0.0.1'],
  ['fd12::1:2', 'IP Address:FD12:0:0:0:0:0:1:2'],
])('a certificate for %s has only that name', (host, expected) => {
  const authority = new Authority();
  const root = new X509Certificate(authority.certificate);
  const certificate = new X509Certificate(authority.certify(host).cert);
  expect(root.ca).toBe(true);
  expect(root.verify(root.publicKey)).toBe(true);
  expect(certificate.ca).toBe(false);
  expect(certificate.checkIssued(root) && certificate.verify(root.publicKey)).toBe(true);
  expect(certificate.subjectAltName).toBe(expected);
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
});

describe('invalid secrets', () => {
  const value = 'the-value-itself';
  const domains = ['example.com'];
  test.each([
    [
      { A: { value: 'short', domains } },
      'sandbox.secrets.A.value: expected 8 to 4096 printable characters of ASCII without a space at either end, got others, 5 in all',
    ],
    [{ A: { value: `${value}\n`, domains } }, 'sandbox.secrets.A.value: expected 8 to 4096'],
    [
      { A: { domains } },
      'sandbox.secrets.A.value: expected 8 to 4096 printable characters of ASCII without a space at either end, got nothing',
    ],
    [{ A: value }, 'sandbox.secrets.A: expected { value, domains }, got a value of type string'],
    [[value], 'sandbox.secrets: expected { NAME: { value, domains } }, got an array'],
    [value, 'sandbox.secrets: expected { NAME: { value, domains } }, got a value of type string'],
    [
      { 'A-B': { value, domains } },
      'sandbox.secrets: expected names of variables such as GITHUB_TOKEN, got "A-B"',
    ],
    [{ BASH_ENV: { value, domains } }, 'sandbox.secrets: expected names of variables'],
    [
      { A: { value, domains: [] } },
      'sandbox.secrets.A.domains: expected at least one name, got []',
    ],
    [
      { A: { value, domains: 'example.com' } },
      'sandbox.secrets.A.domains: expected an array of names such as example.com or *.example.com, got "example.com"',
    ],
    [
      { A: { value, domains: ['https://a'] } },
      'sandbox.secrets.A.domains: expected an array of names',
    ],
    [{ A: { value, domains, body: 1 } }, 'sandbox.secrets.A.body: expected true or false'],
    [
      { A: { value, domains, header: 1 } },
      'sandbox.secrets.A: expected value, domains and body, got a field "header"',
    ],
  ])('%j are refused without showing a value', async (secrets, message) => {
    const error = await run('true', { sandbox: { secrets } as never }).catch((thrown) => thrown);
    expect(error.name).toBe('InputError');
    expect(error.message).toContain(message);
    expect(error.message).not.toContain(value);
  });

  test.each(['full', 'none'] as const)('are refused with the network %s', async (network) => {
    const secrets = { A: { value, domains } };
    await expect(run('true', { sandbox: { network, secrets } })).rejects.toThrow(
      `sandbox.network: expected { allowedDomains } or nothing with secrets, which a proxy puts in, got '${network}'`,
    );
  });
});
