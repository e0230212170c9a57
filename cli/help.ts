import type { Argument, Command, Flag, ValueOption } from './command.ts';
import type { Row } from './commands.ts';
import { columns } from './output.ts';

const environment = [
  ['PARLEY_URL', 'The server for login, chats, messages, send, listen … Defaults to http://127.0.0.1:8080.'],
  ['PARLEY_TOKEN', 'The access token for them. Overrides the saved login.'],
  ['PARLEY_DATA', 'The data folder for serve, user, bot, token, audit, backup and restore. Defaults to ./data.'],
  ['DATABASE_URL', 'The PostgreSQL database for them. Defaults to SQLite in the data folder.'],
];

export function overview(rows: readonly Row[]): string {
  return [
    'Usage: parley <command> …',
    '',
    ...indent(rows.map(({ name, summary }) => [name, summary])),
    '',
    'Environment:',
    ...indent(environment),
    '',
    'More about a command: parley <command> --help',
  ].join('\n');
}

export function helpFor(row: Row, command: Command): string {
  const names = Object.entries(command.arguments).map(([name, argument]) => argumentName(name, argument));
  const options = Object.entries({ ...command.options, help: { summary: 'Show this help.' } });
  return [
    `Usage: ${['parley', row.name, ...names, '[options]'].join(' ')}`,
    '',
    command.notes === undefined ? row.summary : `${row.summary} ${command.notes}`,
    '',
    ...indent([
      ...Object.entries(command.arguments).map(([name, argument]) => [argumentName(name, argument), argument.summary]),
      ...options.map(([name, option]) => [optionName(name, option), option.summary]),
    ]),
  ].join('\n');
}

function argumentName(name: string, { rest, optional }: Argument): string {
  if (rest) return `[${name}…]`;
  return optional ? `[${name}]` : `<${name}>`;
}

const optionName = (name: string, option: Flag | ValueOption) =>
  'value' in option ? `--${name} <${option.value}>` : `--${name}`;

const indent = (rows: readonly (readonly string[])[]) => columns(rows).map((line) => `  ${line}`);
