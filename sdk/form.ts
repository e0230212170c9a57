export const hasFile = (input: object): boolean => Object.values(input).some((value) => value instanceof Blob);

/** The fields of an input that are given; one for each element of a list. */
export function fieldsOf(input: object): [string, unknown][] {
  return Object.entries(input).flatMap(([name, value]: [string, unknown]) =>
    value === undefined ? [] : [value].flat().map((one): [string, unknown] => [name, one]),
  );
}

/** An input as a form. Files come last: with the other fields the server can refuse the call before it takes them in. */
export function formOf(input: object): FormData {
  const form = new FormData();
  const fields = fieldsOf(input);
  for (const [name, value] of fields) if (!(value instanceof Blob)) form.append(name, String(value));
  for (const [name, value] of fields) if (value instanceof Blob) form.append(name, value, nameOf(value));
  return form;
}

/** Of a file that was opened by its path, such as Bun's, only the last part. */
const nameOf = (file: Blob): string => (file as Partial<File>).name?.split(/[/\\]/).at(-1) || 'file';
