import { execFileSync } from 'node:child_process';
import { constants } from 'node:os';
import { expect, test } from 'vitest';
import { signalExitCode, signalName, signalNumber } from '../../src/support/signals.js';

test('C2: every signal has the name that bash gives it', () => {
  for (let number = 1; number <= 64; number += 1) {
    if (number === 32 || number === 33) continue; // The C library's own: bash has no name for them.
    const name = execFileSync('bash', ['-c', `kill -l ${number}`], { encoding: 'utf8' }).trim();
    expect(signalName(number)).toBe(`SIG${name}`);
    expect(signalNumber(`SIG${name}`)).toBe(number);
  }
});

test('C2: a number without a name is part of its name', () => {
  expect(signalName(32)).toBe('SIG32');
  expect(signalExitCode('SIG32')).toBe(160);
});

test('C2: second names have the same number', () => {
  expect(signalNumber('SIGIOT')).toBe(constants.signals.SIGABRT);
  expect(signalName(constants.signals.SIGABRT)).toBe('SIGABRT');
});

test('C2: a name that is no signal has no number', () => {
  for (const name of ['', 'TERM', 'SIGNOPE', 'SIG0', 'SIGRTMAX+1', 'toString']) {
    expect(signalNumber(name)).toBeUndefined();
  }
});

test('C2: the exit code that stands for a signal is 128 and its number', () => {
  expect(signalExitCode('SIGTERM')).toBe(143);
  expect(signalExitCode('SIGRTMIN')).toBe(162);
});
