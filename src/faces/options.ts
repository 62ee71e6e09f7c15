export { checkOptions } from '../options/check.js';
export { checkVariables } from '../options/environment.js';
export type { CommandLimits } from '../options/limits.js';
export { MISTAKES, namesOf, type OptionsOf } from '../options/roads.js';
export type { TerminalSize } from '../options/terminal.js';
