import { messageOf } from '../support/errors.js';
import { note } from './notes.js';
import { expectOutputErrors } from './standard-output.js';

/** Sets the exit code: 0 if all was done. */
export async function answered(work: () => Promise<boolean>): Promise<void> {
  expectOutputErrors();
  try {
    process.exitCode = (await work()) ? 0 : 1;
  } catch (error) {
    note(messageOf(error));
    process.exitCode = 1;
  }
}
