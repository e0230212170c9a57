import { program } from '@parley/server/lib/program.ts';
import { defineCommand } from '../command.ts';
import { completionScripts, shells } from '../completion-scripts.ts';
import { requireKnown } from '../known.ts';
import { write } from '../output.ts';
import { text } from '../values.ts';

export const command = defineCommand({
  arguments: { shell: { summary: `One of: ${shells.join(', ')}.`, read: text, complete: () => shells } },
  options: {},
  notes: `It prints a script for your shell, which completes what follows parley, ./parley and any
other path of it, but not npx parley. Add it to the files that a shell reads when it starts:

  bash   ${program} completion bash >>~/.bashrc
  zsh    ${program} completion zsh >>~/.zshrc     (after compinit)
  fish   ${program} completion fish >~/.config/fish/completions/parley.fish`,
  async run({ shell }, _, context) {
    await write(context.stdout, completionScripts[requireKnown('shell', shell, shells)]);
  },
});
