import { expect, test } from 'vitest';
import { toReport } from '../../src/engine/told/report.js';
import { type Denial, sandboxNotices } from '../../src/index.js';
import { read } from '../support/house.js';

// A new kind or rule is a mistake of types here, and then has to be on the page.
const KINDS: Readonly<Record<Denial['kind'], true>> = {
  write: true,
  read: true,
  connect: true,
  socket: true,
  sign: true,
  exec: true,
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
  exec: true,
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
    expect(Object.keys(enforced).sort()).toEqual(['settings', 'undo', 'write']);
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

/** What a model reads of a program that was denied. */
const toldOf = (denial: Partial<Denial>): readonly string[] => {
  const whole: Denial = {
    kind: 'exec',
    target: 'git push origin',
    rule: 'exec',
    source: 'kernel',
    ...denial,
  };
  return sandboxNotices({ ...toReport('write=none'), denials: [whole] });
};

test.each<[Partial<Denial>, string]>([
  [{}, 'Do without it, or ask the user.'],
  [{ why: 'rule', say: 'Ask for a review.' }, 'Ask for a review.'],
  [{ why: 'otherwise' }, 'No rule allows it. Do without it, or ask the user.'],
  [{ why: 'asked' }, 'The user has not allowed it. Do without it.'],
  [{ why: 'asked', say: 'Commit.' }, 'The user has not allowed it. Commit.'],
  [
    { why: 'unanswered' },
    'The user was asked, and has not answered in time. Do without it, or ask the user.',
  ],
  [
    { why: 'unasked' },
    'Nobody was there to be asked, so it is not allowed. Do without it, or ask the user.',
  ],
  [
    { why: 'raced' },
    'It became another program, or got other arguments, while it was started, and was killed. Run it without changing it meanwhile.',
  ],
  [
    { why: 'traced' },
    'It is traced by another process, and so the rules could not be kept. Run it without a tracer.',
  ],
  [
    { why: 'unread' },
    'Its content is hidden from its user, and so the rules could not hold. Do without it, or ask the user.',
  ],
  [
    { why: 'long' },
    'Its arguments are too long for the user to be asked about. Give it fewer at a time.',
  ],
  [{ why: 'toString' as 'rule' }, 'Do without it, or ask the user.'],
])('of a program that was denied it is told why, and what can be done: %j', (denial, told) => {
  const head = "The sandbox's rules denied: `git push origin`";
  expect(toldOf(denial)).toEqual([`${head}. ${told}`]);
  expect(toldOf({ ...denial, by: 'make' })).toEqual([`${head} (run by make). ${told}`]);
});

test('a program that was denied is told on one line, bounded, and once', () => {
  const [told = ''] = toldOf({ target: `sh -c ${'x\n'.repeat(500)}`, by: 'a\nb', say: 'c\nd' });
  expect(told).toMatch(
    /^The sandbox's rules denied: `sh -c x\\x0ax.*…` \(run by a\\x0ab\)\. c\\x0ad$/,
  );
  expect(told.length).toBeLessThan(600);
  const denial: Denial = { kind: 'exec', target: 'rm -r x', rule: 'exec', source: 'kernel' };
  const denials = [denial, denial, { ...denial, target: 'rm -r y' }];
  expect(sandboxNotices({ ...toReport('write=none'), denials })).toHaveLength(2);
});
