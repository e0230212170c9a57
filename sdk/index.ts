export type { ClientInput, ClientOutput, ErrorCode, ErrorDetail, OperationName } from '@parley/contract';
export {
  type Call,
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type Download,
  type DownloadOptions,
  type OpenStream,
} from './client.ts';
export type { Clock } from './clock.ts';
export { ApiError, TransportError } from './errors.ts';
export type {
  Streamed,
  StreamedEvent,
  StreamedName,
  StreamedSignal,
  UnknownStreamedEvent,
  UnknownStreamedSignal,
} from './event-items.ts';
export type { EventIterator, Follow, FollowOptions } from './events.ts';
export type { TokenSource } from './token.ts';
export {
  type UnknownWebhookEvent,
  type VerifyOptions,
  verifyWebhook,
  type WebhookEvent,
  type WebhookFault,
  type WebhookHeaders,
  WebhookVerificationError,
} from './webhook.ts';
