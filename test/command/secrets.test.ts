import { expect, test } from 'vitest';
import {
  compileNamePatterns,
  hasPassword,
  SECRET_NAME_PATTERNS,
} from '../../src/command/secrets.js';

const secret = compileNamePatterns(SECRET_NAME_PATTERNS);

test.each([
  'FOO_API_KEY',
  'ANTHROPIC_API_KEY',
  'openai_api_key',
  'AZURE_OPENAI_KEY',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'AZURE_CLIENT_SECRET',
  'AZURE_STORAGE_CONNECTION_STRING',
  'GITHUB_TOKEN',
  'GH_TOKEN',
  'GITHUB_PAT',
  'CI_JOB_JWT',
  'NPM_TOKEN',
  'npm_config_//registry.example.com/:_authToken',
  'npm_config__auth',
  'PGPASSWORD',
  'MYSQL_PWD',
  'SMTP_PASS',
  'GPG_PASSPHRASE',
  'SSH_PRIVATE_KEY',
  'DATABASE_URL',
  'SENTRY_DSN',
  'SLACK_WEBHOOK_URL',
  'TOKEN',
])('%s looks like a secret', (name) => {
  expect(secret.test(name)).toBe(true);
});

test.each([
  'SYSTEM_ACCESSTOKEN',
  'REDISCLI_AUTH',
  'COMPOSER_AUTH',
  'CONSUL_HTTP_AUTH',
  'TF_TOKEN_app_terraform_io',
  'POETRY_PYPI_TOKEN_PYPI',
  'SNOWSQL_PWD',
  'RABBITMQ_URL',
  'CELERY_BROKER_URL',
  'SQLALCHEMY_DATABASE_URI',
  'SLACK_WEBHOOK',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'AIRFLOW_CONN_MY_DB',
  'AUTH',
  'BEARER',
  'JWT',
  'COOKIE',
  'QINIU_SK',
])('D4: %s looks like a secret', (name) => {
  expect(secret.test(name)).toBe(true);
});

test.each([
  ['SOME_URL=https://user:pass@example.com/x', true],
  ['X=redis://:pass@localhost', true],
  ['X=amqp://a:b@one,amqp://a:b@two', true],
  ['X=jdbc:postgresql://u:p@h/db', true],
  ['X=see https://u:p@h for more', true],
  ['X=https://example.com:8080/a@b', false],
  ['X=ssh://git@github.com/x.git', false],
  ['X=http://[::1]:80/', false],
  ['X=a:b@c', false],
])('D4: a URL with a password in it is a secret, whatever its name: %s', (entry, is) => {
  expect(hasPassword(entry)).toBe(is);
});

test.each(['x://', 'x://a', ':', 'x://a:', 'x:', 'a@', ':a'])(
  'D4: a long value is searched in linear time, whatever it contains: %s …',
  (part) => {
    const long = part.repeat(1_000_000 / part.length);
    expect(hasPassword(`X=${long}`)).toBe(false);
    expect(hasPassword(`X=${long} https://u:p@h`)).toBe(true);
  },
);

test.each([
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'SSH_AUTH_SOCK',
  'TOKENIZERS_PARALLELISM',
  'MAX_THINKING_TOKENS',
  'KEYBOARD',
  'PWD',
  'OLDPWD',
  'XAUTHORITY',
  'AUTHOR',
  'PASSENGER_ROOT',
  'AWS_REGION',
  'AWS_PROFILE',
  'KUBECONFIG',
  'VIRTUAL_ENV',
  'NODE_OPTIONS',
])('%s does not look like a secret', (name) => {
  expect(secret.test(name)).toBe(false);
});

test('a pattern is literal except for its stars', () => {
  const expression = compileNamePatterns(['A.B*', '(X)']);
  expect(expression.test('a.bc')).toBe(true);
  expect(expression.test('(x)')).toBe(true);
  expect(expression.test('AxBc')).toBe(false);
  expect(expression.test('X')).toBe(false);
});

test('an empty list of patterns matches no name', () => {
  const expression = compileNamePatterns([]);
  expect(expression.test('')).toBe(false);
  expect(expression.test('TOKEN')).toBe(false);
});
