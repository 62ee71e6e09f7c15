import { readFileSync } from 'node:fs';
import { changesBetween, PARTS, type Part, partOf, type Snapshot } from './snapshot.js';

/** What a command said, and what it left. */
interface Came {
  readonly outcome: object;
  readonly stdout: string;
  readonly stderr: string;
  readonly left: Snapshot;
}

const SAID = ['outcome', 'stdout', 'stderr'] as const;

/** What can differ between a command in a sandbox and one in none. */
type Differing = (typeof SAID)[number] | Part;

interface Known {
  readonly because: string;
  /** The commands by their repositories, each with the parts that differ, in the order of `ORDER`. */
  readonly cases: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const ORDER: readonly Differing[] = [...SAID, ...PARTS];

/** The allowed differences, with their reasons. */
export const known: readonly Known[] = JSON.parse(
  readFileSync(new URL('differences.json', import.meta.url), 'utf8'),
);

/** What is allowed to differ for a command, separated by blanks. */
export function knownFor(repository: string, command: string): string {
  return known.map(({ cases }) => cases[repository]?.[command]).find(Boolean) ?? '';
}

/** Compares a command in a sandbox with one in none. */
export function differencesIn(
  bare: Came,
  confined: Came,
  workspace: string,
): { parts: string; details: string } {
  const said = SAID.flatMap((name) => {
    const [one, other] = [JSON.stringify(bare[name]), JSON.stringify(confined[name])];
    return one === other ? [] : [{ part: name, detail: `${name} ${one}\n  but ${other}` }];
  });
  const left = changesBetween(bare.left, confined.left).map(({ name, detail }) => ({
    part: partOf(name, workspace),
    detail,
  }));
  const all: { part: Differing; detail: string }[] = [...said, ...left];
  const parts = ORDER.filter((part) => all.some((each) => each.part === part)).join(' ');
  return { parts, details: all.map(({ detail }) => detail).join('\n') };
}
