import type { CommandOptions, MergedResult, OnExec } from '../../src/index.js';
import { useFolders } from './leftovers.js';

type SandboxedOptions = Pick<CommandOptions, 'sandbox'> & { readonly cwd: string };
type Executed = NonNullable<MergedResult['executed']>;

/** A rule that asks about `env` with this argument. */
export const ASK_ENV = { program: 'env', argv: ['asked'], answer: 'ask' } as const;
/** A command for which that rule holds. */
export const COMMAND = 'env echo asked; echo "status $?"';

/** Returns a function that makes options of a sandbox that asks; `more` replaces fields of its `exec`. */
export function useAsking(): (more?: object) => SandboxedOptions {
  const folder = useFolders();
  return (more = {}) => {
    const exec = { rules: [ASK_ENV], ...more };
    return { cwd: folder(), sandbox: { mode: 'workspace-write', exec } };
  };
}

/** The programs about which somebody was to be asked. */
export function decided({ executed = [] }: Pick<MergedResult, 'executed'>): Executed {
  return executed.filter(({ program }) => program.endsWith('/env'));
}

/** An `onExec` that never answers, and the signal of the question. */
export function unanswering(): { readonly onExec: OnExec; readonly asked: Promise<AbortSignal> } {
  let told: (signal: AbortSignal) => void = () => {};
  const asked = new Promise<AbortSignal>((resolve) => {
    told = resolve;
  });
  const onExec: OnExec = ({ signal }) => {
    told(signal);
    return new Promise(() => {});
  };
  return { onExec, asked };
}
