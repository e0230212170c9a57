import { z } from 'zod';

/** A response of server-sent events, which lasts until the client or the server ends it. */
export const eventStream = z.string().brand<'event stream'>();

export const isEventStream = (schema: unknown): boolean => schema === eventStream;
