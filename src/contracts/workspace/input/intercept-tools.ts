import type { ToolAbility } from '../../../shell/reading.js';
import {
  checkObject,
  checkSwitch,
  type OptionNames,
  readOptions,
} from '../../../support/checks.js';
import { InputError, showValue } from '../../../support/errors.js';

/** What a tool can do beyond whole text files of the user's. */
export type ToolAbilities = { readonly [Ability in ToolAbility]?: boolean | undefined };

/**
 * The tools that a runtime has: their names, or what each of them can do by its name. `true` is a tool with
 * the defaults, of which only `lines` is true.
 */
export type InterceptorTools =
  | readonly string[]
  | { readonly [name: string]: ToolAbilities | true | undefined };

const ABILITIES: OptionNames<ToolAbilities> = {
  append: true,
  bytes: true,
  globs: true,
  lines: true,
  options: true,
  root: true,
  urls: true,
};

/** Tools for files show parts of them; the rest would be a guess. */
const DEFAULTS: ToolAbilities = { lines: true };

/** The tools of a runtime, by their names. */
export type KnownTools = ReadonlyMap<string, ToolAbilities>;

/**
 * Reads what a runtime says of its tools.
 *
 * @throws {InputError} A part of it is of another type, or an ability is not known.
 */
export function readTools(tools: InterceptorTools): KnownTools {
  if (Array.isArray(tools)) return new Map(tools.map((name) => [name, DEFAULTS]));
  // A promise has no entries, and would be a runtime without tools.
  const isRecord = typeof tools === 'object' && tools !== null;
  if (!isRecord || 'then' in tools) {
    const got = isRecord ? 'a promise' : showValue(tools);
    throw new InputError(
      `interceptor.tools: expected an array of names, or an object with the abilities of each, got ${got}`,
    );
  }
  return new Map(
    Object.entries(tools).flatMap(([name, abilities]) =>
      abilities === undefined ? [] : [[name, abilitiesOf(name, abilities)] as const],
    ),
  );
}

function abilitiesOf(tool: string, abilities: ToolAbilities | true): ToolAbilities {
  if (abilities === true) return DEFAULTS;
  const name = `interceptor.tools.${tool}`;
  checkObject(name, abilities);
  readOptions(name, abilities, ABILITIES, { within: `${name}.` });
  for (const [ability, value] of Object.entries(abilities)) {
    checkSwitch(`${name}.${ability}`, value);
  }
  return { ...DEFAULTS, ...abilities };
}

/** Returns whether a tool can do all that a command asks of it. */
export function canDo(abilities: ToolAbilities, asks: ReadonlySet<ToolAbility>): boolean {
  return [...asks].every((asked) => abilities[asked] === true);
}
