// Publishes the platform packages first, then forkline, which depends on them. Uses native/prebuilt,
// which must have the binaries for all targets. With npm's provenance (NPM_CONFIG_PROVENANCE), each
// package names the commit and the workflow that it was made from.

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
