import { program } from '@parley/server/lib/program.ts';
import { defineCommand } from '../command.ts';
import { openConnection } from '../connection.ts';
import { hint, print, printJson } from '../output.ts';
import { upload } from '../upload/upload.ts';
import { connection, json, quiet, text } from '../values.ts';

export const command = defineCommand({
  arguments: { path: { summary: 'The file.', read: text } },
  options: {
    name: { value: 'name', summary: 'The name of the file on the server. Defaults to its own.', read: text },
    quiet,
    json,
    ...connection,
  },
  notes: `Only the file_id goes to standard output.

Interrupted uploads resume on the next run if the file has not changed. The position is saved in ~/.local/state/parley (or
$XDG_STATE_HOME/parley). While the server is down, the command retries for up to 15 minutes. The server removes a file
that no message names after a day.`,
  async run({ path }, { name, json, quiet, ...where }, context) {
    const opened = openConnection(where, context);
    const uploaded = await upload(opened, path, { name, json, quiet }, context, ({ fileId, retrier }) =>
      retrier.call((signal) => opened.client.files.get({ file_id: fileId }, { signal })),
    );
    // The output omits the download link: it works for anybody who sees it.
    if (json) return printJson(context, { file: uploaded.file });
    const { file_id } = uploaded.file;
    await print(context, String(file_id));
    await hint(context, `Send it with: ${program} send <chat_id> --file-id ${file_id}`);
  },
});
