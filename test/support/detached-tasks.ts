import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import { attach, type DetachedSubject, type DetachOptions, detach } from '../../src/index.js';
import { useFolder } from './leftovers.js';
import { eventually } from './processes.js';

/**
 * Keeps the detached tasks of a file in a folder that is removed after it, and ends what a test leaves
 * running. To be called before hooks that look for leftovers.
 */
export function useTasks() {
  const folder = useFolder();
  const started = new Set<string>();
  beforeAll(() => {
    vi.stubEnv('TMPDIR', folder.path);
    vi.stubEnv('XDG_STATE_HOME', folder.path);
  });
  afterEach(async () => {
    for (const id of started) {
      const task = await attach(id).catch(() => undefined);
      await task?.stop({ graceMs: 0 });
    }
    started.clear();
  });
  afterAll(() => vi.unstubAllEnvs());
  /** Notes the id of one that was started. */
  function note(id: string): string {
    started.add(id);
    return id;
  }
  async function start(command: string, options: DetachOptions = {}): Promise<DetachedSubject> {
    const { id, subject } = await detach(command, options);
    note(id);
    return subject;
  }
  /** Where all of them are. */
  const home = () => join(folder.path, 'forkline');
  const places = () => readdirSync(home()).filter((name) => name.startsWith('background-'));
  return { folder, note, start, home, places };
}

/** Waits until it stands like this. */
export async function untilState(
  subject: DetachedSubject,
  kind: DetachedSubject['state']['kind'],
): Promise<void> {
  await eventually(() => expect(subject.state.kind).toBe(kind));
}

/** All that a task has printed. */
export async function printedBy(subject: DetachedSubject): Promise<string> {
  return Buffer.from((await subject.read(0, 1024 * 1024)).bytes).toString();
}

/** What is beneath a task that somebody has started. */
export async function follow(id: string): Promise<DetachedSubject> {
  return (await attach(id)).subject;
}
