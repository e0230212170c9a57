/** @jsxImportSource preact */
import { useState } from 'preact/hooks';
import { docsText } from '../../text/docs/text.ts';
import type { ApiDocument } from './api-document.ts';
import { Line } from './prose.tsx';
import { type Field, fieldsOf, type Schema } from './schema.ts';

const words = docsText.operation;

interface FieldsProps {
  readonly document: ApiDocument;
  readonly schema: Schema;
  /** An input says which fields are required, a response which ones may be missing. */
  readonly of: 'input' | 'output';
  readonly label: string;
}

/** The fields of an object, and those of the objects in it when they are asked for. */
export function Fields({ document, schema, of, label }: FieldsProps) {
  return (
    <ul class="api-fields" aria-label={label}>
      {fieldsOf(document, schema).map((field) => (
        <li key={field.name}>
          <p class="api-field">
            <code class="name">{field.name}</code> <span class="type">{field.type}</span>
            <Notes field={field} of={of} />
          </p>
          {field.about !== '' && (
            <p class="muted">
              <Line text={field.about} />
            </p>
          )}
          {field.object && <Inner document={document} schema={field.object} of={of} type={field.type} />}
        </li>
      ))}
    </ul>
  );
}

function Notes({ field: { isRequired, fallback, limits }, of }: { field: Field; of: FieldsProps['of'] }) {
  const isNoted = (of === 'input') === isRequired;
  return (
    <>
      {isNoted && (
        <strong class={of === 'input' ? 'required' : 'type'}>
          {' '}
          {of === 'input' ? words.required : words.optional}
        </strong>
      )}
      {limits !== '' && of === 'input' && <span class="type"> {limits}</span>}
      {fallback !== undefined && <span class="type"> {words.fallback(fallback)}</span>}
    </>
  );
}

function Inner({ document, schema, of, type }: Omit<FieldsProps, 'label'> & { readonly type: string }) {
  // An object may hold others like itself, so only what is open is there.
  const [isOpen, setOpen] = useState(false);
  const label = words.fieldsOf(type);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{label}</summary>
      {isOpen && <Fields document={document} schema={schema} of={of} label={label} />}
    </details>
  );
}
