import { expect, test } from 'vitest';
import { compileNamePatterns, SECRET_NAME_PATTERNS } from '../../src/command/secrets.js';

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
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'SSH_AUTH_SOCK',
  'TOKENIZERS_PARALLELISM',
  'MAX_THINKING_TOKENS',
  'KEYBOARD',
  'PWD',
  'PASSENGER_ROOT',
  'AWS_REGION',
  'AWS_PROFILE',
  'KUBECONFIG',
  'VIRTUAL_ENV',
  'NODE_OPTIONS',
])('%s does not look like a secret', (name) => {
  expect(secret.test(name)).toBe(false);
});

test('a pattern is literal but for its stars', () => {
  const expression = compileNamePatterns(['A.B*', '(X)']);
  expect(expression.test('a.bc')).toBe(true);
  expect(expression.test('(x)')).toBe(true);
  expect(expression.test('AxBc')).toBe(false);
  expect(expression.test('X')).toBe(false);
});

test('no patterns match nothing', () => {
  const expression = compileNamePatterns([]);
  expect(expression.test('')).toBe(false);
  expect(expression.test('TOKEN')).toBe(false);
});
