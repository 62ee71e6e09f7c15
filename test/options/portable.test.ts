import { vi } from 'vitest';
import { conforms } from './conformance.js';
import { runWay } from './ways.js';

vi.hoisted(() => {
  process.env.FORKLINE_ENGINE = 'portable';
});
const { run } = await import('../../src/index.js');

conforms('portable', runWay(run));
