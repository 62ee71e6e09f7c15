import { existsSync, readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import type { BashTool } from '../../src/index.js';
import { useFolder } from './leftovers.js';
import { eventually, isGone, lives } from './processes.js';
import { textOf } from './tool.js';

/** A background command as the answer to its call names it. */
export interface Background {
  readonly pid: number;
  readonly outputFile: string;
}

const ANSWER =
  /^<pid>(\d+)<\/pid>\n<output_file>(\/.+\/output)<\/output_file>\n<reminder>To stop: kill -9 -- -(\d+)<\/reminder>$/;

/** The answer's three lines, which must be these. */
export function backgroundIn(text: string): Background {
  const [, pid, outputFile = '', group] = ANSWER.exec(text) ?? [];
  expect({ text, group }).toEqual({ text: expect.stringMatching(ANSWER), group: pid });
  return { pid: Number(pid), outputFile };
}

/** What a background command has printed, once it has ended, with the line that says how. */
export async function endingOf({ outputFile }: Background): Promise<string> {
  return eventually(() => {
    const text = outputOf({ outputFile });
    expect(text).toContain('[background process ');
    return text;
  });
}

export function outputOf({ outputFile }: Pick<Background, 'outputFile'>): string {
  return existsSync(outputFile) ? readFileSync(outputFile, 'utf8') : '';
}

/** It may have ended by itself just now. */
function end(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/**
 * Keeps the outputs of a file's background commands in a folder that is removed after it, and ends
 * what a failed test leaves running. To be called before hooks that look for leftovers.
 */
export function useBackground() {
  const folder = useFolder();
  const started: Background[] = [];
  beforeAll(() => {
    vi.stubEnv('TMPDIR', folder.path);
    vi.stubEnv('XDG_STATE_HOME', folder.path);
  });
  afterEach(async () => {
    for (const { pid } of started) if (lives(pid)) end(pid);
    for (const background of started.splice(0)) {
      await endingOf(background);
      expect(isGone(background.pid)).toBe(true);
    }
  });
  afterAll(() => vi.unstubAllEnvs());
  /** Notes one that was started, by its answer. */
  function note(text: string): Background {
    const background = backgroundIn(text);
    started.push(background);
    return background;
  }
  async function start(tool: BashTool, command: string): Promise<Background> {
    return note(textOf(await tool.execute({ command, mode: 'background' })));
  }
  return { folder, note, start };
}
