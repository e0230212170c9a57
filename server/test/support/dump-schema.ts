import { dumpPostgres, dumpSqlite, schemaFiles } from './schema.ts';

await Bun.write(schemaFiles.sqlite, await dumpSqlite());
await Bun.write(schemaFiles.postgres, await dumpPostgres());
process.exit(0);
