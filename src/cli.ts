#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { completionCommand } from './cli/completion/completion-command.js';
import { doctorCommand } from './cli/doctor/doctor-command.js';
import { USAGE_ERROR } from './cli/exit-code.js';
import { fleetCommand } from './cli/fleet-command.js';
import { heldCommand } from './cli/held/held-command.js';
import { mcpCommand } from './cli/mcp-command.js';
import { runCommand } from './cli/run/run-command.js';
import { schemaCommand } from './cli/schema-command.js';
import { serveCommand } from './cli/serve-command.js';
import { attachCommand } from './cli/tasks/attach-command.js';
import { tasksCommand } from './cli/tasks/tasks-command.js';
import { acceptCommand } from './cli/undo/accept-command.js';
import { changesCommand } from './cli/undo/changes-command.js';
import { revertCommand } from './cli/undo/revert-command.js';
import { packageVersion } from './support/package/version.js';

const program = new Command('forkline')
  .description('A shell for LLM agents')
  .version(packageVersion())
  .addCommand(runCommand())
  .addCommand(tasksCommand().exitOverride())
  .addCommand(attachCommand().exitOverride())
  .addCommand(heldCommand().exitOverride())
  .addCommand(changesCommand().exitOverride())
  .addCommand(revertCommand().exitOverride())
  .addCommand(acceptCommand().exitOverride())
  .addCommand(schemaCommand().exitOverride())
  .addCommand(mcpCommand().exitOverride())
  .addCommand(serveCommand().exitOverride())
  .addCommand(fleetCommand().exitOverride())
  .addCommand(doctorCommand().exitOverride())
  .addCommand(completionCommand().exitOverride())
  // Commander's own code for a usage error is 1, which is also a command's most common one.
  .exitOverride();

// A program in CommonJS has no `await` outside of functions.
program.parseAsync().catch((error: unknown) => {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR;
});
