import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { KeptSecret } from '../secrets/kept.js';
import { type Back, pairsOf, type RawHeaders } from './exchange.js';
import { withoutValues, withValues } from './forms.js';
import type { Patterns } from './matching/patterns.js';
import { Replacing, replaceAll } from './replacing.js';

const UNPACKING: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['deflate', () => createInflate()],
  ['br', () => createBrotliDecompress()],
]);

/** A request with the values inserted. */
interface Substituted {
  readonly path: string;
  readonly headers: RawHeaders;
  readonly body: { readonly through: readonly Transform[]; readonly isResized: boolean };
}

/** Inserts the values of secrets into requests to their domain, and removes them from its answers. */
export class Substitution {
  readonly #secrets: readonly KeptSecret[];
  #patterns: Patterns | undefined;

  constructor(secrets: readonly KeptSecret[]) {
    this.#secrets = secrets;
  }

  /**
   * Inserts values into headers, passwords of `Basic` included, and the query; into the body, if the
   * secret allows it.
   *
   * @param path The requested path, with its query.
   */
  there(asked: IncomingMessage, path: string): Substituted {
    const pairs = sentHeaders(asked).flatMap(([name, value]) => [name, this.#inHeader(value)]);
    // An answer with another compression could not be searched.
    const packed = String(asked.headers['accept-encoding'] ?? '').includes('gzip');
    const accepted = packed && asked.headers.range === undefined ? 'gzip' : 'identity';
    return {
      path: this.#inQuery(path),
      headers: [...pairs, 'Accept-Encoding', accepted],
      body: this.#body(asked),
    };
  }

  /** Returns whether a request has a stand-in where a value would be inserted. */
  hasStandIn(asked: IncomingMessage): boolean {
    const isInHeaders = sentHeaders(asked).some(([, value]) => this.#inHeader(value) !== value);
    return isInHeaders || this.#inQuery(asked.url ?? '') !== asked.url;
  }

  /** Removes values from an answer: its reason phrase, names and values of headers, and body. */
  back(asked: IncomingMessage, answer: IncomingMessage): Back {
    const isBare =
      asked.method === 'HEAD' || answer.statusCode === 204 || answer.statusCode === 304;
    const unpacking = isBare ? [] : unpackingOf(answer.headers['content-encoding']);
    const isPacked = unpacking.length > 0;
    const lost = [
      ...(isPacked ? ['content-encoding'] : []),
      ...(isPacked || (!isBare && !this.#back.keepsLength) ? ['content-length'] : []),
    ];
    const headers = pairsOf(answer.rawHeaders)
      .filter(([name]) => !lost.includes(name.toLowerCase()))
      .flatMap((pair) => pair.map((text) => replaceAll(text, this.#back)));
    const reason = replaceAll(answer.statusMessage ?? '', this.#back);
    return { reason, headers, through: [...unpacking, new Replacing(this.#back)] };
  }

  get #back(): Patterns {
    this.#patterns ??= withoutValues(this.#secrets);
    return this.#patterns;
  }

  #put(text: string, written: (value: string) => string = String): string {
    return this.#secrets.reduce(
      (changed, { value, standIn }) => changed.replaceAll(standIn, () => written(value)),
      text,
    );
  }

  #inQuery(path: string): string {
    const query = path.includes('?') ? path.indexOf('?') : path.length;
    return path.slice(0, query) + this.#put(path.slice(query), encodeURIComponent);
  }

  #inHeader(value: string): string {
    return this.#put(this.#inBasic(value));
  }

  /** Inserts values into a user name and password, as git and npm send them. */
  #inBasic(header: string): string {
    const [, scheme = '', coded] = /^(basic +)([a-z\d+/]+=*)$/i.exec(header) ?? [];
    if (coded === undefined) return header;
    const text = Buffer.from(coded, 'base64').toString('latin1');
    const put = this.#put(text);
    return put === text ? header : scheme + Buffer.from(put, 'latin1').toString('base64');
  }

  #body(asked: IncomingMessage): Substituted['body'] {
    const secrets = this.#secrets.filter(({ body }) => body);
    const isPlain = asked.headers['content-encoding'] === undefined;
    if (secrets.length === 0 || !isPlain) return { through: [], isResized: false };
    const patterns = withValues(secrets, asked.headers['content-type']);
    return { through: [new Replacing(patterns)], isResized: !patterns.keepsLength };
  }
}

/**
 * Creates the streams that undo a `Content-Encoding`. Only gzip is requested, but a server may use
 * others. A body with an unknown encoding stays as it is, and is not searched.
 */
function unpackingOf(header: string | undefined): readonly Transform[] {
  const names = (header ?? '').toLowerCase().split(/\s*,\s*/);
  const unpackings = names.filter((name) => name !== '' && name !== 'identity').reverse();
  if (!unpackings.every((name) => UNPACKING.has(name))) return [];
  return unpackings.flatMap((name) => UNPACKING.get(name)?.() ?? []);
}

/** Returns the headers that are forwarded, before values are inserted. */
function sentHeaders({ rawHeaders }: IncomingMessage): readonly (readonly [string, string])[] {
  return pairsOf(rawHeaders).filter(([name]) => name.toLowerCase() !== 'accept-encoding');
}
