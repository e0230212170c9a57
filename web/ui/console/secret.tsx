/** @jsxImportSource preact */
import { consoleText } from '../../text/console/text.ts';
import { OneTimeSecret } from './one-time-secret.tsx';
import { snippets } from './snippets.ts';

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
export const ShownSecret = ({ secret }: { secret: string }) => (
  <OneTimeSecret label={words.label} secret={secret} use={words.snippet} snippets={snippets} />
);
