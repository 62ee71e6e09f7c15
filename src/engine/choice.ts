import { InputError, showValue } from '../support/errors.js';

/**
 * What runs the commands: `native`, which knows all that this package promises; or `portable`, which
 * needs nothing but Node, and what it can't keep stands in docs/portable.md.
 */
export type EngineName = 'native' | 'portable';

let chosen: EngineName | undefined;

/**
 * The engine of this process: that of its platform, unless `FORKLINE_ENGINE` names another. Where it
 * is the native one and that can't be loaded, nothing else takes its place.
 *
 * @throws {InputError} `FORKLINE_ENGINE` names none.
 * @throws Error (`FORKLINE_UNSUPPORTED_PLATFORM`) There is none for this platform.
 */
export function engineName(): EngineName {
  chosen ??= choose(process.platform, process.env.FORKLINE_ENGINE);
  return chosen;
}

/** @throws As {@link engineName}. */
export function choose(platform: NodeJS.Platform, asked: string | undefined): EngineName {
  if (asked && asked !== 'native' && asked !== 'portable') {
    const expected = "expected 'native' or 'portable'";
    throw new InputError(`FORKLINE_ENGINE: ${expected}, got ${showValue(asked)}`);
  }
  if (platform === 'linux') return asked === 'portable' ? 'portable' : 'native';
  if (platform !== 'darwin') {
    throw unsupported(`forkline runs on Linux and macOS; ${platform} is not supported`);
  }
  if (asked === 'native') {
    throw unsupported(`FORKLINE_ENGINE: expected 'portable' on ${platform}, got "native"`);
  }
  return 'portable';
}

function unsupported(message: string): Error {
  return Object.assign(new Error(message), { code: 'FORKLINE_UNSUPPORTED_PLATFORM' });
}

/**
 * Refuses what only the native engine can do.
 *
 * @param field The option or function, `instead` what would be right.
 * @throws {InputError} The engine is the portable one.
 */
export function needsNativeEngine(field: string, value: unknown, instead: string): void {
  if (engineName() === 'native') return;
  const why = 'the portable engine cannot do it, see docs/portable.md';
  throw new InputError(`${field}: expected ${instead} (${why}), got ${showValue(value)}`);
}
