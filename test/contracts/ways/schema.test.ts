import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { toolsOf } from '../../../src/adapters/index.js';
import {
  type BashTool,
  type BashToolOptions,
  CONTRACT_NAMES,
  createBashTool,
  InputError,
  type ModesInput,
  type WorkspaceInput,
} from '../../../src/index.js';
import { useDisposal } from '../../support/disposal.js';

const keep = useDisposal();
const everyTool = (): BashTool[] =>
  CONTRACT_NAMES.flatMap((contract) => {
    const more = contract === 'workspace' ? { async: true } : {};
    return toolsOf(keep(createBashTool({ contract, cwd: '/', ...more } as BashToolOptions)));
  });

describe('the schema of a tool', () => {
  test('is a Standard Schema with JSON Schema, for the compiler too', () => {
    for (const { schema } of everyTool()) {
      const standard: StandardSchemaV1 & StandardJSONSchemaV1 = schema;
      expect(standard['~standard']).toMatchObject({ version: 1, vendor: 'forkline' });
    }
    const { schema } = keep(createBashTool({ contract: 'modes', cwd: '/' }));
    expectTypeOf<StandardSchemaV1.InferOutput<typeof schema>>().toEqualTypeOf<ModesInput>();
  });

  test.each(['draft-2020-12', 'draft-07', 'openapi-3.0'] as const)(
    'is the input schema in %s, a new one each time',
    (target) => {
      for (const { schema, inputSchema } of everyTool()) {
        const { input, output } = schema['~standard'].jsonSchema;
        expect(input({ target })).toEqual(inputSchema);
        expect(output({ target })).toEqual(inputSchema);
        Object.assign(input({ target }), { changed: true });
        expect(inputSchema).not.toHaveProperty('changed');
      }
    },
  );

  test('refuses a version of JSON Schema that it does not know', () => {
    const [{ schema } = { schema: undefined }] = everyTool();
    const convert = () => schema?.['~standard'].jsonSchema.input({ target: 'draft-03' });
    expect(convert).toThrow(InputError);
    expect(convert).toThrow(/^target: expected one of "draft-2020-12", .* got "draft-03"$/);
  });

  test('makes of a valid input what the tool takes, at once', () => {
    const { schema } = keep(createBashTool({ contract: 'workspace', cwd: '/' }));
    const { validate } = schema['~standard'];
    expect(validate({ command: 'ls', timeout: null, description: 'Lists' })).toEqual({
      value: { command: 'ls', description: 'Lists' },
    });
    expect(validate({ command: 'ls', timeout: 'soon' })).toEqual({
      issues: [{ message: 'timeout: expected a number, got "soon"' }],
    });
    expect(validate(undefined)).toMatchObject({ issues: [expect.anything()] });
  });

  test('G7: its properties, what is required and that there is nothing else are known to the type', () => {
    for (const { inputSchema } of everyTool()) {
      expectTypeOf(inputSchema.required).toEqualTypeOf<string[] | undefined>();
      expectTypeOf(inputSchema.additionalProperties).toEqualTypeOf<false>();
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      for (const name of inputSchema.required ?? []) {
        expect(inputSchema.properties[name]).toHaveProperty('type');
      }
    }
  });

  test('is made when it is asked for, once', () => {
    for (const tool of everyTool()) {
      expect(Object.getOwnPropertyDescriptor(tool, 'schema')?.get).toBeTypeOf('function');
      expect(tool.schema).toBe(tool.schema);
    }
  });
});

test('the types of all inputs are exported', () => {
  expectTypeOf<WorkspaceInput['command']>().toEqualTypeOf<string>();
});
