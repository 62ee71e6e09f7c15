import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import type { NativeBinding } from './native.js';

const require = createRequire(import.meta.url);

/** The folder of this package or checkout, wherever in it the bundler has put this file. */
const root = () => dirname(require.resolve('forkline/package.json'));

/**
 * Loads the addon. The places, in order: the file named by FORKLINE_BINDING, a build in this very
 * checkout or package, the package with the binaries of this platform.
 */
export function loadBinding(): NativeBinding {
  if (process.platform !== 'linux') {
    throw bindingError(
      'FORKLINE_UNSUPPORTED_PLATFORM',
      `forkline runs on Linux; ${process.platform} is not supported`,
    );
  }
  const override = process.env.FORKLINE_BINDING;
  const places = override ? [resolve(override)] : [...localBuilds(), ...platformPackages()];
  for (const place of places) {
    try {
      return require(place) as NativeBinding;
    } catch (error) {
      // A binary that is there and does not load must say so, not pass for a missing one.
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  throw bindingError(
    'FORKLINE_NO_BINDING',
    override ? `FORKLINE_BINDING names a file that does not exist: ${override}` : missing(),
  );
}

// Both C libraries are tried by name: asking which one this process runs on takes 7 ms, and npm
// installs the binaries of that one only.
const targets = () => ['gnu', 'musl'].map((libc) => `${process.platform}-${process.arch}-${libc}`);

const localBuilds = () =>
  targets().map((name) => join(root(), `native/prebuilt/forkline.${name}.node`));

const platformPackages = () => targets().map((name) => `@forkline/${name}`);

function missing(): string {
  const [gnu, musl] = platformPackages();
  const glibc = runsOnGlibc();
  const where = `${process.platform} ${process.arch} with ${glibc ? 'glibc' : 'musl'}`;
  return (
    `forkline has no native binary for ${where}: install its optional dependency ` +
    `${glibc ? gnu : musl}, or, with Rust and a C++ compiler, run 'npx node-gyp rebuild' in ${root()}`
  );
}

function runsOnGlibc(): boolean {
  const report = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return report.header.glibcVersionRuntime !== undefined;
}

const bindingError = (code: string, message: string) => Object.assign(new Error(message), { code });
