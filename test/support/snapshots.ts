import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../src/index.js';
import { ShellSnapshot } from '../../src/snapshot/shell-snapshot.js';
import { useDisposal } from './disposal.js';
import { whole } from './results.js';

/**
 * How a command gets the functions of an rc file: all of them as they are, all as stubs, or those
 * as they are that its text seems to need.
 */
export type FunctionsAs = 'every' | 'stubs' | 'needed';

/** What a command printed, and how it ended. */
export interface Ending {
  readonly stdout: string;
  readonly stderr: string;
  readonly outcome: unknown;
}

/** The commands of a test after an rc file. */
export interface Snapshotted {
  /** What bash is given for a command. */
  text(command: string, as: FunctionsAs): string;
  run(command: string, as: FunctionsAs): Promise<Ending>;
}

let files = 0;

/** Captures rc files; what it keeps is removed after the test. */
export function useSnapshots(folder: {
  readonly path: string;
}): (rc: string) => Promise<Snapshotted> {
  const keep = useDisposal();
  return async (rc) => {
    files += 1;
    const rcFile = join(folder.path, `${files}.rc`);
    writeFileSync(rcFile, rc);
    return capture(rcFile, (snapshot) => keep({ dispose: () => snapshot.dispose() }));
  };
}

/** @throws Error There is no snapshot. */
export async function capture(
  rcFile: string,
  keep: (snapshot: ShellSnapshot) => unknown,
): Promise<Snapshotted> {
  const environment = () => `PATH=${process.env.PATH}\0HOME=${process.env.HOME}\0`;
  const warnings: string[] = [];
  const snapshot = new ShellSnapshot(
    { rcFile, timeoutMs: 20_000, environment, shell: undefined, mayKeep: () => true },
    (message) => warnings.push(message),
  );
  keep(snapshot);
  const ready = await snapshot.ready();
  if (ready === undefined) throw new Error(warnings.join());
  const text = (command: string, as: FunctionsAs): string => {
    const needed = ready.textFor(command, undefined);
    if (as === 'needed') return needed;
    return needed.replace(/^(command \. \S+) [^>]*>/, `$1 ${as} >`);
  };
  return {
    text,
    run: async (command, as) => {
      const { stdout, stderr, outcome } = await run(text(command, as), { streams: 'separate' });
      return { stdout: whole(stdout), stderr: whole(stderr), outcome };
    },
  };
}
