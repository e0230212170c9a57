import { z } from 'zod';
import { thumbnailFile } from '../example-files.ts';
import { fileId, fileName, time, tokenId, userId } from '../fields.ts';
import { fileInput } from '../file-input.ts';
import type { Limits } from '../limits.ts';
import { get, post } from '../operation.ts';
import { file } from '../records.ts';

const hello = {
  file_id: 1,
  name: 'hello.txt',
  mime_type: 'text/plain',
  size: 12,
  sha256: 'b608bb51f0751abdcee266a6cafdf98379579f7f58916cdbd5ed14db20c9d9d7',
  url: 'http://127.0.0.1:8080/api/files.php?action=download&file_id=1',
};

/** The fields of a link replace a token. */
const linked = {
  file_id: fileId,
  user_id: userId.optional().meta({ description: 'of a link: its user' }),
  token_id: tokenId.optional().meta({ description: 'of a link: the token that made it' }),
  expires: z.int().positive().optional().meta({ description: 'of a link: when it expires, in seconds since 1970' }),
  signature: z
    .string()
    .regex(/^[\w-]{43}$/, 'must be the signature of a link')
    .optional()
    .meta({ description: 'of a link' }),
};

export const files = (limits: Limits) => ({
  upload: post(['files'], {
    summary:
      'Upload a file, to be sent later by its `file_id`. The body is a form with the part `file`, or the bytes themselves with `name` in the query. A file that no message has is removed after a day. Resumable uploads use the tus protocol at `{base_url}/uploads`.',
    idempotent: true,
    rawFile: true,
    input: z.strictObject({
      file: fileInput(limits).optional(),
      name: fileName.optional().meta({ description: 'replaces the name in the form' }),
    }),
    output: z.object({ file }),
    errors: ['conflict', 'idempotency_conflict'],
    example: {
      input: { file: new File(['Hello, file\n'], 'hello.txt') },
      output: { file: { ...hello, file_id: 4, url: hello.url.replace(/1$/, '4') } },
    },
  }),
  get: get(['files'], {
    summary:
      'Get a file that you have uploaded, or that was sent to one of your chats, with a link that fetches it without a token for five minutes.',
    input: z.strictObject({ file_id: fileId }),
    output: z.object({
      file,
      link: z.object({
        url: z.string().meta({ description: 'fetches the file as you, without a token' }),
        expires_at: time,
      }),
    }),
    errors: ['not_found'],
    example: {
      input: { file_id: 1 },
      output: {
        file: hello,
        link: {
          url: `${hello.url}&user_id=1&token_id=1&expires=1767269100&signature=RduFQDCDDTWyzbULJ4eDkBsVqUHz2KmLD0pL9UXwMYI`,
          expires_at: '2026-01-01T12:05:00.000Z',
        },
      },
    },
  }),
  download: get(['files'], {
    summary:
      'Fetch the bytes of a file. `Range` and conditional requests are supported. A signed link replaces a token.',
    takesLinks: true,
    input: z.strictObject(linked),
    output: z.file(),
    errors: ['not_found'],
    example: { input: { file_id: 1 }, output: new File(['Hello, file\n'], 'hello.txt') },
  }),
  thumbnail: get(['files'], {
    summary:
      'Fetch a small copy of an image: a WebP of at most 400 pixels on each side, without metadata. A signed link to the file replaces a token.',
    takesLinks: true,
    input: z.strictObject(linked),
    output: z.file(),
    errors: ['not_found'],
    example: { input: { file_id: 2 }, output: thumbnailFile() },
  }),
});
