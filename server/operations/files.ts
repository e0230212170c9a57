import { invalidField, ParleyError } from '@parley/contract';
import { noThumbnail } from '../domain/message.ts';
import { isoTime } from '../domain/time.ts';
import { pictureCost } from '../files/pictures.ts';
import { typeNamed } from '../files/type.ts';
import { tookTooLong } from '../files/uploads.ts';
import { completeFile } from '../store/files/files.ts';
import { accessFile } from './access.ts';
import { change, type Handlers, type Services } from './operation.ts';
import * as present from './present.ts';
import { Download } from './results.ts';

export const fileHandlers = (services: Services) => {
  const { engine, now, files } = services;
  return {
    'files.upload': change(services, async (tx, _at, call) => {
      if (!call.file) throw invalidField('file', 'is required');
      const { name = call.file.name } = call.input;
      const file = { ...call.file, name, mime_type: typeNamed(call.file.mime_type, name) };
      if (!(await completeFile(tx, file.file_id, file, files.expiry()))) throw tookTooLong();
      return { file: present.file(file, files.url) };
    }),

    'files.get': async ({ caller, input }) => {
      const file = await accessFile(engine, caller.userId, input.file_id, now());
      const { user_id, token_id, expires, signature } = files.links.make(file.file_id, caller);
      const query = `user_id=${user_id}&token_id=${token_id}&expires=${expires}&signature=${signature}`;
      const url = `${files.url(file.file_id)}&${query}`;
      return { file: present.file(file, files.url), link: { url, expires_at: isoTime(expires * 1_000) } };
    },

    'files.download': async ({ caller, input }) => {
      const file = await accessFile(engine, caller.userId, input.file_id, now());
      return new Download(file, (start, end) => files.read(file.key, start, end));
    },

    'files.thumbnail': async ({ caller, input, charge }) => {
      const file = await accessFile(engine, caller.userId, input.file_id, now());
      const { name, sha256, created_at, width, height } = file;
      const reason = noThumbnail(file);
      if (reason !== undefined) throw new ParleyError('not_found', reason);
      const isJpeg = file.mime_type === 'image/jpeg';
      const cost = pictureCost({ width: width ?? 0, height: height ?? 0, size: file.size, isJpeg });
      const thumbnail = await services.thumbnails.of(file, caller.ownerId, () => charge?.(cost));
      if (!thumbnail) throw new ParleyError('not_found', 'This file has no thumbnail.');
      const { size, read } = thumbnail;
      const shown = { name: `${name}.webp`, mime_type: 'image/webp', size, sha256: `${sha256}-thumbnail`, created_at };
      return new Download(shown, read);
    },
  } satisfies Partial<Handlers>;
};
