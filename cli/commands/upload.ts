import { defineCommand } from '../command.ts';
import { openConnection } from '../connection.ts';
import { hint, print, printJson } from '../output.ts';
import { transfer } from '../transfer.ts';
import { LocalFile } from '../upload/local-file.ts';
import { upload } from '../upload/upload.ts';
import { connection, json, quiet, text } from '../values.ts';

export const command = defineCommand({
  arguments: { path: { summary: 'The file.', read: text } },
  options: {
    name: { value: 'name', summary: 'What it is called there, in place of its own name.', read: text },
    quiet,
    json,
    ...connection,
  },
  notes: `Only its file_id goes to standard output.

An upload that is stopped or breaks off is gone on with by the next run, for as long as the file stays as it is. Where it
stands is kept in ~/.local/state/parley (or $XDG_STATE_HOME/parley). While the server is away it is waited for, up to a
quarter of an hour. What no message names is removed by the server after a day.`,
  async run({ path }, { name, json, quiet, ...where }, context) {
    const opened = openConnection(where, context);
    const { client } = opened;
    const { env } = context;
    await using file = await LocalFile.open(path, context.cwd);
    const { user } = await client.users.me();
    const uploaded = await transfer(context, { verb: 'Uploading', json, quiet }, (running) =>
      upload(
        { connection: opened, userId: user.user_id, file, name: name ?? file.name, transfer: running, env },
        ({ fileId, patience }) => patience.call((signal) => client.files.get({ file_id: fileId }, { signal })),
      ),
    );
    // Without the link, which would let anybody who sees it fetch the file.
    if (json) return printJson(context, { file: uploaded.file });
    const { file_id } = uploaded.file;
    await print(context, String(file_id));
    await hint(context, `Send it with: parley send <chat_id> --file-id ${file_id}`);
  },
});
