// Adds the names of thrown errors: typedoc leaves out the `{InputError}` of `@throws {InputError} Why.`.
/** @import { ProjectReflection } from 'typedoc' */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @type {Map<string, string>} */
const sources = new Map();

/** @param {string} path */
function sourceOf(path) {
  const text = sources.get(path) ?? readFileSync(path, 'utf8');
  sources.set(path, text);
  return text;
}

/**
 * Puts the names of errors before the text that says when they are thrown.
 * @param {ProjectReflection} project
 * @param {string} root of the repository
 */
export function nameThrown(project, root) {
  for (const reflection of Object.values(project.reflections)) {
    const { sources: places } = /** @type {{ sources?: { fileName: string }[] }} */ (reflection);
    const file = places?.[0]?.fileName;
    if (file === undefined || !file.startsWith('src/')) continue;
    const text = sourceOf(join(root, file));
    for (const { tag, content } of reflection.comment?.blockTags ?? []) {
      const [first] = content;
      if (tag !== '@throws' || first?.kind !== 'text') continue;
      const [words = ''] = first.text.split('\n');
      const at = text.indexOf(`} ${words}`);
      const [, name] = /@throws \{(\w+)$/.exec(text.slice(0, Math.max(at, 0))) ?? [];
      if (name !== undefined) content.unshift({ kind: 'text', text: `\`${name}\`: ` });
    }
  }
}
