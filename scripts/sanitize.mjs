// Runs the tests of the native part under sanitizers: `npm run sanitize`. By hand, since it takes minutes:
// Rust under AddressSanitizer (with leaks), C++ under UndefinedBehaviorSanitizer.
//
// What a sanitizer says goes into files: it complains of the stack on which a child stands until it execs,
// and that would be in the output of every command.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { arch } from 'node:process';
import { fileURLToPath } from 'node:url';

const TARGETS = { x64: 'x86_64-unknown-linux-gnu', arm64: 'aarch64-unknown-linux-gnu' };
const target = TARGETS[/** @type {keyof typeof TARGETS} */ (arch)];
if (target === undefined) {
  console.error(`sanitize: there is no sanitizer for ${arch}`);
  process.exit(2);
}

const folder = fileURLToPath(new URL('../target/sanitize/reports/', import.meta.url));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

const { status } = spawnSync(
  'cargo',
  // The addon is left out: its functions are Node's to call.
  ['test', '--locked', '--workspace', '--exclude', 'forkline-addon', '--target', target],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      // A stable compiler has them too, behind this word.
      RUSTC_BOOTSTRAP: '1',
      RUSTFLAGS: `${process.env.RUSTFLAGS ?? ''} -Zsanitizer=address`,
      CXXFLAGS: `${process.env.CXXFLAGS ?? ''} -fsanitize=undefined -fsanitize-undefined-trap-on-error`,
      ASAN_OPTIONS: `log_path=${folder}report`,
      CARGO_TARGET_DIR: 'target/sanitize',
    },
  },
);
const reports = readdirSync(folder).map((name) => readFileSync(`${folder}${name}`, 'utf8'));
const errors = reports.filter((report) => /^==\d+==ERROR/m.test(report));
for (const error of errors) console.error(error);
console.log(`sanitize: ${errors.length} errors`);
process.exit(errors.length > 0 ? 1 : (status ?? 1));
