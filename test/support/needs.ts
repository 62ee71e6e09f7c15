import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { TaskMeta } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** What this machine, or whoever runs the tests, lacks for it: it was skipped. */
    lacks?: string;
  }
}

/** What a test needs, which is not everywhere. */
export interface Need {
  readonly isMet: boolean;
  /** What is said in the last lines of a run where it is not. */
  readonly otherwise: string;
}

export const ROOT: Need = { isMet: process.getuid?.() === 0, otherwise: 'not root' };

/** What root may do anyway can't be seen to be refused. */
export const NOT_ROOT: Need = { isMet: !ROOT.isMet, otherwise: 'root' };

/** What a test finds out by itself: the far side was built, a registry answers. */
export const need = (isMet: boolean, otherwise: string): Need => ({ isMet, otherwise });

/** Where a program lies, by PATH or where only root has its PATH lead; undefined: nowhere. */
export function programPath(name: string): string | undefined {
  const places = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return places.map((place) => join(place, name)).find((path) => existsSync(path));
}

/** A program that must be there. */
export function installed(name: string): Need {
  return need(programPath(name) !== undefined, `${name} is not installed`);
}

/** What a process may have open at most: Node raises its own limit to that. */
function mostDescriptors(): number {
  const [, most = ''] = /^Max open files +\S+ +(\S+)/m.exec(readProcLimits()) ?? [];
  return most === 'unlimited' ? Infinity : Number(most);
}

function readProcLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return 'Max open files 0 unlimited';
  }
}

/** Room for many commands at once. */
export function descriptors(count: number): Need {
  return need(mostDescriptors() >= count, 'too few descriptors');
}

/** The options of a test, or of a group of tests, that is skipped unless all of this is there. */
export function where(...needs: readonly Need[]): { skip: boolean; meta: Partial<TaskMeta> } {
  const missing = needs.find(({ isMet }) => !isMet);
  return { skip: missing !== undefined, meta: missing ? { lacks: missing.otherwise } : {} };
}

/** Ends a test that finds out only when it runs that something is missing. */
export function skipFor(
  context: { readonly task: { meta: TaskMeta }; skip(note?: string): never },
  otherwise: string,
): never {
  context.task.meta.lacks = otherwise;
  context.skip(otherwise);
}
