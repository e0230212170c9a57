import { serve } from '@parley/server/main.ts';
import { defineCommand } from '../command.ts';

export const command = defineCommand({
  arguments: {},
  options: {},
  notes: 'It runs until it is told to stop (Ctrl-C), and reads its settings from the environment.',
  // A server has its process to itself.
  run: () => serve(),
});
