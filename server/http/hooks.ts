import { hookPost, ParleyError } from '@parley/contract';
import { isObject, type Json } from '../domain/payloads/json.ts';
import { fit } from '../domain/payloads/markdown.ts';
import { type Rendered, renderPayload } from '../domain/payloads/payload.ts';
import type { HookPosts } from '../operations/hook-posts.ts';
import { extraFor, parseObject, readBody } from './body.ts';
import { idempotencyKeyIn } from './idempotency-key.ts';
import type { RawInput } from './input.ts';
import { type PipelineDeps, pipeline } from './pipeline.ts';
import type { RequestContext } from './request-context.ts';
import { asParleyError, failure, HttpError, headersFor, success } from './responses.ts';
import { validate } from './validate.ts';

export interface HookDeps extends PipelineDeps {
  readonly hooks: HookPosts;
  readonly bodyLimit: number;
  /** The longest message, in bytes. */
  readonly contentBytes: number;
}

/** No service sends more for one message. */
const maxBodyLimit = 262_144;

/**
 * Serves the URLs of incoming webhooks. The secret in the path is the only credential: cookies are not read, so a page of
 * another site can post nothing that its author could not post anyway. The path is never logged.
 */
export function serveHooks(deps: HookDeps) {
  const { hooks, bodyLimit, contentBytes } = deps;
  const maxBodyBytes = Math.min(bodyLimit, maxBodyLimit);
  const input = hookPost({ contentBytes });
  // Twice the longest message: marks of the source may become shorter ones, and a longer text is to be cut visibly.
  const maxRendered = 2 * contentBytes;
  return pipeline(deps, { respond, fail });

  async function respond(context: RequestContext, path: string): Promise<Response> {
    context.operation = 'hooks.post';
    context.clientIp();
    if (context.method !== 'POST') {
      // A crawler that follows the link must not post.
      throw new HttpError('method_not_allowed', 'Post to this URL.', { allow: 'POST' });
    }
    context.checkClientLimit();
    const { request } = context;
    const [secret = ''] = path.split('?', 1);
    const hook = await hooks.find(secret);
    context.admitHook(hook);
    const raw = await readBody(request, maxBodyBytes, undefined, (bytes) => context.chargeHook(hook, extraFor(bytes)));
    const payload = payloadOf(raw);
    const rendered = renderPayload(payload, (name) => request.headers.get(name), maxRendered);
    if (rendered && isSilent(rendered)) return success({ skipped: 'This event says nothing to people.' }, context);
    const given = rendered ? undefined : validate(input, requireContent(payload));
    const content = rendered ? readable(rendered, contentBytes) : (given?.content ?? '');
    const idempotencyKey = keyIn(request) ?? given?.idempotency_key;
    const { message_id, isReplayed } = await hooks.post(hook, { content, idempotencyKey });
    context.isReplayed = isReplayed;
    // Clients for Slack read it.
    if (rendered?.form === 'slack') return new Response('ok', { headers: { ...headersFor(context), ...plainText } });
    return success({ chat_id: hook.chat_id, message_id }, context);
  }

  function fail(thrown: unknown, context: RequestContext): Response {
    return failure(asParleyError(context.countFailure(thrown)), context);
  }
}

const plainText = { 'content-type': 'text/plain; charset=utf-8' } as const;

/** The fields of forms that can have the whole payload as JSON: of Slack and GitHub, and of Uptime Kuma. */
const jsonFields = ['payload', 'data'];

function payloadOf(raw: RawInput): Json {
  if (raw.kind === 'json') return raw.object;
  const fields: Json = Object.fromEntries(raw.fields);
  const inJson = jsonFields.map((name) => fields[name]).find((value) => typeof value === 'string');
  return inJson === undefined ? fields : parseObject(String(inJson));
}

const isSilent = ({ form, markdown }: Rendered): boolean => markdown === undefined && form !== 'slack';

function readable({ markdown = '' }: Rendered, maxBytes: number): string {
  const text = markdown.toWellFormed().replaceAll('\0', '').trim();
  if (!/[^\s\p{Cc}\p{Cf}]/u.test(text)) throw new ParleyError('validation_failed', 'The payload has no text.');
  return fit(text, maxBytes);
}

/** Throws for a payload that is neither ours nor one that we know. */
function requireContent(payload: Json): Json {
  if (isObject(payload) && 'content' in payload) return payload;
  throw new ParleyError(
    'validation_failed',
    'This payload is unknown. Send {"content": "Markdown"}, or a message in Slack\'s form with text, blocks or attachments.',
    [{ field: 'content', message: 'is required' }],
  );
}

/** GitHub names each delivery, and sends the same name again when somebody repeats it. */
const keyIn = (request: Request): string | undefined =>
  idempotencyKeyIn(request) ?? request.headers.get('x-github-delivery')?.slice(0, 255) ?? undefined;
