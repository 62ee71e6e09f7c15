// Publishes: the platform packages first, then forkline, which asks for them. Of what native/prebuilt
// has, which must be the binaries for all targets. Where npm is told to (NPM_CONFIG_PROVENANCE), each
// package says which commit and which workflow it was made of.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stage } from './stage.mjs';

const staging = mkdtempSync(join(tmpdir(), 'forkline-release-'));
try {
  const { main, fars } = await stage(staging, { all: true, publish: true });
  for (const cwd of [...fars, main]) {
    execFileSync('npm', ['publish', '--ignore-scripts'], { cwd, stdio: 'inherit' });
  }
} finally {
  rmSync(staging, { recursive: true });
}
