import { showValue } from '../../support/errors.js';

/**
 * The type of a field, as text that a program in another language can read: `text`, `flag`, `number`,
 * `whole` (a whole number), `amount` (a number from 0), `count` (a whole number from 0), `1..9` (a
 * whole number in that range), `object`, `any`, `null`, `true`, `false`, `'word'`, or the name of a
 * shape. `text[]` is a list, `text | null` a choice.
 */
export type FieldType = string;

/**
 * The fields of an object by name. One whose name ends with `?`, or that may be `null`, may be missing;
 * fields that are not named are passed over.
 */
export type ShapeFields = Readonly<Record<string, FieldType>>;

/** The names of the fields of a type, with `?` after those that may be missing. */
type FieldNames<T> = {
  readonly [Name in keyof T & string as undefined extends T[Name] ? `${Name}?` : Name]-?: FieldType;
};

/**
 * Returns fields that the compiler has compared with a type's: none is missing, and none is made up.
 */
export function fieldsOf<T>(fields: FieldNames<T>): ShapeFields {
  return fields;
}

/** Shapes by name: the fields of an object, or another name for a type. */
export type Shapes = Readonly<Record<string, ShapeFields | FieldType>>;

/** A place where a value does not match its type. */
interface Mismatch {
  /** Names of fields and indices that lead to it, such as `captures[0].text`; empty: the value itself. */
  readonly path: string;
  readonly expected: FieldType;
  readonly got: unknown;
}

/** Describes a mismatch for people. */
export function describeMismatch({ path, expected, got }: Mismatch): string {
  return `${path === '' ? '' : `${path}: `}expected ${expected}, got ${showValue(got)}`;
}

const PRIMITIVES: Readonly<Record<string, (value: unknown) => boolean>> = {
  any: (value) => value !== undefined,
  text: (value) => typeof value === 'string',
  flag: (value) => typeof value === 'boolean',
  number: (value) => Number.isFinite(value),
  whole: (value) => Number.isSafeInteger(value),
  amount: (value) => Number.isFinite(value) && Number(value) >= 0,
  count: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  object: isObject,
  null: (value) => value === null,
  true: (value) => value === true,
  false: (value) => value === false,
};

/** Compares a value with a type. Returns the first mismatch; `undefined`: there is none. */
export function mismatch(
  shapes: Shapes,
  type: FieldType,
  value: unknown,
  path = '',
): Mismatch | undefined {
  const choices = type.split(' | ');
  const found = choices.map((choice) => mismatchOfOne(shapes, choice, value, path));
  if (found.includes(undefined)) return undefined;
  // With one choice, or one that came further, the mismatch inside says more.
  const inside = found.find((each) => each !== undefined && each.path !== path);
  return inside ?? { path, expected: type, got: value };
}

/** Compares an object with the fields that it should have. */
export function mismatchOfFields(
  shapes: Shapes,
  fields: ShapeFields,
  value: unknown,
  path = '',
): Mismatch | undefined {
  if (!isObject(value)) return { path, expected: 'object', got: value };
  for (const [key, type] of Object.entries(fields)) {
    const name = key.replace(/\?$/, '');
    const field: unknown = Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
    if (field === undefined && (name !== key || type.split(' | ').includes('null'))) continue;
    const found = mismatch(shapes, type, field, path === '' ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function mismatchOfOne(
  shapes: Shapes,
  type: FieldType,
  value: unknown,
  path: string,
): Mismatch | undefined {
  if (type.endsWith('[]')) {
    if (!Array.isArray(value)) return { path, expected: type, got: value };
    for (const [index, item] of value.entries()) {
      const found = mismatch(shapes, type.slice(0, -2), item, `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const shape = Object.hasOwn(shapes, type) ? shapes[type] : undefined;
  if (typeof shape === 'string') return mismatch(shapes, shape, value, path);
  if (shape !== undefined) return mismatchOfFields(shapes, shape, value, path);
  return isOfType(type, value) ? undefined : { path, expected: type, got: value };
}

function isOfType(type: FieldType, value: unknown): boolean {
  const primitive = Object.hasOwn(PRIMITIVES, type) ? PRIMITIVES[type] : undefined;
  if (primitive !== undefined) return primitive(value);
  const [, word, least, most] = /^'(.*)'$|^(\d+)\.\.(\d+)$/.exec(type) ?? [];
  if (word !== undefined) return value === word;
  if (least === undefined) throw new TypeError(`there is no type ${type}`);
  return Number.isInteger(value) && Number(value) >= Number(least) && Number(value) <= Number(most);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
