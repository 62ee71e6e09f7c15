import fc from 'fast-check';

/**
 * Properties are tried with the same values each time, so that what fails has to do with what was changed.
 * With `FORKLINE_SEED`, a number or `random`, they are tried with others.
 */
const asked = process.env.FORKLINE_SEED ?? '25';
if (asked !== 'random') fc.configureGlobal({ seed: Number(asked) });

export { fc };
