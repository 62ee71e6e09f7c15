import { InputError } from '../../support/errors.js';
import { type ObjectSchema, readInput } from '../validate.js';

/** What a schema makes of a value: a valid one, or what is wrong with it. */
export type SchemaResult<Value> =
  | { readonly value: Value; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };

/**
 * A schema as the frameworks take it, whichever library they were made for: a Standard Schema,
 * version 1, which has its JSON Schema with it.
 */
export interface ToolSchema<Value> {
  /** All of it, under the key that the specification names. */
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'forkline';
    /** Only for the compiler. */
    readonly types?: { readonly input: Value; readonly output: Value } | undefined;
    /** Of a valid value what the tool takes: without nulls for what need not be there. */
    readonly validate: (value: unknown) => SchemaResult<Value>;
    /** A new one each time, which may be changed. */
    readonly jsonSchema: {
      /** That of the input. Throws an `InputError` for a target that it does not know. */
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      /** The same, since nothing is changed: what comes out is what went in. */
      readonly output: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

/** What our schemas use means the same in all of them. */
const TARGETS: readonly string[] = ['draft-2020-12', 'draft-07', 'openapi-3.0'];

/** A tool's schema for those who know no JSON Schema alone. */
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
    // What the schema does not accept is refused, so this is what it accepts.
    return { value: readInput(value, schema) as Value };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { issues: [{ message: error.message }] };
  }
}
