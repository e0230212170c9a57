/** @jsxImportSource preact */
import type { EventName } from '@parley-chat/sdk';
import { useId, useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { IconButton } from '../icon.tsx';
import { type EventChoice, eventNames, eventsOf, exampleOf, type Noun, nouns } from './event-choice.ts';

const words = consoleText.form;

interface EventTreeProps {
  readonly choice: EventChoice;
  readonly onChange: (choice: EventChoice) => void;
}

/** All events by noun: all of them, those of a noun, or single ones. */
export function EventTree({ choice, onChange }: EventTreeProps) {
  const [open, setOpen] = useState<Noun | undefined>(undefined);
  return (
    <fieldset class="event-tree">
      <legend>{words.events}</legend>
      <Box
        label={words.allEvents}
        note={words.allEventsHint}
        chosen={choice.isAll ? eventNames.length : Math.min(choice.names.size, eventNames.length - 1)}
        all={eventNames.length}
        onChange={(isChosen) => onChange(choice.setAll(isChosen))}
      />
      <ul>
        {nouns.map((noun) => (
          <li key={noun}>
            <NounEvents
              noun={noun}
              choice={choice}
              onChange={onChange}
              isOpen={open === noun}
              onToggle={() => setOpen(open === noun ? undefined : noun)}
            />
          </li>
        ))}
      </ul>
      {choice.unknown.length > 0 && (
        <ul aria-label={words.unknown}>
          {choice.unknown.map((name) => (
            <li key={name}>
              <Box label={name} chosen={1} all={1} onChange={() => onChange(choice.set([name], false))} />
            </li>
          ))}
        </ul>
      )}
    </fieldset>
  );
}

interface NounEventsProps extends EventTreeProps {
  readonly noun: Noun;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function NounEvents({ noun, choice, onChange, isOpen, onToggle }: NounEventsProps) {
  const [example, setExample] = useState<EventName | undefined>(undefined);
  const names = eventsOf(noun);
  const chosen = choice.count(names);
  const label = consoleText.nouns[noun];
  return (
    <>
      <div class="noun">
        <Box
          label={label}
          note={words.chosen({ chosen, all: names.length })}
          chosen={chosen}
          all={names.length}
          onChange={(isChosen) => onChange(choice.set(names, isChosen))}
        />
        <IconButton icon="down" label={words.expand(label)} onClick={onToggle} isExpanded={isOpen} />
      </div>
      {isOpen && (
        <ul>
          {names.map((name) => (
            <li key={name}>
              <div class="noun">
                <Box
                  label={name}
                  note={consoleText.events[name]}
                  chosen={choice.has(name) ? 1 : 0}
                  all={1}
                  onChange={(isChosen) => onChange(choice.set([name], isChosen))}
                />
                <button
                  type="button"
                  class="link"
                  aria-label={words.exampleOf(name)}
                  aria-expanded={example === name}
                  onClick={() => setExample(example === name ? undefined : name)}
                >
                  {words.example}
                </button>
              </div>
              {example === name && <pre class="code">{exampleOf(name)}</pre>}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

interface BoxProps {
  readonly label: string;
  readonly note?: string;
  readonly chosen: number;
  readonly all: number;
  readonly onChange: (isChosen: boolean) => void;
}

/** A box that is checked for all, and in between for some. */
function Box({ label, note, chosen, all, onChange }: BoxProps) {
  const id = useId();
  const isSome = chosen > 0 && chosen < all;
  return (
    <label class="box">
      <input
        type="checkbox"
        checked={chosen === all}
        ref={(input) => {
          if (input) input.indeterminate = isSome;
        }}
        aria-describedby={note ? id : undefined}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{label}</span>
      {note && (
        <span id={id} class="muted">
          {note}
        </span>
      )}
    </label>
  );
}
