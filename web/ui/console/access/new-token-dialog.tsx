/** @jsxImportSource preact */
import { ApiError } from '@parley-chat/sdk';
import { useState } from 'preact/hooks';
import { consoleText } from '../../../text/console/text.ts';
import { useSession } from '../../context.ts';
import { Dialog } from '../../dialog.tsx';
import { useSubmit } from '../../problem.tsx';
import { FormButtons } from '../form-buttons.tsx';
import { SecretDialog } from '../secret-dialog.tsx';
import { type Preset, presetNames, presetOf, type Scope, scopesFor, scopesOf } from './scopes.ts';
import { tokenSnippets } from './token-snippets.ts';

const words = consoleText.access.form;

/** Seconds until a token expires, or undefined if it never does. */
const lifetimes = { days30: 30 * 86_400, days90: 90 * 86_400, days365: 365 * 86_400, never: undefined } as const;
type Lifetime = keyof typeof lifetimes;

export interface TokenForm {
  readonly name: string;
  readonly scopes: Scope[];
  readonly expires_in?: number;
}

interface NewTokenDialogProps {
  readonly isBot: boolean;
  /** Returns the token itself. */
  readonly create: (form: TokenForm) => Promise<string>;
  readonly onClose: () => void;
}

/** Creates an access token, and shows it once. */
export function NewTokenDialog({ isBot, create, onClose }: NewTokenDialogProps) {
  const { store } = useSession();
  const offered = scopesFor({ isBot, isAdmin: store.me.is_admin });
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<ReadonlySet<Scope>>(() => new Set(scopesOf(isBot ? 'bot' : 'read', offered)));
  const [lifetime, setLifetime] = useState<Lifetime>('days90');
  const [made, setMade] = useState<string | undefined>(undefined);
  const [needsPassword, setNeedsPassword] = useState(false);
  const { problem, submit, isBusy, fail } = useSubmit({ labels: words.labels });
  if (made !== undefined)
    return (
      <SecretDialog
        key="made"
        title={words.done}
        about={words.doneHint}
        label={words.token}
        secret={made}
        use={consoleText.access.tryIt}
        snippets={tokenSnippets(location.origin, made)}
        onClose={onClose}
      />
    );
  const make = async () => {
    setNeedsPassword(false);
    const expires = lifetimes[lifetime];
    try {
      setMade(await create({ name: name.trim(), scopes: [...scopes], ...(expires && { expires_in: expires }) }));
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'forbidden' && scopes.has('admin'))) throw error;
      setNeedsPassword(true);
    }
  };
  const choose = (preset: Preset) => setScopes(new Set(scopesOf(preset, offered)));
  const toggle = (scope: Scope, isChosen: boolean) => {
    const next = new Set(scopes);
    if (isChosen) next.add(scope);
    else next.delete(scope);
    setScopes(next);
  };
  return (
    <Dialog key="form" title={words.title} onClose={onClose}>
      <form
        class="content"
        onSubmit={(event) => {
          event.preventDefault();
          if (scopes.size === 0) fail(words.noScopes);
          else submit(make);
        }}
      >
        <label class="field">
          <span>{words.name}</span>
          <input
            type="text"
            required
            autofocus
            maxLength={100}
            autocomplete="off"
            placeholder={words.nameExample}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <fieldset class="scope-choice">
          <legend>{words.scopes}</legend>
          <div class="scope-presets">
            {presetNames.map((preset) => (
              <label key={preset}>
                <input
                  type="radio"
                  name="preset"
                  checked={presetOf(scopes, offered) === preset}
                  onChange={() => choose(preset)}
                />
                <span>{words.presets[preset]}</span>
              </label>
            ))}
          </div>
          {offered.map((scope) => (
            <label key={scope} class="box">
              <input
                type="checkbox"
                checked={scopes.has(scope)}
                onChange={(event) => toggle(scope, event.currentTarget.checked)}
              />
              <span>{consoleText.access.scopes[scope]}</span>
              <code class="muted">{scope}</code>
            </label>
          ))}
        </fieldset>
        <label class="field">
          <span>{words.expires}</span>
          <select value={lifetime} onChange={(event) => setLifetime(event.currentTarget.value as Lifetime)}>
            {(Object.keys(lifetimes) as Lifetime[]).map((one) => (
              <option key={one} value={one}>
                {words.lifetimes[one]}
              </option>
            ))}
          </select>
        </label>
        {lifetime === 'never' && <p class="muted">{words.neverHint}</p>}
        {needsPassword && (
          <div class="why" role="alert">
            <p>{words.needsPassword}</p>
            <p class="links">
              <a
                href={`/confirm-password?next=${encodeURIComponent(location.pathname)}`}
                target="_blank"
                rel="noreferrer"
              >
                {words.enterPassword}
              </a>
            </p>
          </div>
        )}
        <FormButtons problem={problem} act={words.act} isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
