export { type Client, type ClientOptions, createClient } from './client.ts';
export type { Clock } from './clock.ts';
export { ApiError, type ErrorDetail, TransportError } from './errors.ts';
export type {
  EventName,
  SignalName,
  Streamed,
  StreamedEvent,
  StreamedName,
  StreamedSignal,
  UnknownStreamedEvent,
  UnknownStreamedSignal,
} from './event-items.ts';
export type { EventIterator, Follow, FollowOptions } from './events.ts';
export type {
  Call,
  CallOptions,
  ClientInput,
  ClientOutput,
  Download,
  DownloadOptions,
  OpenStream,
  OperationName,
  PagedCall,
  PageItem,
} from './methods.ts';
export { OAuthError, type OAuthTokens, type RefreshOptions, refreshingToken } from './oauth.ts';
export type {
  Chat,
  Delivery,
  ErrorCode,
  EventData,
  FileInfo,
  LoggedEvent,
  Message,
  Participant,
  SignalData,
  Token,
  User,
  Webhook,
} from './operations.ts';
export type { TokenSource } from './token.ts';
