import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../src/index.js';
import { ShellSnapshot } from '../../src/snapshot/shell-snapshot.js';
import { withSnapshot } from '../../src/snapshot/snapshot-text.js';
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

const unconfined = { sandboxWith: () => undefined, mayKeep: () => true };

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
    const cwd = join(folder.path, 'place');
    mkdirSync(cwd, { recursive: true });
    writeFileSync(join(cwd, 'file'), 'text\n');
    return capture(rcFile, cwd, (snapshot) => keep({ dispose: () => snapshot.dispose() }));
  };
}

/** @throws Error There is no snapshot. */
async function capture(
  rcFile: string,
  cwd: string,
  keep: (snapshot: ShellSnapshot) => unknown,
): Promise<Snapshotted> {
  const environment = () => `PATH=${process.env.PATH}\0HOME=${process.env.HOME}\0`;
  const warnings: string[] = [];
  const snapshot = new ShellSnapshot(
    { rcFile, timeoutMs: 20_000, environment, shell: undefined, ...unconfined },
    (message) => warnings.push(message),
  );
  keep(snapshot);
  const ready = await snapshot.ready();
  if (ready === undefined) throw new Error(warnings.join());
  // What names are made of cannot be known.
  const [, file = ''] = /^command \. (\S+) /.exec(ready.textFor('$0', undefined)) ?? [];
  const text = (command: string, as: FunctionsAs): string =>
    as === 'needed' ? ready.textFor(command, undefined) : withSnapshot(file, [as], command);
  return {
    text,
    run: async (command, as) => {
      const { stdout, stderr, outcome } = await run(text(command, as), {
        streams: 'separate',
        cwd,
        env: ready.exported,
      });
      return { stdout: whole(stdout), stderr: whole(stderr), outcome };
    },
  };
}
