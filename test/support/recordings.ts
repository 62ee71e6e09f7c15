import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the recordings are, a folder for each program. */
export const RECORDINGS = fileURLToPath(new URL('../minimizer/recordings', import.meta.url));

/** A real output. */
export interface Recording {
  /** `cargo/tests-failed` */
  readonly name: string;
  readonly program: string;
  /** The version of the program. */
  readonly version: string;
  /** The shell command that printed it. */
  readonly command: string;
  /** Null for one that was ended, by a signal, because it hung. */
  readonly exitCode: number | null;
  /** Lines that tell what went wrong, as a person would point them out. */
  readonly mustStay: readonly string[];
  /** What it printed, byte for byte. */
  readonly text: string;
}

type Listed = Pick<Recording, 'command' | 'exitCode' | 'mustStay'>;

interface ListOfProgram {
  readonly version: string;
  readonly recordings: Readonly<Record<string, Listed>>;
}

/** Names of the programs that were recorded. */
export const PROGRAMS = readdirSync(RECORDINGS, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'shown')
  .map(({ name }) => name)
  .sort();

/** The recordings of a program, in the order of their names. */
export function recordingsOf(program: string): Recording[] {
  const text = readFileSync(join(RECORDINGS, program, 'recordings.json'), 'utf8');
  const { version, recordings } = JSON.parse(text) as ListOfProgram;
  return Object.entries(recordings).map(([name, listed]) => ({
    ...listed,
    name: `${program}/${name}`,
    program,
    version,
    text: readFileSync(join(RECORDINGS, program, `${name}.txt`), 'utf8'),
  }));
}

export const ALL_RECORDINGS = PROGRAMS.flatMap(recordingsOf);
