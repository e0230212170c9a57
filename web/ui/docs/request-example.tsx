/** @jsxImportSource preact */
import { signal } from '@preact/signals';
import { docsText } from '../../text/docs/text.ts';
import { CopyButton } from '../console/copy-button.tsx';
import { CodeBlock } from './code-block.tsx';
import { type ApiCall, type CodeLanguage, codeLanguages, codeOf, colouredAs } from './request-snippets.ts';

const words = docsText.operation;

/** The reader's language, on all pages. */
const chosen = signal<CodeLanguage>('curl');

/** The code of a call, in one of the languages. */
export function RequestExample({ call }: { readonly call: ApiCall }) {
  const code = codeOf(chosen.value, call, location.origin);
  return (
    <div class="request-example">
      <div class="line">
        <fieldset class="languages">
          <legend class="unseen">{words.language}</legend>
          {codeLanguages.map((language) => (
            <label key={language}>
              <input
                type="radio"
                name="code-language"
                class="unseen"
                checked={chosen.value === language}
                onChange={() => {
                  chosen.value = language;
                }}
              />
              <span>{language}</span>
            </label>
          ))}
        </fieldset>
        <CopyButton key={code} text={code} label={words.copy(chosen.value)} />
      </div>
      <CodeBlock code={code} language={colouredAs[chosen.value]} />
    </div>
  );
}
