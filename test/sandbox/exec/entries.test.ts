import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import type { ExecRule, SandboxExec, SandboxPolicy } from '../../../src/index.js';
import { readSandbox } from '../../../src/sandbox/read-policy.js';
import { resolveSandbox } from '../../../src/sandbox/resolve.js';
import { leavesNothingBehind, useFolders } from '../../support/leftovers.js';
import { fc } from '../../support/properties.js';

leavesNothingBehind();
const newFolder = useFolders();
const { PATH } = process.env;
afterEach(() => {
  process.env.PATH = PATH;
});

type Entry = readonly [word: string, value: string];

/** The entries of a plan that are about programs, and the environment that answers. */
function entriesOf(policy: SandboxPolicy, cwd = newFolder()): readonly Entry[] {
  const { plan } = resolveSandbox(readSandbox(policy) ?? {}, cwd);
  const fields = plan.split('\0');
  const pairs = fields.flatMap((word, at): Entry[] =>
    at % 2 === 0 ? [[word, fields[at + 1] ?? '']] : [],
  );
  return pairs.filter(([word]) => /^exec|^server$/.test(word));
}

const ruleOf = (rule: ExecRule): readonly Entry[] => {
  const entries = entriesOf({ exec: { rules: [rule, { answer: 'deny' }] } });
  const rules = entries.slice(entries.findIndex(([word]) => word === 'exec-rule'));
  return rules.slice(0, -1);
};

test.each<SandboxExec>([{}, { rules: [] }, { rules: [{ answer: 'allow' }], otherwise: 'allow' }])(
  'where nothing is judged the plan says nothing: %j',
  (exec) => {
    expect(entriesOf({ exec })).toEqual([]);
    expect(entriesOf({ exec, mode: 'danger-full-access' })).toEqual([]);
  },
);

test('a plan says what is recorded, what is done without a rule, and how long an answer is awaited', () => {
  const heads = (exec: SandboxExec) =>
    entriesOf({ exec }).filter(([word]) => word !== 'exec-multi' && word !== 'server');
  expect(heads({ record: true })).toEqual([
    ['exec', 'record'],
    ['exec-otherwise', 'allow'],
    ['exec-ask-ms', '120000'],
  ]);
  expect(heads({ otherwise: 'ask', askTimeoutMs: 5 })).toEqual([
    ['exec', 'rules'],
    ['exec-otherwise', 'ask'],
    ['exec-ask-ms', '5'],
  ]);
});

test('a plan with a question names the environment that answers, once', () => {
  const servers = (policy: SandboxPolicy) =>
    entriesOf(policy).filter(([word]) => word === 'server').length;
  const asks: SandboxExec = { rules: [{ answer: 'ask' }] };
  expect(servers({ exec: asks })).toBe(1);
  expect(servers({ exec: { otherwise: 'ask' } })).toBe(1);
  expect(servers({ exec: asks, network: { allowedDomains: ['a.test'] } })).toBe(1);
  expect(servers({ exec: { otherwise: 'deny' } })).toBe(0);
});

test('a name stands for all places where it is found, a path for itself', () => {
  const folder = newFolder();
  for (const [name, mode] of [
    ['tool', 0o755],
    ['text', 0o644],
  ] as const) {
    writeFileSync(`${folder}/${name}`, '');
    chmodSync(`${folder}/${name}`, mode);
  }
  process.env.PATH = `${folder}:relative:${PATH}`;
  expect(ruleOf({ program: ['tool', 'text', '/no/where', 'sh'], answer: 'deny' })).toEqual([
    ['exec-rule', 'deny'],
    ['exec-name', 'tool'],
    ['exec-at', `${folder}/tool`],
    ['exec-name', 'text'],
    ['exec-at', '/no/where'],
    ['exec-name', 'sh'],
    ...['/usr/bin/sh', '/bin/sh'].map((path): Entry => ['exec-at', path]),
  ]);
});

