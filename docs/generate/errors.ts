import { commonErrors, errors } from '@parley/contract';
import { code, codes, json, page, table } from './markdown.ts';

const example = {
  success: false,
  error: {
    code: 'validation_failed',
    message: 'content: is required',
    details: [{ field: 'content', message: 'is required' }],
    request_id: '5d41402abc4b-1z',
  },
};

export function errorsPage(): string {
  return page('Errors', [
    `A call that fails gives an HTTP status and this body, whatever went wrong. Only a download that need not be sent, or cannot (304, 412,
416), and answers to HEAD have none:`,
    json(example),
    `Decide by \`code\`. \`message\` is for people and may change. \`details\` names the fields that are wrong and is empty
where no field is. \`request_id\` is the one in \`X-Request-Id\` and in the server's log.`,
    table(
      ['Code', 'Status', 'When'],
      Object.entries(errors).map(([name, { status, when }]) => [code(name), String(status), when]),
    ),
    '## Those of every operation',
    `Any operation may answer ${codes(commonErrors)}. \`unknown_action\` and \`method_not_allowed\` answer calls to
operations that do not exist. The [operations](api.md) name only what comes on top. A GET has no body, so nothing can
be wrong with it.`,
    `\`rate_limited\` and \`unavailable\` carry \`Retry-After\` in seconds, \`unauthorized\` and \`insufficient_scope\` carry
\`WWW-Authenticate\`, and \`method_not_allowed\` carries \`Allow\`. Calling again after \`unavailable\` or a lost answer is
safe under an \`Idempotency-Key\`.`,
  ]);
}
