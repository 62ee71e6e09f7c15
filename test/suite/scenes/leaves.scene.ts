import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';

test('it leaves a folder and a process', () => {
  mkdtempSync(join(tmpdir(), 'left-'));
  spawn('sleep', ['6011'], { detached: true, stdio: 'ignore' }).unref();
});
