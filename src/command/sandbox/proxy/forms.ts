import type { KeptSecret } from '../secrets/kept.js';
import type { Replacement } from './replacing.js';

/**
 * What stands in the place of secrets in what comes back: for each form in which their values may be
 * there, that of the stand-in. As it is, as in a URL, as in JSON, and as in base64, wherever it begins
 * in what that is of: a server may show the header that it was sent.
 */
export function withoutValues(secrets: readonly KeptSecret[]): readonly Replacement[] {
  return secrets.flatMap(({ value, standIn }) => {
    const plain = [value, encodeURIComponent(value), formEncoded(value), inJson(value)];
    const hidden = plain.map((from) => replacement(from, standIn));
    const coded = [0, 1, 2].flatMap((offset) => {
      const from = base64Within(value, offset);
      const to = base64Within(standIn, offset).slice(0, from.length).padEnd(from.length, 'A');
      return [replacement(from, to), replacement(urlSafe(from), urlSafe(to))];
    });
    return [...hidden, ...coded].filter(isFirst);
  });
}

/** What is put in the place of stand-ins in a body of this type. */
export function withValues(
  secrets: readonly KeptSecret[],
  type: string | undefined,
): readonly Replacement[] {
  const written = /json/i.test(type ?? '')
    ? inJson
    : /x-www-form-urlencoded/i.test(type ?? '')
      ? encodeURIComponent
      : String;
  return secrets.map(({ value, standIn }) => replacement(standIn, written(value)));
}

/** Whether nothing becomes longer or shorter. */
export function keepsLength(replacements: readonly Replacement[]): boolean {
  return replacements.every(({ from, to }) => from.length === to.length);
}

function replacement(from: string, to: string): Replacement {
  return { from: Buffer.from(from), to: Buffer.from(to) };
}

function isFirst({ from }: Replacement, index: number, all: readonly Replacement[]): boolean {
  return all.findIndex((other) => other.from.equals(from)) === index;
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/** The characters of base64 that are this text's alone, where it begins so many bytes into a group. */
function base64Within(text: string, offset: number): string {
  const whole = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
  const first = Math.ceil((offset * 8) / 6);
  return whole.toString('base64').slice(first, Math.floor((whole.length * 8) / 6));
}

function urlSafe(text: string): string {
  return text.replaceAll('+', '-').replaceAll('/', '_');
}
