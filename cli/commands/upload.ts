import { defineCommand } from '../command.ts';
import { openConnection } from '../connection.ts';
import { hint, print, printJson } from '../output.ts';
import { transfer } from '../transfer.ts';
import { openLocalFile } from '../upload/local-file.ts';
import { upload } from '../upload/upload.ts';
import { connection as connectionOptions, json, quiet, text } from '../values.ts';

export const command = defineCommand({
  arguments: { path: { summary: 'The file.', read: text } },
  options: {
    name: { value: 'name', summary: 'The name of the file on the server. Defaults to its own.', read: text },
    quiet,
    json,
    ...connectionOptions,
  },
  notes: `Only the file_id goes to standard output.

Interrupted uploads resume on the next run if the file has not changed. The position is saved in ~/.local/state/parley (or
$XDG_STATE_HOME/parley). While the server is down, the command retries for up to 15 minutes. The server removes a file
that no message names after a day.`,
  async run({ path }, { name, json, quiet, ...where }, context) {
    const connection = openConnection(where, context);
    const { client } = connection;
    const { env } = context;
    await using file = await openLocalFile(path, context.cwd);
    const userId = (await client.users.me()).user.user_id;
    const uploaded = await transfer(context, { verb: 'Uploading', json, quiet }, (transfer) =>
      upload({ connection, userId, file, name: name ?? file.name, transfer, env }, ({ fileId, retrier }) =>
        retrier.call((signal) => client.files.get({ file_id: fileId }, { signal })),
      ),
    );
    // The output omits the download link: it works for anybody who sees it.
    if (json) return printJson(context, { file: uploaded.file });
    const { file_id } = uploaded.file;
    await print(context, String(file_id));
    await hint(context, `Send it with: parley send <chat_id> --file-id ${file_id}`);
  },
});
