import { expect, test } from 'vitest';
import { toReport } from '../../../src/engine/told/report.js';
import { type SandboxPolicy, sandboxNotices } from '../../../src/index.js';
import { readSandbox } from '../../../src/sandbox/read-policy.js';
import { resolveSandbox } from '../../../src/sandbox/resolve.js';
import { useFolders } from '../../support/leftovers.js';

const newFolder = useFolders();

test.each<[policy: object, message: RegExp]>([
  [{ sshAgent: 'yes' }, /^sandbox\.sshAgent: expected true, false or an object, got "yes"/],
  [{ sshAgent: { key: [] } }, /^sandbox\.sshAgent\.key: .*keys/],
  [{ sshAgent: { socket: 'agent' } }, /^sandbox\.sshAgent\.socket: expected an absolute path/],
  [{ sshAgent: { keys: ['MD5:00'] } }, /^sandbox\.sshAgent\.keys: .* got "MD5:00"/],
  [{ sshAgent: { keys: [] } }, /^sandbox\.sshAgent\.keys: expected an array/],
  [{ sshAgent: { hosts: 'all' } }, /^sandbox\.sshAgent\.hosts: expected 'known' or 'any'/],
  [{ sshAgent: { maxSignatures: 0 } }, /^sandbox\.sshAgent\.maxSignatures: .* 1 to 1000, got 0/],
  [{ gpgAgent: { keygrips: ['xyz'] } }, /^sandbox\.gpgAgent\.keygrips: .* got "xyz"/],
  [{ gpgAgent: { maxSignatures: 1.5 } }, /^sandbox\.gpgAgent\.maxSignatures: .* got 1\.5/],
  [{ sshAgent: true, require: 'landlock' }, /^sandbox\.require: expected 'all' with sshAgent/],
  [{ gpgAgent: {}, require: 'best-effort' }, /^sandbox\.require: expected 'all' with gpgAgent/],
  [{ sshAgent: true, filesystem: { tmp: 'shared' } }, /^sandbox\.filesystem\.tmp: .*'private'/],
  [{ sshAgent: true, mode: 'danger-full-access' }, /^sandbox\.filesystem\.tmp: .*as the mode has/],
])('a policy %j is refused by name', (policy, message) => {
  expect(() => readSandbox(policy)).toThrow(message);
});

test('an agent that is switched off is none, whatever else the policy says', () => {
  const off = { sshAgent: false, gpgAgent: false, require: 'landlock' };
  expect(() => readSandbox(off)).not.toThrow();
});

test('without SSH_AUTH_SOCK a socket is asked for', () => {
  const { SSH_AUTH_SOCK: before } = process.env;
  delete process.env.SSH_AUTH_SOCK;
  try {
    const policy: SandboxPolicy = { sshAgent: true };
    expect(() => resolveSandbox(policy, newFolder())).toThrow(
      /^sandbox\.sshAgent: expected SSH_AUTH_SOCK .*, got neither$/,
    );
  } finally {
    if (before !== undefined) process.env.SSH_AUTH_SOCK = before;
  }
});

test('signatures and refusals are told as the keeper tells them', () => {
  const report = toReport(
    'write=namespace signed=ssh,0,5,login,SHA256%3Aab,me%20%2C,git%40example.com ' +
      'signed=gpg,1,6,hash,AB,,00ff refused=ssh,limit, refused=gpg,request,PKDECRYPT refused=ssh,new,',
  );
  expect(report.enforced).toEqual({ write: 'namespace', settings: 'mount', undo: 'none' });
  expect(report.signatures).toEqual([
    {
      agent: 'ssh',
      key: 'SHA256:ab',
      comment: 'me ,',
      purpose: 'login',
      target: 'git@example.com',
      at: 5,
    },
    { agent: 'gpg', key: 'AB', comment: '', purpose: 'hash', target: '00ff', at: 6 },
  ]);
  expect(sandboxNotices(report)).toEqual([
    'The sandbox denied: sign ssh: one more signature for this command (sshAgent). Do the next step in a command of its own.',
    'The sandbox denied: sign gpg: request PKDECRYPT, which is not for a signature (gpgAgent). Do without it, or ask the user.',
    'The sandbox denied: sign ssh: new (sshAgent). Do without it, or ask the user.',
    "The user's ssh agent has signed a login as git@example.com with the key SHA256:ab.",
    "The user's gpg agent has signed the hash 00ff with the key AB.",
  ]);
});
