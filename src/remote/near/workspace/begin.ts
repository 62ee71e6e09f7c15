import { checkObject, isMissing, type OptionNames, readOptions } from '../../../support/checks.js';
import { InputError, showValue } from '../../../support/errors.js';

/** What the directory has in which a session begins. */
export type FarWorkspace = {
  /** The directory there in which it is made. Default: the one for temporary files. */
  readonly within?: string | undefined;
} & (
  | {
      /** An archive of `tar`, compressed by gzip or not: a file of this machine, or its bytes. */
      readonly archive: string | Uint8Array;
    }
  | {
      /** A repository that `git` finds there. */
      readonly git: string;
      /** The commit, or a branch or tag. Default: the remote's `HEAD`. */
      readonly commit?: string | undefined;
    }
);

/** A workspace, checked. */
export type Begin =
  | { readonly kind: 'archive'; readonly archive: string | Uint8Array; readonly within: string }
  | {
      readonly kind: 'git';
      readonly url: string;
      readonly commit: string;
      readonly within: string;
    };

/** All its fields, as they may come. */
interface GivenWorkspace {
  readonly within?: unknown;
  readonly archive?: unknown;
  readonly git?: unknown;
  readonly commit?: unknown;
}

const NAMES: OptionNames<GivenWorkspace> = { within: true, archive: true, git: true, commit: true };

/**
 * Checks a workspace; `undefined`: none is wanted.
 *
 * @throws {InputError} It is no workspace.
 */
export function beginOf(given: FarWorkspace | null | undefined): Begin | undefined {
  if (isMissing(given)) return undefined;
  checkObject('workspace', given);
  const options = readOptions<GivenWorkspace>('workspace', given, NAMES, { within: 'workspace.' });
  const { within, archive, git, commit } = options;
  if (isMissing(archive) === isMissing(git)) {
    throw new InputError(
      `workspace: expected one of archive and git, got ${showValue(Object.keys(given))}`,
    );
  }
  const place = isMissing(within) ? '' : textOf('within', within);
  if (isMissing(archive)) {
    return {
      kind: 'git',
      url: textOf('git', git),
      commit: isMissing(commit) ? 'HEAD' : textOf('commit', commit),
      within: place,
    };
  }
  if (archive instanceof Uint8Array) return { kind: 'archive', archive, within: place };
  return { kind: 'archive', archive: textOf('archive', archive), within: place };
}

/** @throws {InputError} It is no text, or one that programs take for an option. */
function textOf(name: string, value: unknown): string {
  if (typeof value === 'string' && /^[^-\0][^\0]*$/.test(value)) return value;
  throw new InputError(
    `workspace.${name}: expected text that begins with no "-", got ${showValue(value)}`,
  );
}
