import { InputError, showValue } from '../support/errors.js';

/**
 * Names of environment variables that look like secrets; `*` stands for any characters, case does
 * not matter. Commands do not inherit them unless asked to (`inheritEnv: 'all'`), and a caller may
 * replace the list.
 *
 * The patterns err on the side of hiding, with two exceptions: `*TOKEN*` would take settings such
 * as `TOKENIZERS_PARALLELISM`, and `SSH_AUTH_SOCK` is a way to use a key, not the key.
 */
export const SECRET_NAME_PATTERNS: readonly string[] = [
  // Anything that says what it is.
  '*API_KEY*',
  '*APIKEY*',
  '*_KEY',
  '*ACCESS_KEY*',
  '*PRIVATE_KEY*',
  'TOKEN',
  '*_TOKEN',
  '*ACCESS_TOKEN*',
  '*ACCESSTOKEN*',
  '*AUTH_TOKEN*',
  '*AUTHTOKEN*',
  '*SECRET*',
  '*PASSWORD*',
  '*PASSWD*',
  '*PASSPHRASE*',
  'PASS',
  '*_PASS',
  '*_PWD',
  '*CREDENTIAL*',
  'AUTH',
  '*_AUTH',
  '*_AUTHORIZATION',
  'BEARER',
  '*_BEARER',
  'JWT',
  '*_JWT',
  'COOKIE',
  '*_COOKIE',
  '*_SK',

  // Clouds: what is not named by the above.
  'AWS_SESSION_*',
  'AWS_SECURITY_*',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'CLOUDSDK_AUTH_*',
  '*CONNECTION_STRING*',

  // Version control, package registries, containers.
  '*_PAT',
  'DOCKER_AUTH_CONFIG',
  'TF_TOKEN_*',
  'POETRY_PYPI_TOKEN_*',

  // Addresses that usually carry a password.
  '*DATABASE_URL',
  '*DATABASE_URI',
  '*BROKER_URL',
  'RABBITMQ*_URL',
  'AIRFLOW_CONN_*',
  'POSTGRES*_URL',
  'MYSQL*_URL',
  'MONGO*_URI',
  'MONGO*_URL',
  'REDIS*_URL',
  'AMQP*_URL',
  '*WEBHOOK*',
  '*_DSN',

  // Headers of requests, which usually have one that authorizes.
  'OTEL_EXPORTER_OTLP*_HEADERS',

  // Programs' own names for a password or an unlocked vault.
  'SSHPASS',
  'OP_SESSION_*',
  'BW_SESSION',
];

/** From one `://` to the next at most: however long a value is, each character is met once. */
const PASSWORD_IN_URL = /[a-z\d]:\/\/[^\s/?#@:]*:[^\s/?#@]+@/i;

/**
 * Whether a variable's value has a URL with a password in it: a secret, whatever its name. One that
 * only refers to other variables counts too.
 */
export function hasPassword(value: string): boolean {
  return PASSWORD_IN_URL.test(value);
}

/**
 * For callers without a type checker.
 *
 * @throws {InputError} `scrub` is no array of strings.
 */
function checkNamePatterns(scrub: unknown): void {
  if (scrub === undefined) return;
  if (Array.isArray(scrub) && scrub.every((pattern) => typeof pattern === 'string')) return;
  throw new InputError(`scrub: expected an array of name patterns, got ${showValue(scrub)}`);
}

const compiled = new WeakMap<readonly string[], RegExp>();

/**
 * One expression that matches the names any of the patterns matches. The result is kept for as long
 * as the array lives, so an array must not be changed after its first use.
 *
 * @throws {InputError} They are no array of strings.
 */
export function compileNamePatterns(patterns: readonly string[]): RegExp {
  let expression = compiled.get(patterns);
  if (expression === undefined) {
    checkNamePatterns(patterns);
    expression = toExpression(patterns);
    compiled.set(patterns, expression);
  }
  return expression;
}

function toExpression(patterns: readonly string[]): RegExp {
  // An empty alternation would match the empty name only by accident; match nothing instead.
  if (patterns.length === 0) return /(?!)/;
  const alternatives = patterns.map((pattern) => pattern.split('*').map(escapeLiteral).join('.*'));
  return new RegExp(`^(?:${alternatives.join('|')})$`, 'is');
}

function escapeLiteral(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
