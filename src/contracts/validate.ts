import { setImmediate } from 'node:timers';
import { localeIsKnown } from '../command/locale.js';
import { onBehalfOfNobody } from '../engine/caller.js';
import { checkWellFormed } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import { unknownName } from '../support/names.js';

/** A JSON Schema, as model APIs take it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** What JSON can say. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | JsonValue[]
  | { readonly [key: string]: JsonValue };

/** The JSON Schema of an object, as all that a tool takes and gives is one. */
export interface ObjectSchema {
  readonly [keyword: string]: unknown;
  readonly type: 'object';
  /** The fields of the object, each with its own schema. */
  readonly properties: { readonly [name: string]: { readonly [keyword: string]: JsonValue } };
  /** No list that can't be changed: the types of model APIs take none. It is not to be changed. */
  readonly required?: string[];
  readonly additionalProperties: false;
}

/** What models that were trained on other tools send along with a command: its purpose. */
const LABEL = 'description';

/**
 * Makes a function that checks a value against a schema and returns it typed. `T` must describe
 * what the schema accepts. What is `null` and need not be there is left out: strict modes of model
 * APIs have every field sent.
 *
 * By hand, since our schemas use little of JSON Schema: a library that compiles them takes time at
 * each tool's first call, generates code, which some hosts forbid, and is one more thing to load
 * when the host is out of descriptors.
 *
 * @returns It answers in a later turn, so that a call that is cancelled at once begins nothing; and
 *   when many calls begin together, some turns later.
 * @throws {InputError} (the made function) The first fault found, as one line.
 */
export function createValidator<T>(schema: JsonSchema): (value: unknown) => Promise<T> {
  return async (value) => {
    const read = readValue(withoutLabel(value, schema), schema, []);
    const turn = itsTurn();
    if (turn !== undefined) await turn;
    // What the environment of its command will be is known by then.
    const locale = localeIsKnown();
    if (locale !== undefined) await locale;
    // What the schema does not accept has been refused, so this is what it accepts.
    return read as T;
  };
}

/** Calls that may begin in one turn of the event loop: a few milliseconds of work for the first ones. */
const AT_ONCE = 8;

/** Calls that have begun since the count was reset, which happens only in a turn with waiting calls. */
let begun = 0;
const waiting: (() => void)[] = [];

/**
 * Resolves when a call may go on; undefined: at once, unless many begin together. A hundred calls in one turn
 * would delay all timers and answers of the host, and none of their commands would start earlier.
 */
function itsTurn(): Promise<void> | undefined {
  if (begun < AT_ONCE && waiting.length === 0) {
    begun += 1;
    return undefined;
  }
  if (waiting.length === 0) onBehalfOfNobody(() => setImmediate(nextTurn));
  return new Promise((go) => waiting.push(go));
}

function nextTurn(): void {
  const next = waiting.splice(0, AT_ONCE);
  begun = next.length;
  if (waiting.length > 0) onBehalfOfNobody(() => setImmediate(nextTurn));
  for (const go of next) go();
}

/**
 * Checks a value at once, and keeps what is said of the command: it has yet to reach the tool.
 *
 * @throws {InputError} The first fault found, as one line.
 */
export function readInput(value: unknown, schema: JsonSchema): object {
  const read = readValue(withoutLabel(value, schema), schema, []);
  const label = labelOf(value);
  // What is read of an object is one.
  return label === undefined ? (read as object) : { ...(read as object), [LABEL]: label };
}

/** The `description` that came with a command, for whoever shows it; undefined: none did. */
export function labelOf(input: unknown): string | undefined {
  const label = isRecord(input) ? input[LABEL] : undefined;
  return typeof label === 'string' ? label : undefined;
}

function withoutLabel(value: unknown, schema: JsonSchema): unknown {
  if (!isRecord(value) || Array.isArray(value) || !(LABEL in value)) return value;
  if (LABEL in recordOf(schema.properties)) return value;
  const { [LABEL]: _, ...fields } = value;
  return fields;
}

/** The steps to a field: `['env', 'FOO']`; the whole value is `input`. */
type Path = readonly string[];

function readValue(value: unknown, schema: JsonSchema, path: Path): unknown {
  const { type, enum: choices, minimum } = schema;
  if (Array.isArray(choices) && !choices.includes(value)) {
    mismatch(path, describeChoices(choices), value);
  }
  if (typeof type === 'string' && !isOfType(value, type)) mismatch(path, describeType(type), value);
  if (typeof minimum === 'number' && Number(value) < minimum) {
    mismatch(path, `at least ${minimum}`, value);
  }
  if (typeof value === 'string' && !value.isWellFormed()) checkWellFormed(nameOf(path), value);
  if (Array.isArray(value)) {
    const items = recordOf(schema.items);
    return value.map((item, index) => readValue(item, items, [...path, String(index)]));
  }
  return isRecord(value) ? readObject(value, schema, path) : value;
}

function readObject(
  value: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
  path: Path,
): Readonly<Record<string, unknown>> {
  const properties = recordOf(schema.properties);
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  for (const name of required) {
    if (typeof name !== 'string' || (value[name] ?? undefined) !== undefined) continue;
    const type = recordOf(properties[name]).type;
    mismatch([...path, name], describeType(type), value[name]);
  }
  const others = schema.additionalProperties;
  const given = Object.keys(value).filter((name) => (value[name] ?? undefined) !== undefined);
  if (others === false) checkKnown(given, properties, path);
  const read: Record<string, unknown> = {};
  for (const name of given) {
    const own = Object.hasOwn(properties, name) ? properties[name] : others;
    put(read, name, readValue(value[name], recordOf(own), [...path, name]));
  }
  return read;
}

/** As a field, whatever it is called. */
function put(record: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') record[name] = value;
  else Object.defineProperty(record, name, { value, enumerable: true, configurable: true });
}

function checkKnown(names: readonly string[], properties: object, path: Path): void {
  for (const name of names) {
    if (Object.hasOwn(properties, name)) continue;
    const within = path.map((step) => `${step}.`).join('');
    throw new InputError(unknownName(name, Object.keys(properties), within));
  }
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return isRecord(value) && !Array.isArray(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

function mismatch(path: Path, expected: string, value: unknown): never {
  throw new InputError(`${nameOf(path)}: expected ${expected}, got ${showValue(value)}`);
}

function nameOf(path: Path): string {
  return path.join('.') || 'input';
}

function describeType(type: unknown): string {
  if (typeof type !== 'string') return 'a value';
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** `"a", "b" or "c"`. */
function describeChoices(values: readonly unknown[]): string {
  const shown = values.map(showValue);
  return [shown.slice(0, -1).join(', '), ...shown.slice(-1)].filter(Boolean).join(' or ');
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
