import { z } from 'zod';
import type { Limits } from './limits.ts';

/** A file as a field of an input. The server stores it while it arrives, so the schema checks only that it is a file. */
export const fileInput = (limits: Pick<Limits, 'fileBytes'>) =>
  z.file().meta({
    description: `the file, as a part of \`multipart/form-data\`: at most ${limits.fileBytes.toLocaleString('en')} bytes`,
  });

/** Returns the name of the field of an input that is a file, or undefined. */
export function fileField(input: z.ZodType): string | undefined {
  const { shape = {} } = input as { shape?: Record<string, z.ZodType> };
  return Object.keys(shape).find((name) => isFile(shape[name]));
}

export function isFile(schema: unknown): boolean {
  if (schema instanceof z.ZodOptional) return isFile(schema.unwrap());
  return schema instanceof z.ZodFile;
}
