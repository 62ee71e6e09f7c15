import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import {
  createOwner,
  listChanges,
  type Receipt,
  type RunResult,
  revertChanges,
} from '../../src/index.js';
import type { OptionName } from '../../src/options/table.js';

/** The visible facts of a command that has ended. */
export interface Seen {
  /** The output, as far as the road shows it. */
  readonly text: string;
  /** The result, if the road returns one. */
  readonly result?: RunResult | undefined;
  readonly receipt?: Receipt | undefined;
  /** The duration in milliseconds. */
  readonly tookMs: number;
}

/** The probe of one option: a value, a command that shows its effect, and the expected facts. */
export interface Probe {
  readonly options: Readonly<Record<string, unknown>>;
  readonly command: string;
  /** The time in milliseconds after which the road has to end the command in its own way. */
  readonly endAfterMs?: number;
  /** How many such commands are started at once. Default: 1. */
  readonly atOnce?: number;
  readonly sees: (seen: Seen, all: readonly Seen[]) => void | Promise<void>;
}

/** A time much longer than a command takes that is ended in time, and shorter than it takes otherwise. */
const IN_TIME_MS = 12_000;
const ENDLESS = 'sleep 30';
const soon = (seen: Seen) => expect(seen.tookMs).toBeLessThan(IN_TIME_MS);

/** The name of a variable in the host's environment. */
export const HOST_VARIABLE = 'ROADS_HOST_VARIABLE';

/** A shell that prints that it was used, and goes on as bash. */
function ownShell(folder: string): string {
  const path = join(folder, 'bash');
  writeFileSync(path, '#!/bin/sh\nexport OWN_SHELL=chosen\nexec /bin/bash "$@"\n');
  chmodSync(path, 0o755);
  return path;
}

/**
 * The probes of all options, the same for every road. A new option without a probe does not compile.
 *
 * @param folder A writable folder.
 */
