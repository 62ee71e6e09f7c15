import { InputError, showValue } from '../support/errors.js';

/**
 * Names of environment variables that look like secrets; `*` stands for any characters, case does
 * not matter. Commands do not inherit these variables unless `inheritEnv` is `'all'`, and a caller may
 * replace the list.
 *
 * In doubt the patterns hide a variable, with two exceptions: `*TOKEN*` would match settings such
 * as `TOKENIZERS_PARALLELISM`, and `SSH_AUTH_SOCK` is a way to use a key, not the key.
 */
export const SECRET_NAME_PATTERNS: readonly string[] = [
  // Names that say that the value is a secret.
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

  // Names of clouds that the patterns above do not match.
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

  // Addresses that usually contain a password.
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

  // Headers of requests, usually with an authorization among them.
  'OTEL_EXPORTER_OTLP*_HEADERS',

  // Programs' own names for a password or an unlocked vault.
  'SSHPASS',
  'OP_SESSION_*',
  'BW_SESSION',
];

/** Matches from one `://` to the next at most, so that each character of a long value is read once. */
const PASSWORD_IN_URL = /[a-z\d]:\/\/[^\s/?#@:]*:[^\s/?#@]+@/i;

/**
 * Returns whether a variable's value has a URL with a password in it, which is a secret whatever the
 * variable's name. A password that only refers to other variables counts too.
 */
export function hasPassword(value: string): boolean {
  return PASSWORD_IN_URL.test(value);
}

/**
 * Checks name patterns, for callers without a type checker.
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
 * Compiles patterns to one expression, which matches a name if any of them does. The result is cached for
 * as long as the array lives, so an array must not be changed after its first use.
 *
 * @throws {InputError} `patterns` is no array of strings.
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
  // An empty alternation would match the empty name; this matches nothing.
  if (patterns.length === 0) return /(?!)/;
  const alternatives = patterns.map((pattern) => pattern.split('*').map(escapeLiteral).join('.*'));
  return new RegExp(`^(?:${alternatives.join('|')})$`, 'is');
}

function escapeLiteral(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
