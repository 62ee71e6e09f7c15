// The result of another run, from its file, checked before anything is measured.
import { readFileSync } from 'node:fs';
import { z } from 'zod';

// JSON has null for what is no number.
const figure = z.union([z.number(), z.null().transform(() => Number.NaN)]);

const row = z.object({
  id: z.string(),
  what: z.string(),
  figure: z.string(),
  ratio: z.object({ to: z.string(), value: figure }).optional(),
});

const run = z.object({
  date: z.string(),
  machine: z.object({
    cpu: z.string(),
    cores: z.number(),
    memoryGiB: z.number(),
    kernel: z.string(),
    node: z.string(),
  }),
  settings: z.object({ quick: z.boolean(), past: z.number() }),
  suites: z.array(
    z.object({
      name: z.string(),
      otherWork: figure,
      report: z.object({ rows: z.array(row).readonly() }).optional(),
    }),
  ),
});

/** @typedef {z.infer<typeof run>} OtherRun as much of a run as is compared */
/** @typedef {z.infer<typeof row>} OtherRow */

/**
 * Reads what `bench/results/latest.json` or `--json` has of a run.
 * @param {string} path
 * @returns {OtherRun}
 * @throws {Error} It says what is wrong with the file.
 */
export function readRun(path) {
  const parsed = run.safeParse(parse(path, read(path)));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') || 'the whole';
  throw new Error(`${path} is not the result of a run: ${where}: ${issue?.message}`);
}

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${path} cannot be read: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * @param {string} path
 * @param {string} text
 * @returns {unknown}
 */
function parse(path, text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not JSON: ${/** @type {Error} */ (error).message}`);
  }
}