export const PROBES: { readonly [Name in OptionName]: (folder: string) => Probe } = {
  cwd(folder) {
    const cwd = join(folder, 'sub');
    mkdirSync(cwd, { recursive: true });
    const sees = ({ text }: Seen) => expect(text).toContain(cwd);
    return { options: { cwd }, command: 'pwd', sees };
  },
  timeoutMs: () => ({ options: { timeoutMs: 300 }, command: ENDLESS, sees: soon }),
  graceMs: () => ({
    options: { graceMs: 100 },
    command: "trap '' TERM; for i in $(seq 600); do sleep .05; done",
    endAfterMs: 500,
    sees: ({ tookMs }) => expect(tookMs).toBeLessThan(4500),
  }),
  signal: () => ({ options: { signal: AbortSignal.timeout(300) }, command: ENDLESS, sees: soon }),
  streams: () => ({
    options: { streams: 'separate' },
    command: 'echo in; echo out >&2',
    sees: ({ result, receipt }) =>
      expect(receipt?.streams ?? result).toMatchObject({ stdout: {}, stderr: {} }),
  }),
  headBytes: () => ({
    options: { headBytes: 4, tailBytes: 0 },
    command: 'printf %s {a..z}',
    sees: ({ text, result }) =>
      expect(result === undefined ? text : JSON.stringify(result)).toMatch(/abcd(?!e)/),
  }),
  tailBytes: () => ({
    options: { headBytes: 0, tailBytes: 4 },
    command: 'printf %s {a..z}',
    sees: ({ text, result }) =>
      expect(result === undefined ? text : JSON.stringify(result)).toMatch(/(?<!v)wxyz/),
  }),
  spill(folder) {
    const spill = join(folder, 'spilled');
    const sees = () => expect(readFileSync(spill, 'utf8')).toMatch(/^all of it\r?\n$/);
    return { options: { spill }, command: 'echo all of it', sees };
  },
  encoding: () => ({
    options: { encoding: 'windows-1252' },
    command: "printf 'caf\\351\\n'",
    sees: ({ text }) => expect(text).toContain('café'),
  }),
  input: () => ({
    options: { input: 'typed in' },
    command: 'cat',
    sees: ({ text }) => expect(text).toContain('typed in'),
  }),
  pty: () => ({
    options: { pty: true },
    command: 'test -t 1 && echo on a terminal',
    sees: ({ text }) => expect(text).toContain('on a terminal'),
  }),
  onOutput() {
    const onOutput = vi.fn();
    const sees = () =>
      expect(onOutput).toHaveBeenCalledWith(expect.objectContaining({ text: 'hi\n' }));
    return { options: { onOutput }, command: 'echo hi', sees };
  },
  owner() {
    const owner = createOwner();
    setTimeout(() => void owner.dispose(), 300);
    return { options: { owner }, command: ENDLESS, sees: soon };
  },
  shell: (folder) => ({
    options: { shell: [ownShell(folder)] },
    command: 'echo "[$OWN_SHELL]"',
    sees: ({ text }) => expect(text).toContain('[chosen]'),
  }),
  followDirectory: (folder) => ({
    options: { followDirectory: true, cwd: folder },
    command: 'mkdir -p there && cd there',
    sees: ({ result }) => expect(result?.directory).toBe(join(folder, 'there')),
  }),
  priority: () => ({
    options: { priority: 'low' },
    command: 'echo "nice $(nice)."',
    sees: ({ text }) => expect(text).toContain(`nice ${Math.min(19, getPriority() + 10)}.`),
  }),
  startsAtOnce: () => ({
    options: { startsAtOnce: 1 },
    command: 'date +at:%s%3N; sleep .3',
    atOnce: 6,
    sees(_, all) {
      const starts = all.map(({ text }) => Number(/at:(\d+)/.exec(text)?.[1]));
      // Each waits until the one before is 30 ms old.
      expect(Math.max(...starts) - Math.min(...starts)).toBeGreaterThan(100);
    },
  }),
  umask: () => ({
    options: { umask: 0o027 },
    command: 'echo "mask $(umask)."',
    sees: ({ text }) => expect(text).toContain('mask 0027.'),
  }),
  sandbox: (folder) => ({
    options: { sandbox: 'read-only', cwd: folder },
    command: 'echo x 2>/dev/null >kept-out || echo kept out',
    sees: ({ text }) => expect(text).toContain('kept out'),
  }),
  undo(folder) {
    const kept = join(folder, 'kept');
    writeFileSync(kept, 'before');
    return {
      options: { undo: true, cwd: folder },
      command: 'echo after >kept',
      async sees() {
        const [last] = (await listChanges({ workspace: folder })).slice(-1);
        expect(last).toMatchObject({ changed: 1 });
        await revertChanges(last?.id ?? '');
        expect(readFileSync(kept, 'utf8')).toBe('before');
      },
    };
  },
  onDenied(folder) {
    const onDenied = vi.fn();
    const command = 'touch kept-out';
    const sees = () => expect(onDenied).toHaveBeenCalledOnce();
    return { options: { onDenied, sandbox: 'read-only', cwd: folder }, command, sees };
  },
  onExec(folder) {
    const onExec = vi.fn(() => 'allow');
    const exec = { rules: [{ program: 'env', argv: ['asked'], answer: 'ask' }] };
    const sandbox = { mode: 'workspace-write', exec };
    const sees = ({ text }: Seen) => {
      expect(onExec).toHaveBeenCalledOnce();
      expect(text).toContain('was asked');
    };
    return { options: { onExec, sandbox, cwd: folder }, command: 'env echo was asked', sees };
  },
  limits: () => ({
    options: { limits: { cpuSeconds: 77 } },
    command: 'echo "seconds $(ulimit -t)."',
    sees: ({ text }) => expect(text).toContain('seconds 77.'),
  }),
  env: () => ({
    options: { env: { OWN_VARIABLE: 'mine' } },
    command: 'echo "[$OWN_VARIABLE]"',
    sees: ({ text }) => expect(text).toContain('[mine]'),
  }),
  inheritEnv: () => ({
    options: { inheritEnv: 'none' },
    command: `echo "[\${${HOST_VARIABLE}-gone}]"`,
    sees: ({ text }) => expect(text).toContain('[gone]'),
  }),
};
