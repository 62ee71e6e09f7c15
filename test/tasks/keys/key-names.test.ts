import { expect, test } from 'vitest';
import { keyBytes } from '../../../src/tasks/keys/key-names.js';
import { fc } from '../../support/properties.js';

const press = (name: string, isApplicationMode = false): string =>
  keyBytes(name, 'keys[0]', isApplicationMode);

test.each([
  ['enter', '\r'],
  ['Return', '\r'],
  ['tab', '\t'],
  ['shift-tab', '\x1b[Z'],
  ['escape', '\x1b'],
  ['esc', '\x1b'],
  ['space', ' '],
  ['ctrl-space', '\0'],
  ['backspace', '\x7f'],
  ['alt-backspace', '\x1b\x7f'],
  ['up', '\x1b[A'],
  ['ArrowDown', '\x1b[B'],
  ['ctrl-left', '\x1b[1;5D'],
  ['shift-alt-ctrl-right', '\x1b[1;8C'],
  ['home', '\x1b[H'],
  ['delete', '\x1b[3~'],
  ['page-up', '\x1b[5~'],
  ['PageDown', '\x1b[6~'],
  ['pgdn', '\x1b[6~'],
  ['f1', '\x1bOP'],
  ['shift-f1', '\x1b[1;2P'],
  ['f5', '\x1b[15~'],
  ['F12', '\x1b[24~'],
  ['ctrl-f5', '\x1b[15;5~'],
  ['ctrl-d', '\x04'],
  ['Ctrl+C', '\x03'],
  ['C-c', '\x03'],
  ['^C', '\x03'],
  ['^[', '\x1b'],
  ['ctrl-[', '\x1b'],
  ['ctrl-\\', '\x1c'],
  ['ctrl-_', '\x1f'],
  ['ctrl-?', '\x7f'],
  ['alt-x', '\x1bx'],
  ['M-X', '\x1bX'],
  ['meta-enter', '\x1b\r'],
  ['ctrl-alt-a', '\x1b\x01'],
  ['shift-a', 'A'],
  ['a', 'a'],
  ['A', 'A'],
  [':', ':'],
  ['-', '-'],
  ['+', '+'],
  ['^', '^'],
  ['ctrl--', '\x1f'],
  ['alt--', '\x1b-'],
  ['é', 'é'],
  ['字', '字'],
  ['🙂', '🙂'],
])('%s is a key', (name, bytes) => {
  expect(press(name)).toBe(bytes);
});

test('cursor keys are those of the mode that the program has asked for', () => {
  expect(press('up', true)).toBe('\x1bOA');
  expect(press('end', true)).toBe('\x1bOF');
  // With a modifier, both modes have the same sequence.
  expect(press('ctrl-up', true)).toBe('\x1b[1;5A');
  expect(press('page-up', true)).toBe('\x1b[5~');
});

test.each([
  ['ctl-d', 'ctrl-d'],
  ['crtl-c', 'ctrl-c'],
  ['entr', 'enter'],
  ['ctrl-entre', 'ctrl-enter'],
  ['pageupp', 'page-up'],
  ['escpe', 'escape'],
  ['dwon', 'down'],
])('%s is told to be none, with what was meant: %s', (name, meant) => {
  expect(() => press(name)).toThrow(`got "${name}" (did you mean "${meant}"?)`);
});

test.each(['', ':wq', 'hello world', 'f13', 'ctrl-', 'ctrl', 'hyper-x', '\n', '\x1b'])(
  '%j is no key, and what is one is named',
  (name) => {
    expect(() => press(name)).toThrow(
      'keys[0]: expected one character or a key such as enter, tab, escape, up, page-down, f1, ctrl-d or ' +
        `alt-x, got ${JSON.stringify(name)}`,
    );
  },
);

test.each(['ctrl-enter', 'ctrl-é', 'ctrl-1', 'shift-escape', 'ctrl-tab'])(
  'no terminal sends %s',
  (name) => {
    expect(() => press(name)).toThrow(
      `keys[0]: expected a key that a terminal can send with these modifiers, got "${name}"`,
    );
  },
);

test('whatever is given, a key is bytes, or an error that names field and value', () => {
  const words = fc.constantFrom(
    'ctrl',
    'alt',
    'shift',
    'C',
    '^',
    '-',
    '+',
    'up',
    'f1',
    'enter',
    'a',
    ' ',
  );
  const name = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.array(words, { maxLength: 5 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(name, fc.boolean(), (given, isApplicationMode) => {
      try {
        const bytes = press(given, isApplicationMode);
        expect(bytes.length).toBeGreaterThan(0);
        // A control character begins every key that is no text, or is the key itself.
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the keys.
        expect(bytes.length === 1 || /^(?:\x1b.{1,8}|[^\x00-\x1f]{1,8})$/su.test(bytes)).toBe(true);
      } catch (error) {
        expect(error).toMatchObject({ name: 'InputError' });
        expect(String(error)).toContain('keys[0]: expected ');
        expect(String(error)).toContain(', got ');
      }
    }),
  );
});

test('modifiers may come in any order, in any case, with either sign', () => {
  const modifier = fc.constantFrom('ctrl', 'alt', 'shift', 'CTRL', 'Alt', 'control', 'meta');
  const key = fc.constantFrom('up', 'down', 'left', 'right', 'home', 'end', 'f1', 'f9', 'delete');
  fc.assert(
    fc.property(
      fc.array(modifier, { maxLength: 3 }),
      key,
      fc.constantFrom('-', '+'),
      (held, name, sign) => {
        const given = [...held, name].join(sign);
        const turned = [...held.reverse(), name.toUpperCase()].join(sign);
        expect(press(turned)).toBe(press(given));
      },
    ),
  );
});
