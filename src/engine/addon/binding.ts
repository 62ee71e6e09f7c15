import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ownFiles, ownRequire } from '../../support/package/own-require.js';
import { explainLoad } from './load-error.js';
import type { NativeBinding } from './native.js';
import { libc, packageRoot, placesOf } from './places.js';

/** The processors that binaries are published for. */
const PUBLISHED = ['x64', 'arm64'];

/**
 * Loads the addon. The paths, in order: the file named by FORKLINE_BINDING, a build in this checkout, the
 * package with the binaries of this platform; then those for the other C library, since some package
 * managers install both.
 */
export function loadBinding(): NativeBinding {
  if (process.platform !== 'linux') {
    throw bindingError(
      'FORKLINE_UNSUPPORTED_PLATFORM',
      `forkline runs on Linux; ${process.platform} is not supported`,
    );
  }
  const require = ownRequire();
  const override = process.env.FORKLINE_BINDING;
  const root = packageRoot();
  const own = libc();
  const mine = override ? [resolve(override)] : placesOf(root, own);
  const others = override ? [] : placesOf(root, own === 'gnu' ? 'musl' : 'gnu');
  let broken: unknown;
  for (const place of [...mine, ...others]) {
    try {
      return require(place) as NativeBinding;
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND';
      if (!isMissing && mine.includes(place)) {
        broken ??= explainLoad(error, () => require.resolve(place));
      }
    }
  }
  // A binary that exists and does not load must be reported, and not count as missing.
  if (broken !== undefined) throw broken;
  throw bindingError(
    'FORKLINE_NO_BINDING',
    override ? `FORKLINE_BINDING names a file that does not exist: ${override}` : missing(root),
  );
}

function missing(root: string | undefined): string {
  const own = libc();
  const where = `${process.platform} ${process.arch} with ${own === 'gnu' ? 'glibc' : 'musl'}`;
  const head = `forkline has no native binary for ${where}: `;
  const tools = 'with Rust and a C++ compiler';
  if (root && existsSync(join(root, 'Cargo.toml'))) {
    return `${head}${tools}, run 'npm run build' in ${root}`;
  }
  const install =
    `install its optional dependency @forkline/engine-${process.platform}-${process.arch}-${own} ` +
    '(a lock file made on another platform, or --omit=optional, leaves it out), ';
  // Without the package's files, its code is in a bundle of the user's.
  const [file] = root === undefined ? ownFiles() : [];
  const beside = file
    ? `put forkline.${process.platform}-${process.arch}-${own}.node and forkline-keeper of that package ` +
      `into ${dirname(file)}, `
    : '';
  const build = `or ${tools}, run 'npm ci' in its sources and set FORKLINE_BINDING to the .node file`;
  return `${head}${PUBLISHED.includes(process.arch) ? install + beside : ''}${build}`;
}

const bindingError = (code: string, message: string) => Object.assign(new Error(message), { code });
