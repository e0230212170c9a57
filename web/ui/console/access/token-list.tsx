/** @jsxImportSource preact */
import type { Token, TokenUse } from '@parley-chat/sdk/operations.ts';
import { useState } from 'preact/hooks';
import { consoleText } from '../../../text/console/text.ts';
import { fullTime } from '../../time.ts';
import { ConfirmDialog } from '../confirm-dialog.tsx';
import { dateOf } from '../times.ts';
import { Usage } from './usage.tsx';

const words = consoleText.access;

interface TokenListProps {
  readonly tokens: readonly Token[];
  readonly usage: readonly TokenUse[];
  readonly revoke: (tokenId: number) => Promise<unknown>;
}

/** Access tokens, and how much they are used. */
export function TokenList({ tokens, usage, revoke }: TokenListProps) {
  const [revoked, setRevoked] = useState<Token | undefined>(undefined);
  return (
    <>
      <ul class="access-list" aria-label={words.title}>
        {tokens.map((token) => (
          <li key={token.token_id}>
            <article class="access-entry">
              <div class="line">
                <strong>
                  <bdi>{token.name}</bdi>
                </strong>
                <button
                  type="button"
                  class="button quiet"
                  aria-label={words.revokeOne(token.name)}
                  onClick={() => setRevoked(token)}
                >
                  {words.revoke}
                </button>
              </div>
              <p class="muted">{words.may(token.scopes)}</p>
              <dl class="access-facts">
                <Fact term={words.lastUsed} at={token.last_used_at} none={words.never} />
                <Fact term={words.expires} at={token.expires_at} none={words.never} />
                <Fact term={words.created} at={token.created_at} none="" />
              </dl>
              <Usage usage={usage.filter(({ token_id }) => token_id === token.token_id)} />
            </article>
          </li>
        ))}
      </ul>
      {revoked && (
        <ConfirmDialog
          title={words.revokeTitle}
          act={words.revoke}
          done={words.revoked}
          onConfirm={() => revoke(revoked.token_id)}
          onClose={() => setRevoked(undefined)}
        >
          <p>{words.revokeQuestion(<bdi>{revoked.name}</bdi>)}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

interface FactProps {
  readonly term: string;
  readonly at: string | null;
  /** The words for no time. */
  readonly none: string;
}

export const Fact = ({ term, at, none }: FactProps) => (
  <div>
    <dt>{term}</dt>
    <dd>
      {at === null ? (
        none
      ) : (
        <time dateTime={at} title={fullTime(at)}>
          {dateOf(at)}
        </time>
      )}
    </dd>
  </div>
);
