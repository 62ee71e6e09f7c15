import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { SandboxFilesystem, SandboxPolicy } from '../../src/index.js';
import { readSandbox } from '../../src/sandbox/read-policy.js';
import { resolveSandbox } from '../../src/sandbox/resolve.js';
import { leavesNothingBehind, useFolders } from '../support/leftovers.js';

leavesNothingBehind();
const newFolder = useFolders();

/** A policy and the same one with a value for a field that is not its default. */
type Pair = readonly [without: SandboxPolicy, having: SandboxPolicy];

const besides = (having: SandboxPolicy): Pair => [{}, having];
const files = (having: SandboxFilesystem, without: SandboxFilesystem = {}): Pair => [
  { filesystem: without },
  { filesystem: { ...without, ...having } },
];

/** Every field of a policy. A new field without a pair does not compile. */
const FIELDS: {
  readonly [Name in Exclude<keyof SandboxPolicy, 'filesystem'>]-?: (folder: string) => Pair;
} = {
  mode: () => besides({ mode: 'read-only' }),
  workspace: (folder) => besides({ workspace: `${folder}/other` }),
  network: () => besides({ network: 'full' }),
  ports: () => besides({ ports: { publish: 'auto' } }),
  allowUnixSockets: (folder) => besides({ allowUnixSockets: [`${folder}/file`] }),
  sshAgent: (folder) => besides({ sshAgent: { socket: `${folder}/file` } }),
  gpgAgent: (folder) => besides({ gpgAgent: { socket: `${folder}/file` } }),
  exec: () => besides({ exec: { record: true } }),
  processes: () => besides({ processes: 'host' }),
  secrets: () => besides({ secrets: { TOKEN: { value: 'a'.repeat(40), domains: ['a.test'] } } }),
  settings: () => besides({ settings: 'read-only' }),
  caches: () => besides({ caches: 'none' }),
  undo: () => besides({ undo: true }),
  changes: () => besides({ changes: 'hold' }),
  require: () => besides({ require: 'best-effort' }),
};

/** Every field of `filesystem`. */
const FILESYSTEM: { readonly [Name in keyof SandboxFilesystem]-?: (folder: string) => Pair } = {
  allowWrite: (folder) => files({ allowWrite: [`${folder}/other`] }, {}),
  denyWrite: () => files({ denyWrite: ['file'] }, { denyWrite: [] }),
  denyRead: (folder) => files({ denyRead: [`${folder}/file`] }, { denyRead: [] }),
  allowRead: (folder) => files({ allowRead: [`${folder}/other`] }),
  tmp: () => files({ tmp: 'shared' }),
};

test.each([...Object.entries(FIELDS), ...Object.entries(FILESYSTEM)])(
  'the field %s of a policy changes what the engine is told',
  (_, pairIn) => {
    const folder = newFolder();
    const cwd = `${folder}/work`;
    for (const each of ['work', 'other']) mkdirSync(`${folder}/${each}`);
    for (const file of ['file', 'work/file']) writeFileSync(`${folder}/${file}`, '');
    const [without, having] = pairIn(folder).map((policy) => resolveSandbox(policy, cwd).plan);
    expect(having).not.toBe(without);
  },
);

/** Policies with `null` for each field that may be left out, at any depth, and the same without. */
const NULLS: readonly (readonly [nulls: object, without: object])[] = [
  [{ mode: null, network: null, ports: null, secrets: null, settings: null, caches: null }, {}],
  [{ sshAgent: null, gpgAgent: null, filesystem: null, require: null }, {}],
  [
    {
      filesystem: { allowWrite: null, denyWrite: null, denyRead: null, allowRead: null, tmp: null },
    },
    { filesystem: {} },
  ],
  [
    { sshAgent: { socket: '/agent', keys: null, hosts: null, maxSignatures: null } },
    { sshAgent: { socket: '/agent' } },
  ],
  [
    { gpgAgent: { socket: '/agent', keygrips: null, maxSignatures: null } },
    { gpgAgent: { socket: '/agent' } },
  ],
  [{ ports: { reach: null, publish: null, dangerous: null } }, { ports: {} }],
  [{ network: { allowedDomains: [], deniedDomains: null } }, { network: { allowedDomains: [] } }],
  [
    { secrets: { TOKEN: { value: 'a'.repeat(40), domains: ['a.test'], body: null } } },
    { secrets: { TOKEN: { value: 'a'.repeat(40), domains: ['a.test'] } } },
  ],
];

test.each(NULLS)('a field of a policy that is null is left out: %j', (nulls, without) => {
  const cwd = newFolder();
  const read = readSandbox(nulls);
  if (read === undefined) throw new Error('no policy');
  const { secrets: _, ...same } = resolveSandbox(readSandbox(without) ?? {}, cwd);
  expect(resolveSandbox(read, cwd)).toMatchObject(same);
  // Policies are compared by identity.
  expect(readSandbox(nulls)).toBe(read);
});

test('null is no value where one is needed, and nor is an array', () => {
  expect(() => readSandbox([null])).toThrow(/^sandbox: expected/);
  const domains = { allowedDomains: null };
  expect(() => readSandbox({ network: domains })).toThrow(/^sandbox\.network\.allowedDomains: /);
});
