import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { SandboxExec } from './exec-policy.js';

/** How programs of rules are found in a sandbox. */
export interface Programs {
  /** Makes a path of a rule absolute. */
  absolute(path: string): string;
  /** Whether commands can replace this file. */
  isWritable(path: string): boolean;
}

/** Directories of programs in all systems, whatever the host's `PATH` is. */
const USUAL = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** The places of programs, by the rules that name them: found later, a command could have made them. */
const found = new WeakMap<SandboxExec, Map<string, readonly string[]>>();

/**
 * Returns the absolute paths of a program of these rules: the path itself, or where a name is found in the host's
 * `PATH` and in the usual directories. The first call decides.
 */
export function programPlaces(
  exec: SandboxExec,
  name: string,
  programs: Pick<Programs, 'absolute'>,
): readonly string[] {
  if (name.includes('/')) return [programs.absolute(name)];
  const known = found.get(exec) ?? new Map<string, readonly string[]>();
  found.set(exec, known);
  const places = known.get(name) ?? find(name);
  known.set(name, places);
  return places;
}

function find(name: string): readonly string[] {
  const searched = [...(process.env.PATH ?? '').split(delimiter).filter(isAbsolute), ...USUAL];
  const places = searched.map((directory) => join(directory, name));
  return [...new Set(places)].filter(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
