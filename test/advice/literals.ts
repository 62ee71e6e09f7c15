import { parseAst } from 'rolldown/parseAst';
import { filesIn, read } from '../support/house.js';

/** A text in a source, with `…` for each value in it. */
export interface Literal {
  readonly file: string;
  readonly text: string;
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string };

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'type') === 'string';

/** The text of a literal, of a template, and of texts that are joined by `+`; undefined: it is none. */
function textOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  if (node.type === 'TemplateLiteral') {
    const quasis = node.quasis as readonly { readonly value: { readonly cooked: string } }[];
    return quasis.map(({ value }) => value.cooked).join('…');
  }
  if (node.type !== 'BinaryExpression' || node.operator !== '+') return undefined;
  const [left, right] = [textOf(node.left), textOf(node.right)];
  return left === undefined && right === undefined ? undefined : `${left ?? '…'}${right ?? '…'}`;
}

function collect(node: unknown, found: string[]): void {
  if (Array.isArray(node)) {
    for (const each of node) collect(each, found);
    return;
  }
  if (!isNode(node) || node.type === 'ImportDeclaration') return;
  const text = textOf(node);
  if (text !== undefined) found.push(text);
  for (const [key, child] of Object.entries(node)) {
    // The parts of a joined text are in it.
    const isPart = text !== undefined && textOf(child) !== undefined;
    if (key !== 'type' && !isPart) collect(child, found);
  }
}

/** All texts in the sources at these places. */
export function literalsIn(places: readonly string[]): readonly Literal[] {
  return places
    .flatMap((place) => (place.endsWith('.ts') ? [place] : filesIn(place)))
    .flatMap((file) => {
      if (!file.endsWith('.ts')) return [];
      const found: string[] = [];
      collect(parseAst(read(file), { lang: 'ts' }), found);
      return found.map((text) => ({ file, text }));
    });
}
