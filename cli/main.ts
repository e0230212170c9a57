#!/usr/bin/env bun
import { oneLine } from './output.ts';
import { processContext } from './process-context.ts';
import { run } from './run.ts';

// Such as a writer thread that has ended: nothing can be stored, and nobody waits for the error.
process.on('uncaughtException', (error) => {
  process.stderr.write(`${oneLine(error.message)}\n`);
  process.exit(1);
});

const status = await run(process.argv.slice(2), processContext());
if (typeof status === 'number') process.exitCode = status;
else process.kill(process.pid, status);
