import type { ParsedScript } from 'unbash';
import { loadShellParser, parseShell, type ShellParser } from '../../../shell/parser.js';
import { findWordTokens, type WordToken } from '../../../shell/words.js';
import { InputError, messageOf } from '../../../support/errors.js';
import { quoteWord } from '../../../support/quote.js';
import type { UrlRegistry } from '../../../urls/resolver.js';

/** The texts of a call that may have internal URLs. */
export interface Expandable {
  readonly command: string;
  readonly env: Readonly<Record<string, string>> | undefined;
  readonly cwd: string | undefined;
}

/**
 * Replaces internal URLs by paths: quoted for the shell in the command, unquoted where an environment value
 * or the working directory is a URL.
 *
 * A command that the parser cannot read stays as it is.
 *
 * @throws {InputError} A URL cannot be resolved.
 */
export async function expandUrls(input: Expandable, registry: UrlRegistry): Promise<Expandable> {
  return {
    command: await expandCommand(input.command, registry),
    env: input.env && (await expandEnv(input.env, registry)),
    cwd: input.cwd === undefined ? undefined : await expandValue('cwd', input.cwd, registry),
  };
}

/** The name of the field `command` in error messages. */
const COMMAND = 'bash command';

async function expandCommand(command: string, registry: UrlRegistry): Promise<string> {
  if (!mayHaveUrl(command, registry)) return command;
  let expanded = '';
  let from = 0;
  // One after another, since a resolver may create what the next one looks for.
  for (const { url, scheme, token } of urlsIn(await loadShellParser(), command, registry)) {
    const path = await resolveUrl(url, scheme, registry, COMMAND);
    expanded += command.slice(from, token.pos) + quoteWord(path, token.place);
    from = token.end;
  }
  return expanded + command.slice(from);
}

interface FoundUrl {
  readonly url: string;
  readonly scheme: string;
  readonly token: WordToken;
}

/** Finds the internal URLs of a command, in their order. */
function urlsIn(parser: ShellParser, command: string, registry: UrlRegistry): FoundUrl[] {
  const script = parseShell(parser, command);
  if (script === undefined) return [];
  return tokensIn(parser, script)
    .flatMap((token) => {
      if (token.quoted && isProse(token.value)) return [];
      const scheme = internalScheme(token.value, registry);
      return scheme === undefined ? [] : [{ url: token.value, scheme, token }];
    })
    .sort((a, b) => a.token.pos - b.token.pos);
}

function tokensIn(parser: ShellParser, script: ParsedScript): WordToken[] {
  try {
    return findWordTokens(parser, script);
  } catch {
    // The parser reads words lazily, and may fail at one.
    return [];
  }
}

async function expandEnv(
  env: Readonly<Record<string, string>>,
  registry: UrlRegistry,
): Promise<Readonly<Record<string, string>>> {
  if (!Object.values(env).some((value) => mayHaveUrl(value, registry))) return env;
  const expanded: [string, string][] = [];
  for (const [name, value] of Object.entries(env)) {
    expanded.push([
      name,
      isProse(value) ? value : await expandValue(`env.${name}`, value, registry),
    ]);
  }
  return Object.fromEntries(expanded);
}

async function expandValue(field: string, value: string, registry: UrlRegistry): Promise<string> {
  const scheme = internalScheme(value, registry);
  return scheme === undefined ? value : resolveUrl(value, scheme, registry, field);
}

/**
 * Returns whether a text that begins with a URL goes on as prose, as `artifact://3 is incomplete` does and
 * `local://my notes.md` does not.
 */
function isProse(text: string): boolean {
  if (/[\n\r]/.test(text)) return true;
  return /\s/.test(text) && !/\.[A-Za-z][A-Za-z0-9]{0,7}$/.test(text);
}

/** Schemes that are always internal, so that a URL without a resolver is an error and not a file name. */
const ALWAYS_INTERNAL: ReadonlySet<string> = new Set([
  ...['skill', 'agent', 'artifact', 'memory', 'rule', 'local', 'plan'],
]);

/** Returns the scheme of an internal URL; undefined for other texts, such as `https://…`. */
function internalScheme(text: string, registry: UrlRegistry): string | undefined {
  const [, scheme, second] = /^([a-z][a-z0-9+.-]*):\/(\/?)/.exec(text) ?? [];
  if (scheme === undefined) return undefined;
  // Other schemes need `://`: `c:/x` and `host:/path` are not URLs.
  if (second === '' && scheme !== 'local') return undefined;
  const internal = ALWAYS_INTERNAL.has(scheme) || registry.resolverOf(scheme) !== undefined;
  return internal ? scheme : undefined;
}

/** Checks quickly whether a text may contain an internal URL. */
function mayHaveUrl(text: string, registry: UrlRegistry): boolean {
  if (!text.includes(':/')) return false;
  if (text.includes('local:/')) return true;
  const schemes = [...ALWAYS_INTERNAL, ...registry.schemes()];
  return schemes.some((scheme) => text.includes(`${scheme}://`));
}

/**
 * Returns the path for an internal URL.
 *
 * @throws {InputError} There is no resolver for the scheme, or the resolver failed.
 */
async function resolveUrl(
  url: string,
  scheme: string,
  registry: UrlRegistry,
  field: string,
): Promise<string> {
  const resolver = registry.resolverOf(scheme);
  if (resolver === undefined) throw new InputError(unsupported(field, url, scheme, registry));
  let path: unknown;
  try {
    path = (await resolver.resolve(url)).path;
  } catch (error) {
    const why = messageOf(error);
    throw new InputError(unresolved(field, url, scheme, why), { cause: error });
  }
  if (typeof path === 'string' && path.startsWith('/') && !path.includes('\0')) return path;
  throw new InputError(
    unresolved(field, url, scheme, 'Its resolver did not return an absolute path.'),
  );
}

function unsupported(field: string, url: string, scheme: string, registry: UrlRegistry): string {
  const schemes = registry.schemes().map((each) => `${each}://`);
  const there = schemes.length === 0 ? 'No scheme has one.' : `Supported: ${schemes.join(', ')}.`;
  return (
    `Unsupported internal URL in ${field}: ${url}\n` +
    `There is no resolver for ${scheme}:// here. ${there}`
  );
}

function unresolved(field: string, url: string, scheme: string, why: string): string {
  return `Cannot resolve ${scheme}:// URL in ${field}: ${url}\n${why}`;
}
