import type { OutputFilter } from './filter.js';
import { aptFilter } from './filters/apt.js';
import { cargoFilter } from './filters/cargo.js';
import { dockerFilter } from './filters/docker.js';
import { goFilter } from './filters/go.js';
import { javascriptTestsFilter } from './filters/javascript-tests.js';
import { makeFilter } from './filters/make.js';
import { npmFilter } from './filters/npm.js';
import { pipFilter } from './filters/pip.js';
import { pytestFilter } from './filters/pytest.js';

/** The built-in filters, in the order in which they are tried. */
export const DEFAULT_OUTPUT_FILTERS: readonly OutputFilter[] = Object.freeze([
  npmFilter,
  javascriptTestsFilter,
  pipFilter,
  cargoFilter,
  pytestFilter,
  goFilter,
  makeFilter,
  dockerFilter,
  aptFilter,
]);
