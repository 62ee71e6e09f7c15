import { checkPeer } from '../../support/peers/check.js';

export type { TextBound } from '../bounded.js';
export { toAgentTools } from './agent-tools.js';
export {
  answerShellCall,
  type LocalShellCall,
  type LocalShellCallOutput,
  type ShellCallOutput,
  type ShellToolCall,
} from './answer.js';
export {
  createShell,
  type LocalShellSettings,
  type Shell,
  type ShellAction,
  type ShellCommandOptions,
  type ShellOutput,
  type ShellResult,
} from './shell.js';

checkPeer('forkline/openai', import.meta.url);
