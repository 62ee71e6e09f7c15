import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasCode } from '../errors.js';

/**
 * Makes a directory and the directories above it, unless they exist; each is tried twice at most. Node's own
 * `mkdirSync(path, { recursive: true })` tries for ever where a directory exists and nothing can be made in it, as
 * in `/proc`, which answers with ENOENT.
 *
 * @param path Absolute.
 * @throws The system's error, or a directory's place is taken by something else.
 */
export function makeDirectoriesSync(path: string, mode: number): void {
  try {
    makeOne(path, mode);
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || dirname(path) === path) throw error;
    makeDirectoriesSync(dirname(path), mode);
    makeOne(path, mode);
  }
}

function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, mode);
  } catch (error) {
    if (!hasCode(error, 'EEXIST') || !statSync(path).isDirectory()) throw error;
  }
}
