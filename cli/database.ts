import type { Tools } from '@parley/server/auth/administer.ts';
import { openTools } from '@parley/server/compose/tools.ts';
import { readSettings } from '@parley/server/config.ts';

/** Works straight in the database, beside a server that may be running: no lock, no migration. */
export async function inDatabase<T>(work: (tools: Tools) => Promise<T>): Promise<T> {
  const tools = await openTools(readSettings(process.env));
  try {
    return await work(tools);
  } finally {
    await tools.engine.close();
  }
}
