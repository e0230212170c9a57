import { defineCommand } from '../command.ts';
import { completionScripts, shells } from '../completion-scripts.ts';
import { requireKnown } from '../known.ts';
import { write } from '../output.ts';
import { text } from '../values.ts';

export const command = defineCommand({
  arguments: { shell: { summary: `One of: ${shells.join(', ')}.`, read: text, complete: () => shells } },
  options: {},
  notes: `It prints a script for your shell. Load it when a shell starts:

  bash   echo 'source <(parley completion bash)' >>~/.bashrc
  zsh    echo 'source <(parley completion zsh)' >>~/.zshrc     (after compinit)
  fish   parley completion fish >~/.config/fish/completions/parley.fish`,
  async run({ shell }, _, context) {
    await write(context.stdout, completionScripts[requireKnown('shell', shell, shells)]);
  },
});
