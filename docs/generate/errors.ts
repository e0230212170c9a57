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
    `A failed call has an HTTP status and this body. Only responses to HEAD requests, and downloads that end with 304,
412 or 416, have no body:`,
    json(example),
    `Programs should check \`code\`. \`message\` is for people and may change. \`details\` names the invalid fields and is
empty for other errors. \`request_id\` is the value of \`X-Request-Id\` and appears in the server's log.`,
    table(
      ['Code', 'Status', 'When'],
      Object.entries(errors).map(([name, { status, when }]) => [code(name), String(status), when]),
    ),
    '## Common errors',
    `Any operation may fail with ${codes(commonErrors)}. Calls to operations that do not exist fail with
\`unknown_action\` or \`method_not_allowed\`. The [operations](api.md) list only their additional errors. A GET has no
body, so the errors about bodies do not apply to it.`,
    `\`rate_limited\` and \`unavailable\` carry \`Retry-After\` in seconds, \`unauthorized\` and \`insufficient_scope\` carry
\`WWW-Authenticate\`, and \`method_not_allowed\` carries \`Allow\`. After \`unavailable\` or a lost response, a call with an
\`Idempotency-Key\` can be repeated safely.`,
  ]);
}
