/** @jsxImportSource preact */
import { consoleText } from '../../text/console/text.ts';

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
