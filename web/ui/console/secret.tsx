/** @jsxImportSource preact */
import { useEffect, useRef, useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { CopyButton } from './copy-button.tsx';
import { firstLanguage, snippetLanguages, snippets } from './snippets.ts';

const words = consoleText.secret;

const secretBytes = 32;

/** Returns a new secret: 32 random bytes in hex. */
export const makeSecret = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(secretBytes)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );

interface SecretFieldProps {
  readonly secret: string;
  readonly onChange: (secret: string) => void;
}

/** The secret that Parley will sign with. The server never shows it, so it can be read while it is chosen. */
export function SecretField({ secret, onChange }: SecretFieldProps) {
  return (
    <div class="field">
      <label for="webhook-secret">{consoleText.form.secret}</label>
      <div class="beside">
        <input
          id="webhook-secret"
          class="code"
          type="text"
          required
          maxLength={256}
          autocomplete="off"
          spellcheck={false}
          aria-describedby="webhook-secret-hint"
          value={secret}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
        <button type="button" class="button quiet" onClick={() => onChange(makeSecret())}>
          {consoleText.form.makeSecret}
        </button>
      </div>
      <p id="webhook-secret-hint" class="muted">
        {consoleText.form.secretHint}
      </p>
    </div>
  );
}

/** A new secret, for the last time, with code that verifies it. */
export function ShownSecret({ secret }: { secret: string }) {
  const [language, setLanguage] = useState(firstLanguage);
  const field = useRef<HTMLInputElement>(null);
  // The form that had the focus is gone.
  useEffect(() => field.current?.focus(), []);
  return (
    <>
      <div class="field">
        <label for="shown-secret">{words.label}</label>
        <div class="beside">
          <input
            ref={field}
            id="shown-secret"
            class="code"
            type="text"
            readOnly
            value={secret}
            onFocus={(event) => event.currentTarget.select()}
          />
          <CopyButton text={secret} label={words.copy} />
        </div>
      </div>
      <div class="field">
        <div class="beside">
          <label for="snippet-language">{words.snippet}</label>
          <select
            id="snippet-language"
            value={language}
            onChange={(event) => setLanguage(event.currentTarget.value as typeof language)}
          >
            {snippetLanguages.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <CopyButton key={language} text={snippets[language]} label={words.copySnippet} />
        </div>
        <pre class="code">{snippets[language]}</pre>
      </div>
    </>
  );
}