test('paths are absolute, relative to the workspace, or begin with ~/', () => {
  const cwd = newFolder();
  const rules: readonly ExecRule[] = [{ program: ['./x', 'bin/y', '~/z'], answer: 'deny' }];
  const places = entriesOf({ exec: { rules } }, cwd).filter(([word]) => word === 'exec-at');
  expect(places.map(([, path]) => path)).toEqual([
    `${cwd}/x`,
    `${cwd}/bin/y`,
    `${process.env.HOME}/z`,
  ]);
});

test('what commands can replace is not allowed by its name, and is denied by it', () => {
  const cwd = newFolder();
  mkdirSync(`${cwd}/bin`);
  writeFileSync(`${cwd}/bin/tool`, '');
  chmodSync(`${cwd}/bin/tool`, 0o755);
  process.env.PATH = `${cwd}/bin:${PATH}`;
  const placesFor = (answer: 'allow' | 'deny', policy: SandboxPolicy = {}) =>
    entriesOf({ ...policy, exec: { rules: [{ program: 'tool', answer }], otherwise: 'deny' } }, cwd)
      .filter(([word]) => word === 'exec-at')
      .map(([, path]) => path);
  expect(placesFor('allow')).toEqual([]);
  expect(placesFor('deny')).toEqual([`${cwd}/bin/tool`]);
  expect(placesFor('allow', { mode: 'read-only' })).toEqual([`${cwd}/bin/tool`]);
  expect(placesFor('allow', { mode: 'danger-full-access' })).toEqual([`${cwd}/bin/tool`]);
});

test('a program that a command makes later in the PATH is not the one that was meant', async () => {
  const cwd = newFolder();
  const made = newFolder();
  process.env.PATH = `${made}:${PATH}`;
  const policy: SandboxPolicy = { exec: { rules: [{ program: 'tool-1', answer: 'deny' }] } };
  const before = entriesOf(policy, cwd);
  writeFileSync(`${made}/tool-1`, '');
  chmodSync(`${made}/tool-1`, 0o755);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(entriesOf(policy, cwd)).toEqual(before);
});

test('a rule has its patterns in order, and what is said', () => {
  const argv = ['push', '/x/', '', /^-\w*r/i, { matches: '^a~b', flags: 'su' }, { matches: 'c' }];
  expect(ruleOf({ argv, answer: 'ask', exact: true, say: 'Use `x`.' })).toEqual([
    ['exec-rule', 'ask'],
    ['exec-arg', '=push'],
    ['exec-arg', '=/x/'],
    ['exec-arg', '='],
    ['exec-arg', '~i~^-\\w*r'],
    ['exec-arg', '~su~^a~b'],
    ['exec-arg', '~~c'],
    ['exec-args', 'exact'],
    ['exec-say', 'Use `x`.'],
  ]);
});

test('each valid pattern is an entry from which it can be had back', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 40 });
  const flags = fc.subarray(['i', 'm', 's']).map((all) => all.join(''));
  const source = fc.stringMatching(/^[\w ~=/*+?^$.-]{0,20}$/);
  fc.assert(
    fc.property(text, source, flags, (literal, matches, given) => {
      fc.pre(!literal.includes('\0') && compiles(matches));
      const argv = [literal, { matches, flags: given }, new RegExp(matches, given)];
      const words = ruleOf({ argv, answer: 'deny' }).filter(([word]) => word === 'exec-arg');
      const [first = '', second = '', third = ''] = words.map(([, value]) => value);
      expect(words).toHaveLength(3);
      expect(first).toBe(`=${literal}`);
      expect(readBack(second)).toEqual([given, matches]);
      const [itsFlags, itsSource] = readBack(third);
      expect(new RegExp(itsSource, itsFlags)).toEqual(new RegExp(matches, given));
    }),
    { numRuns: 60 },
  );
});

function compiles(source: string): boolean {
  try {
    return new RegExp(source) instanceof RegExp;
  } catch {
    return false;
  }
}

function readBack(word: string): readonly [flags: string, source: string] {
  const [, flags = '', source = ''] = /^~([a-z]*)~(.*)$/s.exec(word) ?? [];
  return [flags, source];
}
