#!/usr/bin/env node
// Starts the command line with the Bun that is installed beside it, so that none has to be on the PATH. It runs under Node.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { isatty } from 'node:tty';

// The published package has a bundle. The repository has the source.
const bundle = join(import.meta.dirname, 'bundle/cli/main.js');
const main = existsSync(bundle) ? bundle : join(import.meta.dirname, 'main.ts');
const bun = join(dirname(createRequire(import.meta.url).resolve('bun/package.json')), 'bin/bun.exe');

// The folder that a command is started in decides nothing: its bunfig.toml could run code, and its .env could send the token
// elsewhere. Commands that need .env read it themselves.
const options = ['--no-env-file', `--config=${join(import.meta.dirname, 'bunfig.toml')}`];
const child = spawn(bun, [...options, main, ...process.argv.slice(2)], { stdio: 'inherit' });

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
for (const signal of signals) {
  // A terminal sends it to both. A second one would end the command before it has cleaned up.
  process.on(signal, () => (signal === 'SIGINT' && isatty(0) ? undefined : child.kill(signal)));
}

child.on('error', (error) => {
  process.stderr.write(`Cannot start Bun: ${error.message}. Install it with: node node_modules/bun/install.js\n`);
  process.exitCode = 1;
});

child.on('exit', (code, signal) => {
  for (const name of signals) process.removeAllListeners(name);
  if (signal === null) process.exitCode = code ?? 1;
  else process.kill(process.pid, signal);
});
