// Finds what the docstrings of the public interface lack: a docstring, the unit of a figure, the default
// of an option, the errors that a function throws.
/** @import { DeclarationReflection, ProjectReflection, Reflection, SignatureReflection, SomeType } from 'typedoc' */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReflectionKind } from 'typedoc';
import { root } from './model.mjs';

const MEMBERS =
  ReflectionKind.Property |
  ReflectionKind.Method |
  ReflectionKind.Accessor |
  ReflectionKind.Constructor;
const DECLARED =
  ReflectionKind.Class |
  ReflectionKind.Interface |
  ReflectionKind.TypeAlias |
  ReflectionKind.Function |
  ReflectionKind.Variable;

/** Words for the unit of a figure, in its name or its docstring. */
const UNIT =
  /ms\b|milliseconds?|seconds?|bytes?|lines?|rows?|characters?|codes?|number|how many|\bid\b|\bkill\b/i;

/** Code that throws: the word itself, or a check of the caller's arguments. */
const THROWS = /\bthrow\b|\b(?:fail|readOptions|check[A-Z]\w*)\(/;

/** @param {Reflection} item */
const textOf = (item) => {
  const { summary = [], blockTags = [] } = item.comment ?? {};
  const parts = [...summary, ...blockTags.flatMap(({ content }) => content)];
  return parts.map(({ text }) => text).join('');
};

/** @param {SomeType | undefined} type */
const isFigure = (type) =>
  type?.type === 'intrinsic'
    ? type.name === 'number'
    : type?.type === 'union' &&
      type.types.some((part) => part.type === 'intrinsic' && part.name === 'number') &&
      type.types.every((part) => part.type === 'intrinsic');

/** @param {DeclarationReflection} item */
const isAnonymous = (item) => item.parent?.kindOf(ReflectionKind.TypeLiteral) ?? false;

/**
 * Returns whether an item is in an object of one line, which the docstring above it describes.
 * @param {DeclarationReflection} item
 */
function isInOneLine(item) {
  const { parent } = item;
  if (!isAnonymous(item) || parent === undefined || !('children' in parent)) return false;
  const children = /** @type {DeclarationReflection[]} */ (parent.children);
  const lines = new Set(children.map(({ sources }) => sources?.[0]?.line));
  return lines.size === 1;
}

/**
 * Returns the items that readers look up: declarations and their members, once where they were declared.
 * A member whose type is one literal (`kind: 'exited'`) needs no docstring.
 * @param {ProjectReflection} project
 */
function itemsOf(project) {
  const found = /** @type {DeclarationReflection[]} */ (
    project.getReflectionsByKind(DECLARED | MEMBERS)
  );
  return found.filter(
    (item) =>
      item.inheritedFrom === undefined &&
      item.type?.type !== 'literal' &&
      item.sources?.[0]?.fileName.startsWith('src/') === true &&
      !isInOneLine(item),
  );
}

/**
 * Returns an item's signatures, or the item itself.
 * @param {DeclarationReflection} item
 * @returns {readonly (DeclarationReflection | SignatureReflection)[]}
 */
const documentedBy = (item) => item.signatures ?? [item.getSignature ?? item];

/**
 * Returns whether a function's own text throws; errors of the functions that it calls cannot be seen
 * there.
 * @param {SignatureReflection | DeclarationReflection} item
 */
function throwsItself(item) {
  const [place] = item.sources ?? [];
  if (place === undefined) return false;
  const source = readFileSync(join(root, place.fileName), 'utf8').split('\n');
  const lines = source.slice(place.line - 1);
  const indent = /^ */.exec(lines[0] ?? '')?.[0] ?? '';
  const opens = lines.findIndex((line) => /[{;]$/.test(line));
  if (!lines[opens]?.endsWith('{')) return false;
  const end = lines.findIndex((line) => line.startsWith(`${indent}}`));
  return THROWS.test(lines.slice(opens + 1, end).join('\n'));
}

/** @param {DeclarationReflection} item */
function faultsOf(item) {
  const texts = documentedBy(item).map(textOf);
  if (texts.some((text) => text.trim() === '')) return ['has no docstring'];
  const faults = [];
  const [text = ''] = texts;
  if (isFigure(item.type) && !UNIT.test(`${item.name} ${text}`)) {
    faults.push('does not say its unit');
  }
  const owner = item.parent?.name ?? '';
  if (item.flags.isOptional && /Options$/.test(owner) && !/default|without|absent/i.test(text)) {
    faults.push('does not say its default');
  }
  const tags = (item.signatures ?? []).flatMap(({ comment }) => comment?.blockTags ?? []);
  if (item.signatures?.some(throwsItself) && !tags.some(({ tag }) => tag === '@throws')) {
    faults.push('does not say what it throws');
  }
  return faults;
}

/**
 * @param {ProjectReflection} project
 * @returns {string[]} lines with the place, the item, and what it lacks
 */
export function faultsOfFace(project) {
  return itemsOf(project)
    .flatMap((item) => {
      const { fileName, line } = item.sources?.[0] ?? { fileName: '?', line: 0 };
      return faultsOf(item).map((fault) => `${fileName}:${line} ${item.getFullName()} ${fault}`);
    })
    .sort();
}
