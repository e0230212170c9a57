/** @jsxImportSource preact */
import { docsText } from '../../text/docs/text.ts';
import type { ApiDocument, Operation } from './api-document.ts';
import { guidePath, guides } from './guides.ts';
import { Line } from './prose.tsx';

const words = docsText.home;

const baseUrl = (): string => `${location.origin}/api`;

interface DocsHomeProps {
  readonly document: ApiDocument;
  readonly operations: readonly Operation[];
}

/** All operations and guides on one page. On a phone it is the navigation. */
export const DocsHome = ({ document, operations }: DocsHomeProps) => (
  <div class="page docs-home">
    <header>
      <h1>{words.title}</h1>
      <p class="muted">{words.about}</p>
    </header>
    <dl class="facts">
      <div>
        <dt>{words.base}</dt>
        <dd>
          <code>{baseUrl()}</code>
        </dd>
      </div>
      <div>
        <dt>{words.token}</dt>
        <dd>
          {words.tokenHint} <a href="/console/tokens">{words.manageTokens}</a>
        </dd>
      </div>
      <div>
        <dt>{words.description}</dt>
        <dd>
          <a href="/api/openapi.json">{words.openApi}</a>
        </dd>
      </div>
    </dl>
    {(['guides', 'tables'] as const).map((kind) => (
      <section key={kind}>
        <h2>{docsText.navigation[kind]}</h2>
        <ul class="docs-links">
          {guides
            .filter((guide) => guide.kind === kind)
            .map(({ name, title }) => (
              <li key={name}>
                <a href={guidePath(name)}>{title}</a>
              </li>
            ))}
        </ul>
      </section>
    ))}
    {document.tags.map(({ name, description }) => {
      const own = operations.filter(({ resource }) => resource === name);
      return (
        own.length > 0 && (
          <section key={name}>
            <h2>{name}</h2>
            <p class="muted">{description}</p>
            <ul class="docs-list">
              {own.map((operation) => (
                <li key={operation.name}>
                  <a href={`/docs/${operation.name}`}>{operation.name}</a>
                  <span class="muted">
                    <Line text={operation.summary} />
                  </span>
                </li>
              ))}
            </ul>
          </section>
        )
      );
    })}
  </div>
);
