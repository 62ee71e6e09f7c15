import { errorCode } from '../../../engine/system-error.js';

/** Makes the error for data that did not get into a command's input. */
export function notWritten(errno: number, why: string): Error {
  const code = errorCode(errno);
  return Object.assign(new Error(`${code}: ${why}`), { code, errno });
}
