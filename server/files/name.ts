import { fileName, invalidField } from '@parley/contract';

/** Refuses a name that no file may have. One without a name gets one in the end. */
export function checkName(name: string, field: string): void {
  const fault = name === '' ? undefined : fileName.safeParse(name).error?.issues[0];
  if (fault) throw invalidField(field, field === 'name' ? fault.message : `its name ${fault.message}`);
}

/** Some clients tell where the file lay on their disk. */
export const lastOf = (path: string): string => path.split(/[/\\]/).at(-1) ?? '';
