import { type Json, objects, pick, text } from './json.ts';
import {
  bold,
  closed,
  dotted,
  escapeMentions,
  lineBreak,
  lines,
  link,
  linkTo,
  paragraph,
  paragraphs,
  plain,
  TextLimit,
  words,
} from './markdown.ts';
import { richText } from './slack-rich-text.ts';
import { type SlackTextOptions, slackText } from './slack-text.ts';

/** As many as Slack takes. */
const maxBlocks = 50;
const maxAttachments = 20;
const maxFields = 25;
const maxElements = 25;

/**
 * Returns a message in Slack's form as Markdown: its blocks, or else its text, and its attachments. What comes after about
 * `maxLength` characters is left out.
 */
export function slackMessage(payload: Json, maxLength: number): string {
  const options = { linkNames: ['true', '1'].includes(text(payload, 'link_names')), limit: new TextLimit(maxLength) };
  const said = blocksIn(payload, options) || textOf(payload, options);
  const attachments = objects(payload, 'attachments').slice(0, maxAttachments);
  return paragraphs(said, ...options.limit.render(attachments, (one) => attachment(one, options)));
}

const textOf = (payload: Json, options: SlackTextOptions): string =>
  text(payload, 'mrkdwn') === 'false'
    ? paragraph(text(payload, 'text'), options.limit.maxLength)
    : slackText(text(payload, 'text'), options);

export const isSlackMessage = (payload: Json): boolean =>
  typeof payload.text === 'string' || Array.isArray(payload.blocks) || Array.isArray(payload.attachments);

const blocksIn = (payload: Json, options: SlackTextOptions): string =>
  paragraphs(
    ...options.limit.render(
      objects(payload, 'blocks').slice(0, maxBlocks),
      (one) => pick(blocks, text(one, 'type'))?.(one, options) ?? '',
    ),
  );

type Block = (block: Json, options: SlackTextOptions) => string;

const blocks: Readonly<Record<string, Block>> = {
  header: (block) => bold(text(block, 'text.text')),
  section: (block, options) =>
    lines(
      textObject(block.text, options),
      ...options.limit.render(objects(block, 'fields').slice(0, maxFields), (field) =>
        inOneLine(textObject(field, options)),
      ),
      block.accessory !== undefined && element(block.accessory as Json, options),
    ),
  // Only `<!channel>` and its like mention anybody.
  markdown: (block, { limit }) => closed(escapeMentions(limit.take(text(block, 'text')).replaceAll(lineBreak, '\n'))),
  divider: () => '---',
  context: (block, options) => words(...elementsOf(block, options)),
  actions: (block, options) => dotted(...elementsOf(block, options)),
  image: (block) => link(text(block, 'title.text') || text(block, 'alt_text') || 'Picture', text(block, 'image_url')),
  rich_text: (block, { limit }) => richText(block, limit),
};

const inOneLine = (markdown: string): string => words(...markdown.split(lineBreak).map((line) => line.trim()));

const elementsOf = (block: Json, options: SlackTextOptions): string[] =>
  options.limit.render(objects(block, 'elements').slice(0, maxElements), (one) => element(one, options));

function textObject(value: unknown, options: SlackTextOptions): string {
  const said = text(value, 'text');
  return text(value, 'type') === 'plain_text' ? paragraph(said) : slackText(said, options);
}

/** A button without a URL does nothing outside of Slack, so it is left out. */
function element(one: Json, options: SlackTextOptions): string {
  const type = text(one, 'type');
  if (type === 'mrkdwn' || type === 'plain_text') return textObject(one, options);
  if (type === 'button') return text(one, 'url') && link(text(one, 'text.text') || 'Open', text(one, 'url'));
  // A small picture beside a text is decoration.
  return '';
}

function attachment(one: Json, options: SlackTextOptions): string {
  const inBlocks = blocksIn(one, options);
  if (inBlocks) return inBlocks;
  const title = text(one, 'title') && linkTo(`**${plain(text(one, 'title'))}**`, text(one, 'title_link'));
  const author = text(one, 'author_name') && link(text(one, 'author_name'), text(one, 'author_link'));
  const picture = text(one, 'image_url') && link('Picture', text(one, 'image_url'));
  const body = paragraphs(
    slackText(text(one, 'pretext'), options),
    lines(author, title, slackText(text(one, 'text'), options)),
    fieldsOf(one, options),
    dotted(
      ...objects(one, 'actions')
        .slice(0, maxElements)
        .map((action) => text(action, 'url') && link(text(action, 'text'), text(action, 'url'))),
      picture,
    ),
    text(one, 'footer') && plain(text(one, 'footer')),
  );
  return body || slackText(text(one, 'fallback'), options);
}

const fieldsOf = (one: Json, options: SlackTextOptions): string =>
  lines(
    ...options.limit.render(objects(one, 'fields').slice(0, maxFields), (field) => {
      const value = slackText(text(field, 'value'), options);
      const title = text(field, 'title').replace(/:$/, '');
      if (title === '') return value;
      return value.includes('\n') ? `**${plain(title)}:**\n${value}` : words(`**${plain(title)}:**`, value);
    }),
  );
