import { type Json, objects, text } from './json.ts';
import { bold, dotted, lines, link, linkTo, paragraph, paragraphs, plain, words } from './markdown.ts';
import { richText } from './slack-rich-text.ts';
import { type SlackTextOptions, slackText } from './slack-text.ts';

/** As many as Slack takes. */
const maxBlocks = 50;
const maxAttachments = 20;
const maxFields = 25;

/** Returns a message in Slack's form as Markdown: its blocks, or else its text, and its attachments. */
export function slackMessage(payload: Json): string {
  const options = { linkNames: ['true', '1'].includes(text(payload, 'link_names')) };
  const said =
    text(payload, 'mrkdwn') === 'false'
      ? paragraph(text(payload, 'text'), 40_000)
      : slackText(text(payload, 'text'), options);
  return paragraphs(
    blocksIn(payload, options) || said,
    ...objects(payload, 'attachments')
      .slice(0, maxAttachments)
      .map((one) => attachment(one, options)),
  );
}

export const isSlackMessage = (payload: Json): boolean =>
  typeof payload.text === 'string' || Array.isArray(payload.blocks) || Array.isArray(payload.attachments);

const blocksIn = (payload: Json, options: SlackTextOptions): string =>
  paragraphs(
    ...objects(payload, 'blocks')
      .slice(0, maxBlocks)
      .map((one) => blocks[text(one, 'type')]?.(one, options)),
  );

type Block = (block: Json, options: SlackTextOptions) => string;

const blocks: Readonly<Record<string, Block>> = {
  header: (block) => bold(text(block, 'text.text')),
  section: (block, options) =>
    lines(
      textObject(block.text, options),
      ...objects(block, 'fields')
        .slice(0, maxFields)
        .map((field) => textObject(field, options).replaceAll(/\s*\n\s*/g, ' ')),
      block.accessory !== undefined && element(block.accessory as Json, options),
    ),
  // Only `<!channel>` and its like mention anybody.
  markdown: (block) => text(block, 'text').replaceAll('@', '\\@'),
  divider: () => '---',
  context: (block, options) => words(...objects(block, 'elements').map((one) => element(one, options))),
  actions: (block, options) => dotted(...objects(block, 'elements').map((one) => element(one, options))),
  image: (block) => link(text(block, 'title.text') || text(block, 'alt_text') || 'Picture', text(block, 'image_url')),
  rich_text: (block) => richText(block),
};

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
      ...objects(one, 'actions').map(
        (action) => text(action, 'url') && link(text(action, 'text'), text(action, 'url')),
      ),
      picture,
    ),
    text(one, 'footer') && plain(text(one, 'footer')),
  );
  return body || slackText(text(one, 'fallback'), options);
}

const fieldsOf = (one: Json, options: SlackTextOptions): string =>
  lines(
    ...objects(one, 'fields')
      .slice(0, maxFields)
      .map((field) => {
        const value = slackText(text(field, 'value'), options);
        const title = text(field, 'title').replace(/:$/, '');
        if (title === '') return value;
        return value.includes('\n') ? `**${plain(title)}:**\n${value}` : words(`**${plain(title)}:**`, value);
      }),
  );
