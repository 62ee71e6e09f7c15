import { InputError, showValue } from '../support/errors.js';

/**
 * The engine that runs commands: `native`, with all that this package promises; or `portable`, which
 * needs only Node, and whose limits are listed in docs/portable.md.
 */
export type EngineName = 'native' | 'portable';

let chosen: EngineName | undefined;

/**
 * Returns the engine of this process: that of its platform, unless `FORKLINE_ENGINE` names another. A
 * native engine that cannot be loaded is not replaced by the portable one.
 *
 * @throws {InputError} `FORKLINE_ENGINE` names no engine.
 * @throws Error (`FORKLINE_UNSUPPORTED_PLATFORM`) There is no engine for this platform.
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
 * Refuses an option or a call that only the native engine supports.
 *
 * @param field Name of the option or function; `instead` is what would be right.
 * @throws {InputError} The engine is the portable one.
 */
export function needsNativeEngine(field: string, value: unknown, instead: string): void {
  if (engineName() === 'native') return;
  const why = 'the portable engine cannot do it, see docs/portable.md';
  throw new InputError(`${field}: expected ${instead} (${why}), got ${showValue(value)}`);
}
