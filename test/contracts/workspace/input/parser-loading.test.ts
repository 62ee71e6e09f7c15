import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const entry = fileURLToPath(new URL('../../../../dist/index.js', import.meta.url));

/** Node's answer where the shell parser, a file of the bundle, can't be loaded: what asks for it fails. */
function runWithoutParser(options: string, input: string): string {
  const script = `
    import Module from 'node:module';
    const load = Module._load;
    Module._load = (name, ...rest) => {
      if (name.endsWith('/parser.cjs')) throw new Error('the parser was asked for');
      return load(name, ...rest);
    };
    const { createBashTool } = await import(${JSON.stringify(entry)});
    const tool = createBashTool({ contract: 'workspace', cwd: '/', ${options} });
    const answer = await tool.execute(${input}).catch((error) => ({ content: [{ text: error.message }] }));
    console.log(answer.content[0].text.split('\\n')[0]);
    await tool.dispose();`;
  const args = ['--input-type=module', '-e', script];
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim();
}

test('a tool without an interceptor never loads the parser', () => {
  expect(runWithoutParser('', '{ command: "echo hi; cat </dev/null" }')).toBe('hi');
});

test('an interceptor none of whose tools are there never loads the parser', () => {
  const options = 'interceptor: { enabled: true, tools: [] }';
  expect(runWithoutParser(options, '{ command: "echo hi" }')).toBe('hi');
});

test('a command without anything that could be an internal URL never loads the parser', () => {
  const input = '{ command: "echo hi # https://x.y/z", env: { A: "other://x" } }';
  expect(runWithoutParser('', input)).toBe('hi');
});

test('a command that may have one does', () => {
  const answer = runWithoutParser('', '{ command: "echo local://x" }');
  expect(answer).toBe('the parser was asked for');
});

test('an interceptor that looks at a command does', () => {
  const options = 'interceptor: { enabled: true, tools: ["read"] }';
  expect(runWithoutParser(options, '{ command: "echo hi" }')).toBe('the parser was asked for');
});
