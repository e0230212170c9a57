/** @jsxImportSource preact */
import { docsText } from '../../text/docs/text.ts';
import type { ApiDocument, Operation } from './api-document.ts';
import { CodeBlock } from './code-block.tsx';
import { Fields } from './fields.tsx';
import { filledIn, type OwnIds, useOwnIds } from './own-ids.ts';
import { Line, Prose } from './prose.tsx';
import { RequestExample } from './request-example.tsx';
import { TryIt } from './try-it.tsx';

const words = docsText.operation;

interface OperationPageProps {
  readonly document: ApiDocument;
  readonly operation: Operation;
}

/** One operation: what it takes and returns, how it fails, how it is called, and a way to try it. */
export function OperationPage({ document, operation }: OperationPageProps) {
  const { name, method, resource, action, scopes, input, headers, isForPages } = operation;
  const ids = useOwnIds(operation);
  const example = filledIn(method, operation.example, ids);
  const path = `/api/${resource}/${action}`;
  return (
    <div class="page wide">
      <header class="operation-head">
        <h1>{name}</h1>
        <p class="operation-path">
          <span class={`method ${method.toLowerCase()}`}>{method}</span> <code>{path}</code>
        </p>
        {!isForPages && (
          <p class="muted">
            {words.scopes}{' '}
            {scopes.length === 0
              ? words.anyToken
              : scopes.map((scope) => (
                  <code key={scope} class="pill">
                    {scope}
                  </code>
                ))}
          </p>
        )}
      </header>
      <div class="operation">
        <Prose text={withoutScopes(operation.description)} />
        <div class="operation-code">
          {/* A program has no use for a call that a token may not make. */}
          {!isForPages && (
            <section>
              <h2>{words.example}</h2>
              <RequestExample call={{ ...operation, input: example }} />
              <p class="muted">
                {words.tokenVariable} <Filled input={example} ids={ids} />
              </p>
            </section>
          )}
          <TryIt operation={operation} example={example} />
        </div>
        <div class="operation-text">
          <section>
            <h2>{words.input}</h2>
            {Object.keys(input.properties ?? {}).length === 0 ? (
              <p class="muted">{words.noInput}</p>
            ) : (
              <Fields document={document} schema={input} of="input" label={words.input} />
            )}
          </section>
          {headers.length > 0 && (
            <section>
              <h2>{words.headers}</h2>
              <ul class="api-fields">
                {headers.map((header) => (
                  <li key={header.name}>
                    <p class="api-field">
                      <code class="name">{header.name}</code>
                    </p>
                    <p class="muted">
                      <Line text={header.about} />
                    </p>
                  </li>
                ))}
              </ul>
            </section>
          )}
          <Output document={document} operation={operation} />
          <Errors operation={operation} />
        </div>
      </div>
    </div>
  );
}

/** The scopes have a line of their own. */
const withoutScopes = (description: string): string =>
  description
    .split('\n\n')
    .filter((paragraph) => !/^(?:The token needs the scope|Any valid token)/.test(paragraph))
    .join('\n\n');

/** Says what the ids in the example are. */
const Filled = ({ input, ids }: { readonly input: object; readonly ids: OwnIds }) => (
  <>
    {'chat_id' in input && ids.chat && words.chat(ids.chat)}{' '}
    {'user_id' in input && input.user_id === ids.userId && words.you(ids.userId)}
  </>
);

function Output({ document, operation: { returns, output, outputExample } }: OperationPageProps) {
  return (
    <section>
      <h2>{words.output}</h2>
      {returns === 'file' && <p>{words.outputFile}</p>}
      {returns === 'stream' && <p>{words.outputStream}</p>}
      {output && <Fields document={document} schema={output} of="output" label={words.output} />}
      {outputExample !== undefined && (
        <details>
          <summary>{words.outputExample}</summary>
          {typeof outputExample === 'string' ? (
            <CodeBlock code={outputExample.trimEnd()} language="yaml" />
          ) : (
            <CodeBlock code={JSON.stringify(outputExample, null, 2)} language="json" />
          )}
        </details>
      )}
    </section>
  );
}

const Errors = ({ operation: { errors } }: Pick<OperationPageProps, 'operation'>) => (
  <section>
    <h2>{words.errors}</h2>
    <table class="errors">
      <thead>
        <tr>
          <th scope="col">{words.status}</th>
          <th scope="col">{words.code}</th>
          <th scope="col">{words.meaning}</th>
        </tr>
      </thead>
      <tbody>
        {errors.map(({ status, code, when }) => (
          <tr key={`${status} ${code}`}>
            <td>{status}</td>
            <td>
              <code>{code}</code>
            </td>
            <td>
              <Line text={when} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);
