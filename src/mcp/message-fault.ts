/** An object of JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The fault of a message, as an error response tells it. */
export interface Fault {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns why a message is no request and no notification; `undefined`: it is one. */
export function faultOf(message: unknown): Fault | undefined {
  if (!isObject(message)) return invalid('expected an object');
  if (message.jsonrpc !== '2.0') return invalid('jsonrpc: expected "2.0"');
  if (typeof message.method !== 'string') return invalid('method: expected a string');
  if ('id' in message && typeof message.id !== 'string' && !Number.isInteger(message.id)) {
    return invalid('id: expected a string or a whole number');
  }
  return paramsFault(message.params);
}

function paramsFault(params: unknown): Fault | undefined {
  if (params === undefined) return undefined;
  if (!isObject(params)) return invalidParams('params: expected an object');
  const { _meta: meta } = params;
  if (meta === undefined) return undefined;
  if (!isObject(meta)) return invalidParams('params._meta: expected an object');
  const { progressToken: token } = meta;
  if (token === undefined || typeof token === 'string' || Number.isInteger(token)) return undefined;
  return invalidParams('params._meta.progressToken: expected a string or a whole number');
}

function invalid(why: string): Fault {
  return { code: INVALID_REQUEST, message: `Invalid request: ${why}` };
}

function invalidParams(why: string): Fault {
  return { code: INVALID_PARAMS, message: `Invalid params: ${why}` };
}
