import { serve } from '@parley/server/main.ts';
import { defineCommand } from '../command.ts';

export const command = defineCommand({
  arguments: {},
  options: {},
  notes: 'It runs until you stop it (Ctrl-C). It reads its settings from the environment.',
  // The server uses the real process and not the context.
  run: () => serve(),
});
