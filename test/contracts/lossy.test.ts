import { readFileSync, writeFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readableOutput } from '../../src/contracts/lossy.js';
import {
  type BashTool,
  CONTRACT_NAMES,
  type ContractName,
  createArtifactStore,
  createBashTool,
} from '../../src/index.js';
import { captureOf } from '../support/captures.js';
import { useDisposal } from '../support/disposal.js';
import { useFolder } from '../support/leftovers.js';
import { fc } from '../support/properties.js';
import { textOf } from '../support/tool.js';

const folder = useFolder();
const keep = useDisposal();
const make = <Name extends ContractName>(contract: Name) =>
  keep(createBashTool({ contract, cwd: folder.path }));

/** What a model reads, in the contract that answers with JSON too. */
async function answerTo(contract: ContractName, command: string): Promise<string> {
  return answerOf(make(contract), command);
}

async function answerOf(tool: BashTool, command: string): Promise<string> {
  const text = textOf(await tool.execute({ command }));
  return text.startsWith('{') ? Object.values(JSON.parse(text)).join('\n') : text;
}

/** As unreadable as data is, the same in each run. */
function data(bytes: number): Buffer {
  let seed = 1;
  return Buffer.from(
    Array.from({ length: bytes }, () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return (seed >> 16) & 0xff;
    }),
  );
}

test.each(CONTRACT_NAMES)('B20: binary output is one line under %s', async (contract) => {
  writeFileSync(folder.file('data'), data(20_000));
  expect(await answerTo(contract, 'cat data')).toMatch(
    /^\[binary output, 20,000 bytes, not kept; send it to a file, or through od -c, or through iconv if it is in another encoding\]\n?(\n|$)/,
  );
});

