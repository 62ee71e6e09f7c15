import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { withoutValues } from '../../../src/sandbox/proxy/forms.js';
import type { Patterns } from '../../../src/sandbox/proxy/matching/patterns.js';
import { Replacing, replaceAll } from '../../../src/sandbox/proxy/replacing.js';
import { standInFor } from '../../../src/sandbox/secrets/stand-in.js';
import { fc } from '../../support/properties.js';
import { cut, escaping, readings, surroundings, values, writings } from './writings.js';

const TOKEN = 'ghp_0123456789abcdefABCDEF0123456789abcd';

const secretOf = (value: string, standIn: string) => ({
  ...{ name: 'A', value, standIn, domains: [], body: false },
});
const patternsFor = (...all: readonly string[]) =>
  withoutValues(all.map((value) => secretOf(value, standInFor(value))));
const replaced = (parts: readonly Buffer[], patterns: Patterns) =>
  buffer(Readable.from(parts).pipe(new Replacing(patterns)));
const ends = fc.array(fc.nat(), { maxLength: 40 });
const anyValue = fc.oneof(values, fc.constant(TOKEN));

describe('what a domain answers', () => {
  test('S8: shows a value in no encoding, wherever it stands and the stream is divided', async () => {
    const text = fc.tuple(surroundings, surroundings, surroundings);
    await fc.assert(
      fc.asyncProperty(anyValue, writings, text, ends, async (value, write, around, divided) => {
        const written = write(value);
        const [before, between, after] = around;
        const whole = Buffer.concat([before, written, between, written, after]);
        const patterns = patternsFor(value);
        const told = await replaced([whole], patterns);
        expect(await replaced(cut(whole, divided), patterns)).toEqual(told);
        expect(told.includes(written)).toBe(false);
        for (const reading of readings(told)) expect(reading).not.toContain(value);
        if (patterns.keepsLength) expect(told.length).toBe(whole.length);
      }),
      { numRuns: 300 },
    );
  });

  test('S8: has the stand-in in its place, encoded alike', async () => {
    await fc.assert(
      fc.asyncProperty(values, escaping, async (value, write) => {
        const standIn = standInFor(value);
        const patterns = withoutValues([secretOf(value, standIn)]);
        const told = await replaced([Buffer.from(` ${write(value)} `)], patterns);
        expect(readings(told).some((reading) => reading.includes(standIn))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test('S8: passes byte for byte where it has no value, but similar text', async () => {
    // In each part a character of the value is missing.
    const parts = fc.array(
      fc.oneof(
        writings.map((write) => write(TOKEN.slice(0, -1))),
        surroundings,
      ),
    );
    await fc.assert(
      fc.asyncProperty(parts, ends, async (all, divided) => {
        const whole = Buffer.concat(all.flatMap((part) => [part, Buffer.from('~')]));
        expect(await replaced(cut(whole, divided), patternsFor(TOKEN))).toEqual(whole);
      }),
      { numRuns: 300 },
    );
  });

  test.each<[string, (text: string) => string | Buffer]>([
    [
      'in a URL that escapes all',
      (text) => text.replace(/./g, (c) => `%${c.charCodeAt(0).toString(16)}`),
    ],
    [
      'in JSON that escapes all',
      (text) => text.replace(/./g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`),
    ],
    ['in HTML', (text) => text.replace(/./g, (c) => `&#x${c.charCodeAt(0).toString(16)};`)],
    ['in Markdown', (text) => text.replaceAll('_', '\\_')],
    ['in UTF-16', (text) => Buffer.from(text, 'utf16le')],
    ['in UTF-16, the other way round', (text) => Buffer.from(text, 'utf16le').swap16()],
    ['in hex', (text) => Buffer.from(text).toString('hex')],
    ['in hex of capital letters', (text) => Buffer.from(text).toString('hex').toUpperCase()],
    ['in base64', (text) => Buffer.from(text).toString('base64')],
    [
      'in base64 in lines',
      (text) => Buffer.from(text).toString('base64').replace(/.{20}/g, '$&\r\n'),
    ],
    [
      'in base64 in lines of JSON',
      (text) => Buffer.from(text).toString('base64').replace(/.{9}/g, '$&\\n'),
    ],
  ])('S8: has a stand-in of the same length and encoding, %s', (_, write) => {
    const standIn = standInFor(TOKEN);
    const written = (text: string) => Buffer.from(write(text)).toString('latin1');
    const patterns = withoutValues([secretOf(TOKEN, standIn)]);
    const told = replaceAll(`<${written(TOKEN)}>`, patterns);
    // The last bits in base64 are not the value's alone.
    expect(`<${written(standIn)}>`).toContain(told.slice(0, -9));
    expect(told.length).toBe(written(standIn).length + 2);
  });
});

describe('of several values', () => {
  test('S8: of two that begin alike the longer one counts, wherever the stream is divided', async () => {
    const [short, long] = ['the-first-value', 'the-first-value-and-more'];
    const secrets = [secretOf(long, 'LONG'.repeat(6)), secretOf(short, 'SHORT'.repeat(4))];
    const text = Buffer.from(`${short}. ${long}. ${short}-and-mor`);
    for (let at = 0; at <= text.length; at += 1) {
      const told = await replaced(cut(text, [at]), withoutValues(secrets));
      expect(told.toString()).toBe(
        `${'SHORT'.repeat(4)}. ${'LONG'.repeat(6)}. ${'SHORT'.repeat(4)}-and-mor`,
      );
    }
  });

  test('S8: nothing is left of one that begins in another', () => {
    const [one, other] = ['0123456789abcde-XYZ', 'XYZ-abcdefghijklm'];
    const patterns = patternsFor(one, other);
    const told = replaceAll(`${one}${other.slice(3)}, ${'x'.repeat(9)}`, patterns);
    expect(told).not.toMatch(/abcde|fghij/);
    expect(replaceAll('ab'.repeat(30), patternsFor('ab'.repeat(10)))).not.toMatch(/(ab){3}/);
  });
});

describe('data that is held back', () => {
  const KEPT = 64 * 1024;
  test.each([
    ['%', '%'],
    ['backslashes', '\\'],
    ['ampersands', '&'],
    ['escaped ones', '%25'],
    ['names', '&amp;'],
    ['first characters', TOKEN[0] ?? ''],
    ['all but the last ones', TOKEN.slice(0, -1)],
    ['a beginning and then nothing', `${TOKEN.slice(0, 8)}${'\0'.repeat(500)}`],
    ['base64 and then blanks', `Z2hwXzAxMjM0NT${' '.repeat(5000)}`],
    ['values', TOKEN],
  ])('S8: is bounded, and comes at the end: %s', async (_, part) => {
    const stream = new Replacing(patternsFor(TOKEN));
    const chunk = Buffer.from(part.repeat(Math.ceil(4096 / part.length)));
    let told = 0;
    stream.on('data', (data: Buffer) => {
      told += data.length;
    });
    for (let count = 1; count <= 100; count += 1) {
      await new Promise((done) => stream.write(chunk, done));
      expect(count * chunk.length - told).toBeLessThan(KEPT);
    }
    await new Promise<void>((done) => stream.once('end', done).end());
    expect(told).toBe(100 * chunk.length);
  });

  test.each(['a line\n', 'data: {"a":1}\n\n', 'the lag\n', 'Z\n', 'is it 6\r\n'])(
    'S8: is nothing of %j, which may be the last data for a while',
    (line) => {
      const stream = new Replacing(patternsFor(TOKEN));
      stream.write(line);
      expect(String(stream.read())).toBe(line);
      stream.destroy();
    },
  );
});
