import { z } from 'zod';
import type { Limits } from './limits.ts';

/**
 * A file as a field of an operation. It comes as a part of `multipart/form-data` and is taken in while it arrives: what
 * is validated with the other fields is that it is nothing else.
 */
export const fileInput = (limits: Limits) =>
  z.file().meta({
    description: `the file, as a part of \`multipart/form-data\`: at most ${limits.fileBytes.toLocaleString('en')} bytes`,
  });

/** The name of the field of an input that takes a file, if there is one. */
export function fileField(input: z.ZodType): string | undefined {
  const { shape = {} } = input as { shape?: Record<string, z.ZodType> };
  return Object.keys(shape).find((name) => isFile(shape[name]));
}

/** Whether this is a file, and no JSON. */
export function isFile(schema: unknown): boolean {
  if (schema instanceof z.ZodOptional) return isFile(schema.unwrap());
  return schema instanceof z.ZodFile;
}
