import type { ObjectSchema } from '../index.js';

/**
 * Keywords that a schema may have in OpenAI's strict mode. Any other is taken for one that it may not
 * have: a tool that is not strict works, a tool with a wrong schema is refused.
 */
const KEYWORDS: ReadonlySet<string> = new Set([
  ...['type', 'description', 'enum', 'const', 'anyOf'],
  ...['properties', 'required', 'additionalProperties'],
  ...['items', 'minItems', 'maxItems'],
  ...['pattern', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
]);

/**
 * Returns whether OpenAI's strict mode takes a schema unchanged: its root is an object and no choice,
 * every object names all of its properties as required and allows no others.
 */
export function fitsStrictMode(schema: unknown): boolean {
  return isRecord(schema) && schema.type === 'object' && !('anyOf' in schema) && fits(schema);
}

function fits(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  if (!Object.keys(schema).every((keyword) => KEYWORDS.has(keyword))) return false;
  return (
    (!isObjectSchema(schema) || isClosed(schema)) &&
    asList(schema.anyOf).every(fits) &&
    (schema.items === undefined || fits(schema.items))
  );
}

function isObjectSchema({ type, properties }: Readonly<Record<string, unknown>>): boolean {
  return type === 'object' || properties !== undefined || asList(type).includes('object');
}

function isClosed(schema: Readonly<Record<string, unknown>>): boolean {
  const properties = schema.properties ?? {};
  if (!isRecord(properties) || schema.additionalProperties !== false) return false;
  const required = asList(schema.required);
  return Object.entries(properties).every(([name, each]) => required.includes(name) && fits(each));
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns the schema for strict mode: an optional field becomes required and nullable, and the tools
 * read null as not given. `undefined`: strict mode can't express the schema, as with free names.
 */
export function strictSchema(schema: ObjectSchema): ObjectSchema | undefined {
  const strict = { ...schema, ...closed(schema) };
  return fitsStrictMode(strict) ? strict : undefined;
}

function closed({
  properties,
  required = [],
}: Pick<ObjectSchema, 'properties' | 'required'>): Required<
  Pick<ObjectSchema, 'properties' | 'required'>
> {
  const entries = Object.entries(properties).map(([name, each]) => {
    const within = isClosable(each) ? { ...each, ...closed(each) } : each;
    return [name, required.includes(name) ? within : nullable(within)] as const;
  });
  return { properties: Object.fromEntries(entries), required: Object.keys(properties) };
}

type Property = ObjectSchema['properties'][string];

/** Returns whether a field is an object with fields of its own, and no free names. */
function isClosable(property: Property): property is Property & ObjectSchema {
  return isRecord(property.properties) && property.additionalProperties === false;
}

function nullable(property: Property): Property {
  const { type, enum: choices } = property;
  return {
    ...property,
    ...(type !== undefined && { type: [type, 'null'].flat() }),
    ...(Array.isArray(choices) && { enum: [...choices, null] }),
  };
}
