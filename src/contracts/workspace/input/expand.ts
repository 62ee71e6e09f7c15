import type { ParsedScript } from 'unbash';
import { loadShellParser, parseShell, type ShellParser } from '../../../shell/parser.js';
import { quoteWord } from '../../../shell/quote.js';
import { findWordTokens, type WordToken } from '../../../shell/words.js';
import type { UrlRegistry } from '../../../urls/resolver.js';
import { internalScheme, mayHaveUrl, resolveUrl } from './internal-url.js';

/** The texts of a call that may have internal URLs. */
export interface Expandable {
  readonly command: string;
  readonly env: Readonly<Record<string, string>> | undefined;
  readonly cwd: string | undefined;
}

/**
 * Puts paths in the place of internal URLs: quoted for the shell in the command, as they are where
 * an environment value or the working directory is one.
 *
 * A command that is not shell, or that the parser cannot read, stays as it is.
 *
 * @throws {InputError} A URL cannot be resolved.
 */
export async function expandUrls(input: Expandable, registry: UrlRegistry): Promise<Expandable> {
  return {
    command: await expandCommand(input.command, registry),
    env: input.env && (await expandEnv(input.env, registry)),
    cwd: input.cwd === undefined ? undefined : await expandValue(input.cwd, registry),
  };
}

async function expandCommand(command: string, registry: UrlRegistry): Promise<string> {
  if (!mayHaveUrl(command, registry)) return command;
  let expanded = '';
  let from = 0;
  // One after the other: a resolver may make what the next one looks for.
  for (const { url, scheme, token } of urlsIn(await loadShellParser(), command, registry)) {
    const path = await resolveUrl(url, scheme, registry);
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

/** The internal URLs of a command, in the order in which they stand there. */
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
    // The parser reads words when they are asked for, and may trip over one.
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
    expanded.push([name, isProse(value) ? value : await expandValue(value, registry)]);
  }
  return Object.fromEntries(expanded);
}

async function expandValue(value: string, registry: UrlRegistry): Promise<string> {
  const scheme = internalScheme(value, registry);
  return scheme === undefined ? value : resolveUrl(value, scheme, registry);
}

/**
 * Whether a text that begins with a URL goes on as prose does: `artifact://3 is incomplete`, and not
 * `local://my notes.md`.
 */
function isProse(text: string): boolean {
  if (/[\n\r]/.test(text)) return true;
  return /\s/.test(text) && !/\.[A-Za-z][A-Za-z0-9]{0,7}$/.test(text);
}
