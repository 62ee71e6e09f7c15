import { checkObject } from '../../../support/checks.js';

/**
 * Reads the fields of what one of these files has in it.
 *
 * @param what What it is called in an error.
 * @returns Gives a field; throws an Error if it is not what was written.
 * @throws {Error} It is no object.
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
