import type { KeptSecret } from '../secrets/kept.js';
import type { Replacement } from './matching/pattern.js';
import { Patterns } from './matching/patterns.js';

/** Values whose characters need no escaping in URLs, JSON or HTML. */
const SAFE = /^[\w.-]*$/;

/**
 * Lists the replacements of values by stand-ins in answers, each in the same encoding: plain, with any of
 * its characters escaped, in hex, and in base64 at each of its three alignments. A server may show the
 * header that it was sent.
 */
export function withoutValues(secrets: readonly KeptSecret[]): Patterns {
  const replacements = secrets.flatMap(({ value, standIn }): Replacement[] => {
    const isAsLong = value.length === standIn.length;
    const coded = [0, 1, 2].map((offset): Replacement => {
      const from = base64Within(value, offset);
      const to = base64Within(standIn, offset).slice(0, from.length).padEnd(from.length, 'A');
      return { from, to, encoding: 'base64', keepsLength: SAFE.test(from) };
    });
    const [from, to] = [inHex(value), inHex(standIn)];
    return [
      { from: value, to: standIn, encoding: 'text', keepsLength: isAsLong && SAFE.test(value) },
      ...coded,
      { from, to, encoding: 'hex', keepsLength: isAsLong },
    ];
  });
  return new Patterns(replacements);
}

/** Lists the replacements of stand-ins by values in a body of this type. */
export function withValues(secrets: readonly KeptSecret[], type: string | undefined): Patterns {
  const written = /json/i.test(type ?? '')
    ? inJson
    : /x-www-form-urlencoded/i.test(type ?? '')
      ? encodeURIComponent
      : String;
  const replacements = secrets.map(({ value, standIn }): Replacement => {
    const to = written(value);
    return { from: standIn, to, encoding: 'exact', keepsLength: to.length === standIn.length };
  });
  return new Patterns(replacements);
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function inHex(text: string): string {
  return Buffer.from(text).toString('hex');
}

/**
 * Returns the base64 characters that depend on this text only, where it begins at `offset` bytes in a
 * group.
 */
function base64Within(text: string, offset: number): string {
  const whole = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
  const first = Math.ceil((offset * 8) / 6);
  return whole.toString('base64').slice(first, Math.floor((whole.length * 8) / 6));
}
