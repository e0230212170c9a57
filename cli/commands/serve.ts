import { defineCommand } from '../command.ts';
import { serverEnvironment } from '../env-file.ts';

/** Bun reads it when a process starts, and its default of 256 is too low: see docs/decisions/0026-slots-by-owner.md. */
const maxRequests = { BUN_CONFIG_MAX_HTTP_REQUESTS: '1024' };

export const command = defineCommand({
  arguments: {},
  options: {},
  notes:
    'It runs until you stop it (Ctrl-C). It reads its settings from the environment, and from .env in this folder.',
  // The server uses the real process and not the context.
  async run(_, __, context) {
    const env = { ...maxRequests, ...serverEnvironment(context) };
    if (Object.keys(env).some((name) => context.env[name] === undefined)) context.restart(env);
    // Loaded after that, because it takes a while and would have to load twice.
    await (await import('@parley/server/main.ts')).serve();
  },
});
