import type { OutputFilter } from './filter.js';
import { ansibleFilter } from './filters/ansible.js';
import { aptFilter } from './filters/apt.js';
import { cargoFilter } from './filters/cargo.js';
import { curlFilter } from './filters/curl.js';
import { dockerFilter } from './filters/docker.js';
import { gitFilter } from './filters/git.js';
import { goFilter } from './filters/go.js';
import { gradleFilter } from './filters/gradle.js';
import { makeFilter } from './filters/make.js';
import { mavenFilter } from './filters/maven.js';
import { npmFilter } from './filters/npm.js';
import { pipFilter } from './filters/pip.js';
import { terraformFilter } from './filters/terraform.js';
import { jestFilter } from './filters/test-runners/jest.js';
import { mochaFilter } from './filters/test-runners/mocha.js';
import { nodeTestFilter } from './filters/test-runners/node-test.js';
import { playwrightFilter } from './filters/test-runners/playwright.js';
import { pytestFilter } from './filters/test-runners/pytest.js';
import { vitestFilter } from './filters/test-runners/vitest.js';
import { viteFilter } from './filters/vite.js';
import { wgetFilter } from './filters/wget.js';

/** The built-in filters, in the order in which they are tried. */
export const DEFAULT_OUTPUT_FILTERS: readonly OutputFilter[] = Object.freeze([
  npmFilter,
  vitestFilter,
  jestFilter,
  mochaFilter,
  nodeTestFilter,
  playwrightFilter,
  viteFilter,
  pipFilter,
  pytestFilter,
  cargoFilter,
  goFilter,
  mavenFilter,
  gradleFilter,
  makeFilter,
  dockerFilter,
  terraformFilter,
  ansibleFilter,
  aptFilter,
  gitFilter,
  wgetFilter,
  curlFilter,
]);
