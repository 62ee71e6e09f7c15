import type { ErrorObject, ValidateFunction } from 'ajv';
import { onBehalfOfNobody } from '../engine/caller.js';
import { InputError, showValue } from '../support/errors.js';

/** A JSON Schema, as model APIs take it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Makes a function that checks a value against a schema and returns it typed. `T` must describe
 * what the schema accepts.
 *
 * The schema library is loaded and the schema compiled at the first call, not before: most programs
 * that import this package never validate anything.
 *
 * @throws {InputError} (the made function) The first fault found, as one line.
 */
export function createValidator<T>(schema: JsonSchema): (value: unknown) => Promise<T> {
  let compiled: Promise<ValidateFunction<T>> | undefined;
  return async (value) => {
    compiled ??= onBehalfOfNobody(() => compile<T>(schema));
    const accepts = await compiled;
    if (accepts(value)) return value;
    const fault = accepts.errors?.[0];
    throw new InputError(fault === undefined ? 'input: not valid' : describeFault(fault));
  };
}

async function compile<T>(schema: JsonSchema): Promise<ValidateFunction<T>> {
  const { Ajv } = await import('ajv');
  // `verbose` puts the offending value and the schema around it into the error.
  return new Ajv({ verbose: true }).compile<T>(schema);
}

function describeFault(fault: ErrorObject): string {
  switch (fault.keyword) {
    case 'required': {
      const name = String(fault.params.missingProperty);
      const expected = describeType(properties(fault.parentSchema)[name]);
      return `${fieldName(fault.instancePath, name)}: expected ${expected}, got nothing`;
    }
    case 'additionalProperties': {
      const name = String(fault.params.additionalProperty);
      const allowed = Object.keys(properties(fault.parentSchema)).join(', ');
      return `${fieldName(fault.instancePath, name)}: not known here, expected one of ${allowed}`;
    }
    case 'type':
      return describeMismatch(fault, describeType(fault.parentSchema));
    case 'enum':
      return describeMismatch(fault, describeChoices(fault.params.allowedValues));
    case 'minimum':
      return describeMismatch(fault, `at least ${fault.params.limit}`);
    default:
      return describeMismatch(fault, `something that ${fault.message ?? 'is valid'}`);
  }
}

function describeMismatch(fault: ErrorObject, expected: string): string {
  return `${fieldName(fault.instancePath)}: expected ${expected}, got ${showValue(fault.data)}`;
}

/** `/env/FOO` as `env.FOO`; the whole value is `input`. */
function fieldName(instancePath: string, ...more: string[]): string {
  const steps = instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return [...steps, ...more].join('.') || 'input';
}

function describeType(schema: unknown): string {
  const type = isRecord(schema) ? schema.type : undefined;
  if (typeof type !== 'string') return 'a value';
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** `"a", "b" or "c"`. */
function describeChoices(values: unknown): string {
  const shown = Array.isArray(values) ? values.map(showValue) : [];
  return [shown.slice(0, -1).join(', '), ...shown.slice(-1)].filter(Boolean).join(' or ');
}

function properties(schema: unknown): Readonly<Record<string, unknown>> {
  const found = isRecord(schema) ? schema.properties : undefined;
  return isRecord(found) ? found : {};
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
