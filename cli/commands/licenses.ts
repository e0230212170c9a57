import { embedded } from '@parley/server/lib/embedded.ts';
import { defineCommand } from '../command.ts';
import { write } from '../output.ts';

export const command = defineCommand({
  arguments: {},
  options: {},
  async run(_, __, context) {
    if (!embedded)
      throw new Error('This is the source of Parley. Each package in node_modules has its own license file.');
    await write(context.stdout, await Bun.file(embedded.noticesFile).text());
  },
});
