import type { TerminalSize } from '../../../options/terminal.js';
import { checkObject } from '../../../support/checks.js';

/**
 * Returns a function that reads the fields of a parsed file.
 *
 * @param what The name of the value in an error.
 * @returns A function that returns a field, and throws an Error if it does not have the written type.
 * @throws {Error} `value` is not an object.
 */
export function keptFields<Name extends string>(what: string, value: unknown) {
  checkObject(what, value);
  return <T>(name: Name, is: (field: unknown) => field is T): T => {
    const field: unknown = Reflect.get(value, name);
    if (!is(field)) throw new Error(`${name}: not what was written`);
    return field;
  };
}

export const isText = (field: unknown): field is string => typeof field === 'string';
export const isTexts = (field: unknown): field is readonly string[] =>
  Array.isArray(field) && field.every(isText);
export const isSwitch = (field: unknown): field is boolean => typeof field === 'boolean';
export const isNumber = (field: unknown): field is number =>
  typeof field === 'number' && Number.isFinite(field) && field >= 0;
export const isNumberOrNothing = (field: unknown): field is number | undefined =>
  field === undefined || isNumber(field);
export const isSizeOrNothing = (field: unknown): field is TerminalSize | undefined => {
  if (field === undefined) return true;
  if (typeof field !== 'object' || field === null) return false;
  return 'columns' in field && isNumber(field.columns) && 'rows' in field && isNumber(field.rows);
};
