import { isShellVariable } from '../../shell/variables.js';
import { InputError, showValue } from '../../support/errors.js';

/** A secret that commands use without getting it. */
export interface SandboxSecret {
  /** The value: 8 to 4,096 printable characters of ASCII. It stays in the host. */
  readonly value: string;
  /** The hosts that get the secret, as in `allowedDomains`, to which they are added. */
  readonly domains: readonly string[];
  /**
   * Whether it is inserted into the bodies of requests, too. A command that can have a text published at
   * one of the domains can have the value published then. Default: false.
   */
  readonly body?: boolean | undefined;
}

const NAME = /^[A-Za-z_]\w*$/;
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]{6,4094})[\x21-\x7e]$/;
const FIELDS: readonly string[] = ['value', 'domains', 'body'];

/**
 * Checks the secrets of a policy. No message contains text that may be a value.
 *
 * @param checkDomains Checks that the field of this name has names of hosts.
 * @throws {InputError} The secrets are not valid.
 */
export function checkSecrets(
  given: unknown,
  checkDomains: (name: string, domains: unknown) => void,
): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new InputError(
      `sandbox.secrets: expected { NAME: { value, domains } }, got ${kindOf(given)}`,
    );
  }
  for (const [name, secret] of Object.entries(given)) {
    if (!NAME.test(name) || isShellVariable(name)) {
      const expected = 'names of variables such as GITHUB_TOKEN';
      throw new InputError(`sandbox.secrets: expected ${expected}, got ${showValue(name)}`);
    }
    checkSecret(`sandbox.secrets.${name}`, secret, checkDomains);
  }
}

function checkSecret(
  path: string,
  secret: unknown,
  checkDomains: (name: string, domains: unknown) => void,
): void {
  if (typeof secret !== 'object' || secret === null || Array.isArray(secret)) {
    throw new InputError(`${path}: expected { value, domains }, got ${kindOf(secret)}`);
  }
  const { value, domains, body }: Readonly<Record<string, unknown>> = { ...secret };
  const unknown = Object.keys(secret).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined) {
    throw new InputError(
      `${path}: expected value, domains and body, got a field ${showValue(unknown)}`,
    );
  }
  if (typeof value !== 'string' || !VALUE.test(value)) {
    const expected = '8 to 4096 printable characters of ASCII without a space at either end';
    const got = typeof value === 'string' ? `others, ${value.length} in all` : kindOf(value);
    throw new InputError(`${path}.value: expected ${expected}, got ${got}`);
  }
  checkDomains(`secrets.${path.split('.').at(-1)}.domains`, domains);
  if (Array.isArray(domains) && domains.length === 0) {
    throw new InputError(`${path}.domains: expected at least one name, got []`);
  }
  if (body !== undefined && typeof body !== 'boolean') {
    throw new InputError(`${path}.body: expected true or false, got ${kindOf(body)}`);
  }
}

/** Describes a value that may contain a secret, without showing it. */
function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}
