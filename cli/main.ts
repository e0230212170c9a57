#!/usr/bin/env bun
import { processContext } from './process-context.ts';
import { run } from './run.ts';

const status = await run(process.argv.slice(2), processContext());
if (typeof status === 'number') process.exitCode = status;
else process.kill(process.pid, status);
