/** @jsxImportSource preact */
import { useEffect, useRef, useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { CopyButton } from './copy-button.tsx';

const words = consoleText.secret;

export interface OneTimeSecretProps {
  readonly label: string;
  readonly secret: string;
  /** What the programs below do. */
  readonly use?: string;
  /** Programs that use it, by language. */
  readonly snippets?: Readonly<Record<string, string>>;
  /** The secret was copied. */
  readonly onCopy: () => void;
}

/** Something that the server never shows again. */
export function OneTimeSecret({ label, secret, use = '', snippets = {}, onCopy }: OneTimeSecretProps) {
  const languages = Object.keys(snippets);
  const [language, setLanguage] = useState(languages[0] ?? '');
  const field = useRef<HTMLInputElement>(null);
  // The form that had the focus is gone.
  useEffect(() => field.current?.focus(), []);
  return (
    <>
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
            onCopy={onCopy}
          />
          <CopyButton text={secret} label={words.copy} onCopy={onCopy} />
        </div>
      </div>
      {languages.length > 0 && (
        <div class="field">
          <div class="beside">
            <label for="snippet-language">{use}</label>
            <select id="snippet-language" value={language} onChange={(event) => setLanguage(event.currentTarget.value)}>
              {languages.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
            <CopyButton key={language} text={snippets[language] ?? ''} label={words.copySnippet} />
          </div>
          <pre class="code">{snippets[language]}</pre>
        </div>
      )}
    </>
  );
}
