/** @jsxImportSource preact */
import { consoleText } from '../../../text/console/text.ts';

const words = consoleText.apps;

export interface AppForm {
  readonly name: string;
  /** One URL on each line. */
  readonly redirects: string;
}

export const redirectsIn = ({ redirects }: AppForm): string[] =>
  redirects
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

interface AppFieldsProps {
  readonly form: AppForm;
  readonly onChange: (form: AppForm) => void;
}

/** The fields that an app has at first and that can be changed later. */
export const AppFields = ({ form, onChange }: AppFieldsProps) => (
  <>
    <div class="field">
      <label for="app-name">{words.name}</label>
      <input
        id="app-name"
        type="text"
        required
        maxLength={100}
        autocomplete="off"
        aria-describedby="app-name-hint"
        value={form.name}
        onInput={(event) => onChange({ ...form, name: event.currentTarget.value })}
      />
      <p id="app-name-hint" class="muted">
        {words.nameHint}
      </p>
    </div>
    <div class="field">
      <label for="app-redirects">{words.redirects}</label>
      <textarea
        id="app-redirects"
        class="code"
        required
        rows={3}
        spellcheck={false}
        placeholder={words.redirectExample}
        aria-describedby="app-redirects-hint"
        value={form.redirects}
        onInput={(event) => onChange({ ...form, redirects: event.currentTarget.value })}
      />
      <p id="app-redirects-hint" class="muted">
        {words.redirectsHint}
      </p>
    </div>
  </>
);
