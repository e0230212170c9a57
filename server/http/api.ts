import { type Contract, type Input, invalidField, isEventStream, type OperationName } from '@parley/contract';
import { type Caller, requireBrowser, requireScopes } from '../auth/caller.ts';
import type { Handler, Handlers } from '../operations/operation.ts';
import { Download, Live } from '../operations/results.ts';
import { downloadResponse } from './download.ts';
import { eventStreamResponse, lastEventIdIn } from './event-stream.ts';
import { isForwarded } from './forwarded.ts';
import { idempotencyKeyIn } from './idempotency-key.ts';
import { type PipelineDeps, pipeline } from './pipeline.ts';
import { type Received, type ReceiverDeps, receiver } from './receive.ts';
import type { RequestContext } from './request-context.ts';
import { asParleyError, failure, preflight, success } from './responses.ts';
import { Routes, type Target } from './routes.ts';
import { validate } from './validate.ts';

export interface ApiDeps extends PipelineDeps, ReceiverDeps {
  readonly contract: Contract;
  readonly handlers: Handlers;
  /** Returns the user that a signed link to a file was made for. */
  readonly callerOfLink: (query: Target['query']) => Promise<Caller>;
}

/** Serves the operations of the contract: route, authenticate, count, check the scopes, validate, execute. */
export function serveApi(deps: ApiDeps) {
  const routes = new Routes(deps.contract);
  const receive = receiver(deps);
  return pipeline(deps, { preflight, respond, fail });

  async function respond(context: RequestContext, path: string): Promise<Response> {
    const target = routes.find(path, context.method);
    const { row } = target.route;
    context.operation = row.name;
    // The audit log needs the IP. Messages are not audited, and too frequent to read it for each.
    if (row.resource !== 'messages') context.clientIp();
    const authenticating = isLink(context, target) ? deps.callerOfLink(target.query) : context.authenticate();
    const caller = authenticating instanceof Promise ? await authenticating : authenticating;
    context.admit(caller, row.scopes);
    if (row.inBrowser) requireBrowser(caller);
    if (row.method === 'GET') {
      return toResponse(await execute(context, target, fromQuery(target.query), caller), context);
    }
    const received = await receive(context, target, caller);
    try {
      const reauthenticating = context.reauthenticate();
      const current = reauthenticating instanceof Promise ? await reauthenticating : reauthenticating;
      if (current !== caller) requireScopes(current, row.scopes);
      return toResponse(await execute(context, target, received, current), context);
    } finally {
      await received.release?.();
    }
  }

  function execute(
    context: RequestContext,
    { route: { row, decode, fileField } }: Target,
    { raw, file }: Received,
    caller: Caller,
  ): Promise<object> {
    const decoded = decode(raw);
    // The file is in storage already. An empty one takes its place for the schema.
    if (file && fileField) {
      if (fileField in decoded) throw invalidField(fileField, 'is given more than once');
      decoded[fileField] = new File([], file.name);
    }
    const input = validate(row.input, decoded) as Input<OperationName>;
    const idempotencyKey = row.idempotent ? idempotencyKeyIn(context.request) : undefined;
    const lastEventId = isEventStream(row.output) ? lastEventIdIn(context.request) : undefined;
    const handler = deps.handlers[row.name] as Handler<OperationName>;
    return handler({
      name: row.name,
      caller,
      input,
      file,
      idempotencyKey,
      lastEventId,
      address: () => context.clientIp(),
      isForwarded: () => isForwarded(context.request),
      charge: (requests: number) => context.charge(requests),
      replayed: () => {
        context.isReplayed = true;
      },
    });
  }
}

function fail(thrown: unknown, context: RequestContext): Response {
  return failure(asParleyError(context.countFailure(thrown)), context);
}

function toResponse(result: object, context: RequestContext): Response | Promise<Response> {
  if (result instanceof Download) return downloadResponse(result, context);
  if (result instanceof Live) return eventStreamResponse(result.stream, context);
  return success(result, context);
}

/** Returns true for a signed link to a file, which replaces a token. */
const isLink = ({ request }: RequestContext, { route, query }: Target): boolean =>
  route.row.takesLinks === true &&
  !request.headers.has('authorization') &&
  query.some(([name]) => name === 'signature');

const fromQuery = (fields: Target['query']): Received => ({ raw: { kind: 'strings', fields } });
