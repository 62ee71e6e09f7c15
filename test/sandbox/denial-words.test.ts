import { expect, test } from 'vitest';
import { toReport } from '../../src/engine/result.js';
import { type Denial, sandboxNotices } from '../../src/index.js';
import { read } from '../support/house.js';

// A new kind or rule is a mistake of types here, and then has to be on the page.
const KINDS: Readonly<Record<Denial['kind'], true>> = {
  write: true,
  read: true,
  connect: true,
  socket: true,
  sign: true,
};
const RULES: Readonly<Record<Denial['rule'], true>> = {
  allowWrite: true,
  denyWrite: true,
  denyRead: true,
  tmp: true,
  network: true,
  allowedDomains: true,
  deniedDomains: true,
  secrets: true,
  allowUnixSockets: true,
  sshAgent: true,
  gpgAgent: true,
  socketFamilies: true,
};
const page = read('docs/sandbox.md');

test.each(Object.keys(KINDS))('docs/sandbox.md says that %s is a kind of denial', (kind) => {
  const [, listed = ''] = /denials` lists .*?`kind` \(([^)]*)\)/s.exec(page) ?? [];
  expect(listed.split(', ')).toContain(`\`${kind}\``);
});

test.each(Object.keys(RULES))('docs/sandbox.md has the rule %s', (rule) => {
  expect(page).toMatch(new RegExp(`\\b${rule}\\b`));
});

const words = [...read('native/keeper/src/sandbox/denied.rs').matchAll(/"(\w+)=(?:\{\w*\})?"/g)];

test.each(words.map(([, word = '']) => word))(
  'the host knows the denial "%s=" of the keeper',
  (word) => {
    const { enforced, denials } = toReport(`write=none ${word}=1`);
    expect(Object.keys(enforced).sort()).toEqual(['settings', 'write']);
    expect(denials).toMatchObject([{ source: 'kernel' }]);
  },
);

test('the keeper has such denials', () => {
  expect(words.map(([, word]) => word).sort()).toEqual(['connect', 'socket']);
});

test('a rule of another version has advice all the same', () => {
  const denial = { kind: 'read', target: '/x', rule: 'toString', source: 'kernel' };
  const report = { ...toReport('write=none'), denials: [denial as Denial] };
  expect(sandboxNotices(report)).toEqual([
    'The sandbox denied: read /x (toString). There is no network: do without it, or ask the user.',
  ]);
});
