import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/house.js';
import { useFolder } from '../support/leftovers.js';
import { need, where } from '../support/needs.js';

const folder = useFolder();
const CARGO = need(spawnSync('cargo', ['--version']).status === 0, 'cargo is not installed');

const options = { ...where(CARGO), timeout: 120_000 };

/** Fails, and not again: the tests of a crate know its folder. */
const ONCE = `
  let was = concat!(env!("CARGO_MANIFEST_DIR"), "/was");
  assert!(std::fs::create_dir(was).is_err(), "fails at first");`;

/** A workspace of one crate. */
function crate(files: Readonly<Record<string, string>>): string {
  const home = folder.file(`a crate ${Object.keys(files).length}`);
  const all = {
    'Cargo.toml': '[package]\nname = "scene"\nversion = "0.1.0"\nedition = "2021"\n',
    'Cargo.lock': 'version = 3\n\n[[package]]\nname = "scene"\nversion = "0.1.0"\n',
    ...files,
  };
  for (const name of ['src', 'tests']) mkdirSync(join(home, name), { recursive: true });
  for (const [name, text] of Object.entries(all)) writeFileSync(join(home, name), text);
  return home;
}

/** What `npm test` makes of its tests; in a process of its own, since what cargo says is passed on. */
function runRust(home: string): unknown {
  const module = JSON.stringify(join(root, 'scripts', 'suite', 'rust.mjs'));
  const script = `
    import { runRust } from ${module};
    const tally = await runRust(${JSON.stringify(home)}, new Set());
    console.log('\\n' + JSON.stringify(tally));`;
  const args = ['--input-type=module', '-e', script];
  const env: NodeJS.ProcessEnv = { ...process.env, CARGO_TERM_COLOR: 'always' };
  delete env.CARGO_TARGET_DIR;
  const { stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
}

test('a failed Rust test is run again, and told with how to run it', options, () => {
  const home = crate({
    'src/lib.rs': `
      #[test] fn good() {}
      #[test] #[ignore] fn left_out() {}
      mod deep {
        #[test] fn once() {${ONCE}}
        #[test] #[should_panic] fn always() {}
      }`,
    'tests/other.rs': '#[test] fn good() {}\n#[test] fn bad() { panic!("always") }\n',
  });
  expect(runRust(home)).toEqual({
    passed: 3,
    ignored: 1,
    failed: ['cargo test --lib -- --exact deep::always', 'cargo test --test other -- --exact bad'],
    passedAgain: ['cargo test --lib -- --exact deep::once'],
  });
});

test('a test that ends its program, and one that does not compile, are red', options, () => {
  const ends = crate({
    'src/lib.rs': '#[test] fn good() {}\n',
    'tests/ends.rs': '#[test] fn ends() { std::process::abort() }\n',
    'tests/good.rs': '#[test] fn good() {}\n',
  });
  expect(runRust(ends)).toEqual({
    passed: 2,
    ignored: 0,
    failed: ['cargo test --test ends'],
    passedAgain: [],
  });
  const wrong = crate({ 'src/lib.rs': 'nothing that compiles' });
  expect(runRust(wrong)).toEqual({
    passed: 0,
    ignored: 0,
    failed: ['cargo test'],
    passedAgain: [],
  });
});
