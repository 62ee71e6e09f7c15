import type { OptionsOf } from '../../../faces/options.js';
import { type FarLine, spawnFar } from '../machine.js';
import type { StartThere } from './far-script.js';

/** How long a call about files may take by default, in milliseconds. */
const LONGEST_MS = 600_000;

/** Where the commands run that reach the files of a tool. */
interface FilesPlace {
  readonly cwd?: string | undefined;
  readonly sandbox?: OptionsOf<'remote'>['sandbox'];
}

/** Returns what starts programs on a far side that read and write files there. */
export function startThere(line: FarLine, place: () => FilesPlace): StartThere {
  return (command, { timeoutMs, signal, stdin }) => {
    const { cwd, sandbox } = place();
    const own = { ...(cwd !== undefined && { cwd }), ...(sandbox && { sandbox }) };
    const limits = { timeoutMs: timeoutMs ?? LONGEST_MS, ...(signal && { signal }) };
    const bytes = { encoding: 'bytes', streams: 'separate', overflow: 'pause' } as const;
    return spawnFar(line, command, { ...own, ...limits, ...bytes, stdin });
  };
}
