/** @jsxImportSource preact */
import { useEffect, useRef, useState } from 'preact/hooks';
import { consoleText } from '../../../text/console/text.ts';
import { CopyButton } from '../copy-button.tsx';

const words = consoleText.access.secret;

interface OneTimeSecretProps {
  readonly about: string;
  readonly label: string;
  readonly secret: string;
  /** Programs that use it, by language. */
  readonly snippets?: Readonly<Record<string, string>>;
  readonly onClose: () => void;
}

/** Something that the server never shows again. */
export function OneTimeSecret({ about, label, secret, snippets = {}, onClose }: OneTimeSecretProps) {
  const languages = Object.keys(snippets);
  const [language, setLanguage] = useState(languages[0] ?? '');
  const field = useRef<HTMLInputElement>(null);
  // The form that had the focus is gone.
  useEffect(() => field.current?.focus(), []);
  return (
    <>
      <p>{about}</p>
      <div class="field">
        <label for="one-time-secret">{label}</label>
        <div class="beside">
          <input
            ref={field}
            id="one-time-secret"
            class="code"
            type="text"
            readOnly
            value={secret}
            onFocus={(event) => event.currentTarget.select()}
          />
          <CopyButton text={secret} label={words.copy} />
        </div>
      </div>
      {languages.length > 0 && (
        <div class="field">
          <div class="beside">
            <label for="snippet-language">{words.tryIt}</label>
            <select id="snippet-language" value={language} onChange={(event) => setLanguage(event.currentTarget.value)}>
              {languages.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
            <CopyButton key={language} text={snippets[language] ?? ''} label={consoleText.secret.copySnippet} />
          </div>
          <pre class="code">{snippets[language]}</pre>
        </div>
      )}
      <div class="buttons">
        <button type="button" class="button" onClick={onClose}>
          {words.close}
        </button>
      </div>
    </>
  );
}
