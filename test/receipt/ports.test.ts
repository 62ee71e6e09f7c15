import { endianness } from 'node:os';
import { expect, test } from 'vitest';
import { listeningPorts, parseTable } from '../../src/receipt/ports.js';
import { fc } from '../support/properties.js';

const HEAD =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  ...\n';

/** A line as the kernel writes it. */
function lineOf(bytes: Uint8Array, port: number, state: string, inode: number): string {
  const address = Buffer.from(bytes);
  if (endianness() === 'LE') address.swap32();
  const hex = (value: number) => value.toString(16).padStart(4, '0').toUpperCase();
  const none = '0'.repeat(address.length * 2);
  const own = address.toString('hex').toUpperCase();
  return (
    `   0: ${own}:${hex(port)} ${none}:0000 ${state} 00000000:00000000 00:00000000 00000000 ` +
    `    0        0 ${inode} 1 0000000000000000 100 0 0 10 0\n`
  );
}

const port = fc.integer({ min: 1, max: 65_535 });
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

test("listening sockets are read from the kernel's table, with address and port", () => {
  const entry = fc.record({ bytes: bytes(4), port, listens: fc.boolean() });
  fc.assert(
    fc.property(fc.array(entry), (entries) => {
      const lines = entries.map((each, index) =>
        lineOf(each.bytes, each.port, each.listens ? '0A' : '01', index + 1),
      );
      const expected = entries.flatMap((each, index) =>
        each.listens
          ? [[String(index + 1), { port: each.port, address: each.bytes.join('.') }]]
          : [],
      );
      expect(parseTable(HEAD + lines.join(''))).toEqual(expected);
    }),
  );
});

test('addresses of IPv6 are read, whatever is in them', () => {
  fc.assert(
    fc.property(bytes(16), port, (address, number) => {
      const [[, found] = []] = parseTable(lineOf(address, number, '0A', 7));
      expect(found?.port).toBe(number);
      const same = Buffer.from(address)
        .toString('hex')
        .replace(/(.{4})(?!$)/g, '$1:');
      expect(found?.address).toBe(new URL(`http://[${same}]`).hostname.slice(1, -1));
    }),
  );
  const loopback = new Uint8Array(16).fill(1, 15);
  expect(parseTable(lineOf(loopback, 80, '0A', 7))).toEqual([['7', { port: 80, address: '::1' }]]);
});

test('lines in another format are left out', () => {
  fc.assert(fc.property(fc.string(), (text) => parseTable(text).length === 0));
  expect(parseTable(lineOf(new Uint8Array(4), 80, '0A', 7).slice(0, 60))).toEqual([]);
});

test('a process that is gone listens nowhere', async () => {
  expect(await listeningPorts([2 ** 30])).toEqual([[]]);
});
