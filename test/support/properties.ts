import fc from 'fast-check';

/**
 * Properties are tried with the same values each time, so that what fails has to do with what was changed.
 * With `FORKLINE_SEED`, a number or `random`, they are tried with others.
 */
const asked = process.env.FORKLINE_SEED ?? '25';
if (asked !== 'random') fc.configureGlobal({ seed: Number(asked) });

/** The seed of what is tried with values that are not the library's. */
export const SEED = asked === 'random' ? Math.floor(Math.random() * 1_000_000_000) : Number(asked);

export { fc };
