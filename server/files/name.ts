import { fileName, invalidField } from '@parley/contract';

/** Throws for a name that no file may have. An empty name is replaced when the file is complete. */
export function checkName(name: string, field: string): void {
  const fault = name === '' ? undefined : fileName.safeParse(name).error?.issues[0];
  if (fault) throw invalidField(field, field === 'name' ? fault.message : `its name ${fault.message}`);
}

/** Returns the last part of a path: some clients send the path on their disk. */
export const lastOf = (path: string): string => path.split(/[/\\]/).at(-1) ?? '';