test.each(CONTRACT_NAMES)('B20: text beside binary output is shown under %s', async (contract) => {
  writeFileSync(folder.file('data'), deflateSync(data(5000)));
  const text = await answerTo(contract, 'echo begins; cat data data; echo; echo "error: it ends"');
  expect(text).toMatch(/^begins\n\[binary output, 1\d,\d{3} bytes, not kept; /);
  expect(text).toContain('\nerror: it ends');
  expect(text).not.toContain('�');
});

test.each(CONTRACT_NAMES)('B20: %s says that a text is not all UTF-8', async (contract) => {
  const text = await answerTo(contract, `printf 'caf\\351\\n'`);
  expect(text).toContain('caf�\n');
  expect(text).toMatch(
    /\bNot all of (the output|stdout) is valid text: � stands for other bytes, ␀ for NUL\. For the exact bytes, send it through od -c, or through iconv if it is in another encoding\./,
  );
  expect(await answerTo(contract, `printf 'café\\n'`)).not.toContain('valid text');
});

test.each(['workspace', 'modes'] as const)(
  'B20: %s says where the bytes of long binary output are',
  async (contract) => {
    const bytes = data(200_000);
    writeFileSync(folder.file('data'), bytes);
    const tool = make(contract);
    const text = await answerOf(tool, 'cat data');
    const [, place = ''] = /^\[binary output, 200,000 bytes: (.+)\]$/m.exec(text) ?? [];
    expect(text.indexOf('�')).toBe(-1);
    expect(text.length).toBeLessThan(300);
    await answerOf(tool, `cp ${place} copy`);
    expect(readFileSync(folder.file('copy')).equals(bytes)).toBe(true);
  },
);

test('B20: where only the beginning of binary output is, workspace says so', async () => {
  writeFileSync(folder.file('data'), data(200_000));
  const artifacts = createArtifactStore({ maxBytes: 100 * 1024 });
  const tool = keep(createBashTool({ contract: 'workspace', cwd: folder.path, artifacts }));
  const line = '[binary output, 200,000 bytes: artifact://0 (only the first 100.0KB)]';
  const answer = await tool.execute({ command: 'cat data' });
  expect(textOf(answer)).toContain(line);
  expect(answer.details.receipt).toMatchObject({
    streams: { output: { cut: true } },
    kept: { bytes: 102_400, missing: 97_600 },
  });
});

test('B20: what a task of a session has printed so far is told likewise', async () => {
  const session = make('session');
  writeFileSync(folder.file('data'), data(20_000));
  const input = { command: 'cat data; sleep 60', run_in_background: true };
  const { details } = await session.execute(input);
  const ask = () => session.taskOutput.execute({ task_id: details.task?.id });
  await expect.poll(async () => textOf(await ask())).toContain('[binary output, 20,000 bytes, ');
});

/** The last line of binary output is most of a model's news: nothing else keeps it. */
const NEWS = ['FAIL', 'rc=1', 'ok', '1', '0', 'error: disk full'];

describe.each(CONTRACT_NAMES)('W7: %s shows what can be read beside bytes', (contract) => {
  test.each(NEWS)('%s on a line of its own', async (news) => {
    writeFileSync(folder.file('data'), deflateSync(data(5000)));
    const text = await answerTo(contract, `cat data; echo; echo '${news}'`);
    expect(text).toMatch(/^(?:.*\n)?\[binary output, /);
    expect(text.split('\n')).toContain(news);
  });

  test.each(NEWS)('%s on the line where the bytes end', async (news) => {
    writeFileSync(folder.file('data'), Buffer.concat([deflateSync(data(5000)), Buffer.from([0])]));
    const text = await answerTo(contract, `cat data; echo '${news}'`);
    expect(text).toContain('[binary output, ');
    expect(text.split('\n')).toContain(news);
  });

  test('what is on the line where they begin', async () => {
    writeFileSync(folder.file('data'), Buffer.concat([Buffer.from([0]), deflateSync(data(5000))]));
    const text = await answerTo(contract, `printf 'got: '; cat data`);
    expect(text.split('\n').slice(0, 2)).toEqual(['got: ', expect.stringMatching(/^\[binary/)]);
  });

  test('text with a header of bytes on each line, and between bytes', async () => {
    const header = String.raw`\001\000\000\000\000\000\000\032`;
    const lines = `printf '${header}pulling the image now\n%.0s' $(seq 40); head -c 999 /dev/zero`;
    const text = await answerTo(
      contract,
      `${lines}; echo; printf '${header}no space left on it\n'`,
    );
    expect(text).toContain('\npulling the image now\n');
    expect(text).toContain('\nno space left on it');
  });

  test('of a long line with bytes in it, what is no text', async () => {
    const text = await answerTo(contract, `head -c 9999 /dev/zero; printf '%09999d\n' 7`);
    expect(text).toContain('000007');
    expect(text).not.toContain('␀␀␀');
  });
});

describe.each(CONTRACT_NAMES)(
  'W14: %s does not contradict itself about binary output',
  (contract) => {
    test.each([
      ['cat data', 200_000],
      ['echo begins; cat data; echo; echo FAIL', 200_013],
      ['seq 2000; cat data; echo; echo FAIL', 208_899],
      ['cat small; echo; echo FAIL', 45_006],
    ])('%s', async (command, bytes) => {
      writeFileSync(folder.file('data'), data(200_000));
      writeFileSync(folder.file('small'), data(45_000));
      const text = await answerTo(contract, command);
      expect(text).not.toContain('�');
      const line = /^\[binary output, ([\d,]+) bytes(.*)\]$/m.exec(text);
      // Of a stream whose beginning alone is kept, nothing else may be known.
      if (line === null) {
        expect(text).toMatch(
          /truncated: it has [\d,]+ (?:characters|bytes), of which the (?:first|beg)/,
        );
        return;
      }
      expect(line[1]?.replaceAll(',', '')).toBe(String(bytes));
      const places = text.match(/artifact:\/\/\d+|\/\S+\.log/g) ?? [];
      // The place is told once, and not beside "not kept".
      expect(places.length).toBeLessThanOrEqual(1);
      expect(line[2]).toMatch(places.length === 1 ? /: \S+/ : /^, not kept; /);
      expect(text).not.toMatch(/of which the first [\d,]+ are shown/);
      if (command.endsWith('FAIL') && /workspace|modes/.test(contract)) {
        expect(text.split('\n')).toContain('FAIL');
      }
    });
  },
);

test('B20: lines that can be read stay, in their order, and what is shown is never longer', () => {
  const line = fc.oneof(
    fc.constantFrom('a', '', 'shorter', 'error: no such file', 'x'.repeat(90)),
    fc.constantFrom('�'.repeat(30), `\0\x01${'�'.repeat(100)}`.replaceAll('\0', '␀'), '��'),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
      const text = lines.join('\n');
      const capture = { ...captureOf(text, { headBytes: 1e6, tailBytes: 0 }), lossy: true };
      const shown = readableOutput(text, capture, 'it', '/x');
      const readable = (all: string): string[] =>
        all.split('\n').filter((one) => one.length >= 6 && !/[�\u2026[]/.test(one));
      expect(readable(shown.text)).toEqual(readable(text));
      expect(shown.isBinary || shown.text !== '' || text === '').toBe(true);
      if (shown.notice === undefined) expect(shown.text.length).toBeLessThan(text.length);
    }),
    {
      examples: [
        [['�'.repeat(30), 'error: no such file', '��', 'shorter', '�'.repeat(30), 'shorter', '��']],
      ],
    },
  );
});
