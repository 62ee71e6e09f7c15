import { expect, test } from 'vitest';
import { CommandSubject } from '../../src/tasks/command-subject.js';
import { lookAt, type SkippedOutput } from '../../src/tasks/look/look.js';
import type { LookAim } from '../../src/tasks/look/windows.js';
import { fc } from '../support/properties.js';

const MOST = 64;

const piece = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀', ' '), maxLength: 120 }),
  fc.constantFrom('\n', 'line\n', '\n\n', 'wörter\n', '\r', '12%\r'),
);
const output = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(''));
const aim = fc.oneof(
  fc.constant('end' as const),
  fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), length: fc.nat(40) }),
  fc.record({ since: fc.double({ min: 0, max: 1, noNaN: true }) }),
);

/** What is to be looked at, by shares of the unread output. */
function aimAt(
  asked: typeof aim extends fc.Arbitrary<infer T> ? T : never,
  seen: number,
  total: number,
): LookAim {
  if (asked === 'end') return { kind: 'end' };
  const unread = total - seen;
  if ('since' in asked) return { kind: 'reply', since: seen + Math.floor(unread * asked.since) };
  const from = seen + Math.floor(unread * asked.at);
  return { kind: 'line', from, cursor: Math.min(total, from + asked.length) };
}

const newlines = (bytes: Buffer): number => bytes.toString('latin1').split('\n').length - 1;

test('whatever is looked at: all output is shown once or counted as skipped, on characters', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(output, aim), { maxLength: 6 }), async (steps) => {
      const subject = new CommandSubject({ takesInput: false });
      subject.conclude(undefined);
      let all = Buffer.alloc(0);
      let seen = { position: 0, newlines: 0 as number | undefined };
      const check = ({ from, to, lines, firstLine }: SkippedOutput) => {
        expect(lines).toBe(newlines(all.subarray(from, to)));
        expect(firstLine).toBe(newlines(all.subarray(0, from)) + 1);
      };
      for (const [text, asked] of steps) {
        subject.tell({ stream: 'output', text, droppedBytes: 0 });
        all = Buffer.concat([all, Buffer.from(text)]);
        const made = await lookAt(subject, seen, aimAt(asked, seen.position, all.length), MOST);
        let at = seen.position;
        let shownBytes = 0;
        for (const part of made.look.parts) {
          expect(part.from).toBe(at);
          at = part.to;
          if (part.kind === 'skipped') check(part);
          else {
            expect(part.text).toBe(all.toString('utf8', part.from, part.to));
            expect(part.text).not.toContain('\uFFFD');
            shownBytes += part.to - part.from;
          }
        }
        expect(made.seen).toEqual({ position: at, newlines: newlines(all.subarray(0, at)) });
        expect(shownBytes).toBeLessThanOrEqual(MOST);
        // Only around a line is something left for the next look; a few bytes are not worth a word.
        if (made.look.rest === undefined) expect(all.length - at).toBeLessThan(4);
        else {
          expect(asked).toHaveProperty('at');
          check(made.look.rest);
        }
        seen = made.seen;
      }
    }),
    { numRuns: 500 },
  );
});

test('a line that was found is within what is shown', async () => {
  const lines = fc.array(fc.nat(40), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(lines, fc.nat(29), async (lengths, index) => {
      const subject = new CommandSubject({ takesInput: false });
      subject.conclude(undefined);
      const texts = lengths.map((length) => `${'x'.repeat(length)}\n`);
      subject.tell({ stream: 'output', text: texts.join(''), droppedBytes: 0 });
      const at = index % texts.length;
      const from = texts.slice(0, at).join('').length;
      const cursor = from + (texts[at]?.length ?? 0);
      const { look } = await lookAt(
        subject,
        { position: 0, newlines: 0 },
        { kind: 'line', from, cursor },
        MOST,
      );
      const shown = look.parts.filter(({ kind }) => kind === 'text');
      expect(shown).toHaveLength(1);
      expect(shown[0]?.to).toBeGreaterThanOrEqual(cursor);
      // Of a line that takes more than half of the room the end is shown.
      expect(shown[0]?.from).toBeLessThanOrEqual(Math.max(from, cursor - MOST / 2));
    }),
  );
});
