#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { USAGE_ERROR } from './cli/exit-code.js';
import { runCommand } from './cli/run-command.js';
import { schemaCommand } from './cli/schema-command.js';

function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const manifest = JSON.parse(text) as { version: string };
  return manifest.version;
}

const program = new Command('forkline')
  .description('A shell for LLM agents')
  .version(readVersion())
  .addCommand(runCommand())
  .addCommand(schemaCommand());

// Commander's own code for a usage error is 1, which is also a command's most common one.
for (const command of [program, ...program.commands]) command.exitOverride();

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR;
}
