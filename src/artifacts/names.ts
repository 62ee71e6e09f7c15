/** A file of a store, as its name tells. */
export type Entry =
  | { readonly kind: 'artifact'; readonly name: string; readonly id: number; readonly tool: string }
  /** An id that was used by an earlier version, which kept no counter. */
  | { readonly kind: 'claim'; readonly name: string; readonly id: number }
  /** An output that is not an artifact yet. */
  | { readonly kind: 'draft'; readonly name: string };

const ARTIFACT = /^(?<id>0|[1-9]\d{0,14})\.(?<tool>[A-Za-z0-9_-]+)\.log$/;
const CLAIM = /^\.id-(?<id>0|[1-9]\d{0,14})$/;
const DRAFT = /^\.draft-/;

export function artifactName(id: number, tool: string): string {
  return `${id}.${toolName(tool)}.log`;
}

/** The file that counts a directory's ids: see ids.ts. */
export const COUNTER_NAME = '.ids';

/** @param unique A prefix that no other draft of the directory has. */
export function draftName(unique: string): string {
  return `.draft-${unique}`;
}

/** Returns undefined for a file that is not the store's. */
export function parseName(name: string): Entry | undefined {
  const artifact = ARTIFACT.exec(name)?.groups;
  if (artifact !== undefined) {
    return { kind: 'artifact', name, id: Number(artifact.id), tool: artifact.tool ?? '' };
  }
  const claim = CLAIM.exec(name)?.groups;
  if (claim !== undefined) return { kind: 'claim', name, id: Number(claim.id) };
  return DRAFT.test(name) ? { kind: 'draft', name } : undefined;
}

const MOST_CHARACTERS = 64;

/** Converts a tool's name to a part of a file name: without dots and separators, never empty. */
export function toolName(tool: string): string {
  return tool.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MOST_CHARACTERS) || 'tool';
}
