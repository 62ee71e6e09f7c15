import { describe, expect, test } from 'vitest';
import { withExecRules } from '../../../src/contracts/workspace/input/intercept-exec.js';
import {
  createBashTool,
  type InterceptorExecRule,
  type SandboxOption,
  type WorkspaceOptions,
} from '../../../src/index.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';

leavesNothingBehind(1);
const folder = useFolder();

const RULE: InterceptorExecRule = {
  tool: 'edit',
  needs: 'exec',
  program: 'sed',
  argv: [/^-i/],
  message: 'Use the `edit` tool.',
};
const DENIED = { program: 'sed', argv: [/^-i/], answer: 'deny', say: 'Use the `edit` tool.' };
const ASKED = { program: 'git', answer: 'ask' } as const;

const having = (
  rules: readonly object[],
  sandbox: SandboxOption | undefined = 'workspace-write',
  tools: NonNullable<WorkspaceOptions['interceptor']>['tools'] = ['edit'],
): WorkspaceOptions => ({
  cwd: folder.path,
  sandbox,
  interceptor: { enabled: true, tools, rules: rules as readonly InterceptorExecRule[] },
});

test.each<[SandboxOption, object]>([
  ['workspace-write', { mode: 'workspace-write', exec: { rules: [DENIED] } }],
  [{ network: 'full' }, { network: 'full', exec: { rules: [DENIED] } }],
  [{ exec: { record: true, rules: [ASKED] } }, { exec: { record: true, rules: [DENIED, ASKED] } }],
])('the policy %j keeps rules for what runs before its own', (sandbox, kept) => {
  expect(withExecRules(having([RULE], sandbox)).sandbox).toMatchObject(kept);
});

test.each<[string, WorkspaceOptions]>([
  [
    'the interceptor is off',
    { ...having([RULE]), interceptor: { tools: ['edit'], rules: [RULE] } },
  ],
  ['the runtime has no such tool', having([RULE], 'read-only', ['read'])],
  ['no rule is about what runs', having([{ tool: 'edit', pattern: 'x', message: 'y' }])],
])('the sandbox stays as it is where %s', (_, options) => {
  expect(withExecRules(options)).toBe(options);
});

describe('a tool is not made with', () => {
  test.each<[string, WorkspaceOptions]>([
    [
      "interceptor.rules[1].needs: expected no 'exec' without a sandbox that judges programs, got sandbox: nothing",
      { ...having([{ tool: 'x', pattern: 'x', message: 'y' }, RULE]), sandbox: undefined },
    ],
    ['got sandbox: "danger-full-access"', having([RULE], 'danger-full-access')],
    ['without a sandbox that judges', having([RULE], { require: 'landlock' })],
    [
      "interceptor.rules[0].needs: expected no 'exec' where tools is a function",
      having([RULE], 'read-only', () => ['edit']),
    ],
    [
      "interceptor.rules[0].pattern: not known here, beside needs: 'exec' it is `program` and `argv`",
      having([{ ...RULE, pattern: 'x' }]),
    ],
    ['interceptor.rules[0].program: expected the name of', having([{ ...RULE, program: 5 }])],
    [
      'interceptor.rules[0].program: expected a program, or patterns in argv',
      having([{ ...RULE, program: undefined, argv: [] }]),
    ],
    ['interceptor.rules[0].argv[0]: expected', having([{ ...RULE, argv: [5] }])],
    ['interceptor.rules[0].message: expected a string', having([{ ...RULE, message: undefined }])],
    ['interceptor.rules[0].tool: expected a string', having([{ ...RULE, tool: 5 }])],
  ])('%s', (message, options) => {
    const make = () => createBashTool({ contract: 'workspace', ...options, cwd: folder.path });
    expect(make).toThrow(message);
  });
});

test('what runs is denied, whatever has led to it, and the model is told the message', async () => {
  const bash = createBashTool({ contract: 'workspace', ...having([RULE]), cwd: folder.path });
  const command =
    'printf "a:\\n\\tsed -i s/a/b/ file\\n" >Makefile; echo a >file; make; cat file; : sed -i';
  const { text } = await bash.answer({ command });
  await bash.dispose();
  expect(text).toMatch(/\na\n/);
  expect(text).toContain(
    "The sandbox's rules denied: `sed -i s/a/b/ file` (run by make). Use the `edit` tool.",
  );
});

test('such a rule is not tried on the text, and the model is told ahead', async () => {
  const bash = createBashTool({ contract: 'workspace', ...having([RULE]) });
  expect(bash.description).toContain('and may not run `sed /^-i/`.');
  await bash.dispose();
});
