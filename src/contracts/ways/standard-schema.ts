import { InputError } from '../../support/errors.js';
import { type ObjectSchema, readInput } from '../validate.js';

/** The result of a check: the valid value, or what is wrong with it. */
export type SchemaResult<Value> =
  | { readonly value: Value; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };

/**
 * A schema for frameworks of any validation library: a Standard Schema, version 1, together with its JSON
 * Schema.
 */
export interface ToolSchema<Value> {
  /** The schema, under the key that the specification names. */
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'forkline';
    /** Present only for the compiler. */
    readonly types?: { readonly input: Value; readonly output: Value } | undefined;
    /** Checks a value, and leaves out nulls of optional fields. */
    readonly validate: (value: unknown) => SchemaResult<Value>;
    /** Returns a new object each time, which the caller may change. */
    readonly jsonSchema: {
      /** Returns the schema of the input. Throws an `InputError` for an unknown target. */
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      /** Returns the same schema, since a check changes no type. */
      readonly output: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

/** Targets in which the keywords of our schemas mean the same. */
const TARGETS: readonly string[] = ['draft-2020-12', 'draft-07', 'openapi-3.0'];

/** Makes a Standard Schema of a tool's JSON Schema. */
export function standardSchema<Value>(schema: ObjectSchema): ToolSchema<Value> {
  const toJson = ({ target }: { readonly target: string }): Record<string, unknown> => {
    if (TARGETS.includes(target)) return structuredClone(schema);
    const expected = TARGETS.map((one) => `"${one}"`).join(', ');
    throw new InputError(`target: expected one of ${expected}, got "${target}"`);
  };
  return {
    '~standard': {
      version: 1,
      vendor: 'forkline',
      validate: (value) => validated(value, schema),
      jsonSchema: { input: toJson, output: toJson },
    },
  };
}

function validated<Value>(value: unknown, schema: ObjectSchema): SchemaResult<Value> {
  try {
    // A value that the schema does not accept was refused, so the type is right.
    return { value: readInput(value, schema) as Value };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { issues: [{ message: error.message }] };
  }
}
