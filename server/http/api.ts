import {
  type Contract,
  errors,
  type Input,
  invalidField,
  isEventStream,
  type OperationName,
  ParleyError,
} from '@parley/contract';
import { type Caller, requireScopes } from '../auth/caller.ts';
import { Download } from '../operations/download.ts';
import { Live } from '../operations/live.ts';
import type { Handler, Handlers } from '../operations/operation.ts';
import { Admission, type AdmissionParts, type Connections } from './admission.ts';
import { failure, preflight, success } from './answer.ts';
import { downloadResponse } from './download.ts';
import { eventStreamResponse, lastEventIdIn } from './event-stream.ts';
import { noteRequest, type Observers } from './note.ts';
import { type FileProgress, type Received, type ReceiverParts, receiver } from './receive.ts';
import { MethodRefusal, Routes, type Target } from './routes.ts';
import { hasUnreadBody } from './unread-body.ts';
import { validate } from './validate.ts';

export interface ApiParts extends AdmissionParts, Observers, ReceiverParts {
  readonly contract: Contract;
  readonly handlers: Handlers;
  /** Whoever a link to a file was made for, if it is valid. */
  readonly callerOfLink: (query: Target['query']) => Promise<Caller>;
}

/** Serves the rows: find the row, know the caller, mind the limit, check the scope, validate, carry out, answer. */
export function serveApi(parts: ApiParts) {
  const routes = new Routes(parts.contract);
  const receive = receiver(parts);

  return async (request: Request, address: string, connections: Connections): Promise<Response> => {
    if (request.method === 'OPTIONS') return preflight();
    const exchange = new Exchange(parts, request, connections);
    try {
      const answer = await serve(exchange, address);
      const response = await respond(answer, exchange);
      note(exchange, response.status);
      return response;
    } catch (thrown) {
      const error = exchange.refusal(thrown);
      const response = failure(error, exchange, {
        ...(error instanceof MethodRefusal && { allow: error.allow }),
        ...(error.code === 'unauthorized' && { 'www-authenticate': exchange.challenge }),
        ...((exchange.isComing || hasUnreadBody(request, errors[error.code].status)) && { connection: 'close' }),
      });
      note(exchange, response.status, error);
      return response;
    }
  };

  function respond(answer: object, exchange: Exchange): Response | Promise<Response> {
    if (answer instanceof Download) return downloadResponse(answer, exchange.request, exchange);
    if (answer instanceof Live) return eventStreamResponse(answer.stream, exchange);
    return success(answer, exchange);
  }

  async function serve(exchange: Exchange, address: string): Promise<object> {
    const { request } = exchange;
    const target = routes.find(address, request.method);
    const { row } = target.route;
    exchange.operation = row.name;
    // What is done is written down with where it came from, in all but messages, which are too many to ask for each.
    if (row.resource !== 'messages') exchange.locate();
    const known = isLink(exchange, target) ? parts.callerOfLink(target.query) : exchange.identify();
    const first = known instanceof Promise ? await known : known;
    exchange.admit(first, row.scopes);
    if (row.method === 'GET') return carryOut(exchange, target, fromQuery(target.query), first);
    const received = await receive(request, target, first, exchange);
    try {
      const again = exchange.identifyAgain();
      const caller = again instanceof Promise ? await again : again;
      if (caller !== first) requireScopes(caller, row.scopes);
      return await carryOut(exchange, target, received, caller);
    } finally {
      await received.release?.();
    }
  }

  function carryOut(
    exchange: Exchange,
    { route: { row, decode, fileField } }: Target,
    { raw, file }: Received,
    caller: Caller,
  ): Promise<object> {
    const decoded = decode(raw);
    // The file itself has been taken in; this stands for it.
    if (file && fileField) {
      if (fileField in decoded) throw invalidField(fileField, 'is given more than once');
      decoded[fileField] = new File([], file.name);
    }
    const input = validate(row.input, decoded) as Input<OperationName>;
    const idempotencyKey = row.idempotent ? keyIn(exchange.request) : undefined;
    const lastEventId = isEventStream(row.output) ? lastEventIdIn(exchange.request) : undefined;
    const handler = parts.handlers[row.name] as Handler<OperationName>;
    const address = () => exchange.locate();
    return handler({ name: row.name, caller, input, file, idempotencyKey, lastEventId, address });
  }

  function note({ request, requestId, started, operation, caller }: Exchange, status: number, error?: ParleyError) {
    noteRequest(parts, { requestId, started, method: request.method, operation, status, caller, error });
  }
}

/** A request, and what becomes known of it while it is served. */
class Exchange extends Admission implements FileProgress {
  operation: OperationName | 'none' = 'none';
  /** Whether a file is still on its way, and is not waited for. */
  isComing = false;

  coming(isComing: boolean): void {
    this.isComing = isComing;
  }

  arrived(): void {
    this.connections.timeout(this.request, longestWork);
  }
}

/** Seconds that a client may wait for its answer: what the runtime allows at most. */
const longestWork = 255;

/** Whether the address is a link to a file, which stands in for a token. */
const isLink = ({ request }: Exchange, { route, query }: Target): boolean =>
  route.row.takesLinks === true &&
  !request.headers.has('authorization') &&
  query.some(([name]) => name === 'signature');

const fromQuery = (fields: Target['query']): Received => ({ raw: { kind: 'strings', fields } });

function keyIn(request: Request): string | undefined {
  const key = request.headers.get('idempotency-key');
  if (key === null) return undefined;
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new ParleyError(
    'invalid_request',
    'Idempotency-Key must be 1 to 255 printable ASCII characters without spaces.',
  );
}
