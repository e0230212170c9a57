import { z } from 'zod';

/** An answer that goes on for as long as somebody listens: server-sent events, as text. */
export const eventStream = z.string().brand<'event stream'>();

/** Whether an operation answers with a stream, and no JSON. */
export const isEventStream = (schema: unknown): boolean => schema === eventStream;
