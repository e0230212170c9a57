/** @jsxImportSource preact */
import { useEffect, useState } from 'preact/hooks';
import { adminText } from '../../../text/console/admin/text.ts';
import { More } from '../../more.tsx';
import { navigate } from '../../route.ts';

/** Returns a path with those of the values that are not empty. */
export function pathWith(path: string, values: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams(Object.entries(values).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  return query.size === 0 ? path : `${path}?${query}`;
}

interface SearchFieldProps {
  readonly label: string;
  /** The text that is searched for now. */
  readonly value: string;
  readonly pathOf: (text: string) => string;
}

/** Searches when the form is submitted, or a moment after the last key. The URL has the text. */
export function SearchField({ label, value, pathOf }: SearchFieldProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed.trim() === value) return undefined;
    const timer = setTimeout(() => navigate(pathOf(typed.trim()), { replace: true }), 300);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <search>
      <form
        class="field"
        onSubmit={(event) => {
          event.preventDefault();
          navigate(pathOf(typed.trim()));
        }}
      >
        <label class="field">
          <span>{label}</span>
          <input type="search" maxLength={200} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
        </label>
      </form>
    </search>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly values: readonly (readonly [value: string, label: string])[];
  readonly pathOf: (value: string) => string;
}

/** One of several values. The URL has it. */
export const Choice = ({ label, value, values, pathOf }: ChoiceProps) => (
  <label class="field">
    <span>{label}</span>
    <select value={value} onChange={(event) => navigate(pathOf(event.currentTarget.value))}>
      {values.map(([one, name]) => (
        <option key={one} value={one}>
          {name}
        </option>
      ))}
    </select>
  </label>
);

interface ListEndProps {
  readonly failed: string;
  readonly more: (() => Promise<void>) | undefined;
}

/** The end of a list. */
export const ListEnd = ({ failed, more }: ListEndProps) =>
  more && (
    <div class="list-end">
      <More failed={failed} onMore={more} isEager={false} />
    </div>
  );

/** All, as the first of the choices. */
export const anyChoice = ['', adminText.any] as const;
