import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { leavesNothingBehind } from '../support/leftovers.js';
import { fillSandboxes, useScenes } from '../support/sandbox.js';
import type { AdviceCase, Kit } from './advice-case.js';
import { ask, useTools } from './answers.js';
import { CASES } from './cases.js';

fillSandboxes();
leavesNothingBehind();
const scenes = useScenes();

/** A folder of its own for each case. */
let current = '';
const makeTool = useTools({
  get path() {
    return current;
  },
});

function kitOf(): Kit {
  const make = () => mkdtempSync(join(scenes.path, 'advice '));
  current = make();
  const path = current;
  const folder = { path, file: (name: string) => join(path, name) };
  return { folder, make: makeTool, ask, outside: make() };
}

describe('an advice that is followed literally gives what it promises', () => {
  test.each(CASES.map((each): [string, AdviceCase] => [each.name, each]))('%s', async (_, each) => {
    expect.hasAssertions();
    await each.follow(kitOf());
  });
});
