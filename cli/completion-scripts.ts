/**
 * What a shell runs to complete the words after `parley`. It asks the program itself, so a script stays true when commands
 * change. Shells use it for a path that ends in /parley too, so it calls the word that was typed. Without candidates the shell
 * completes file names.
 */
export const completionScripts = {
  bash: `_parley() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]/#\\~\\//$HOME/}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -o bashdefault -F _parley parley
`,
  zsh: `#compdef parley
_parley() {
  local -a found
  local word summary
  while IFS=$'\\t' read -r word summary; do
    found+=("\${word//:/\\\\:}:\${summary}")
  done < <("\${words[1]/#\\~\\//$HOME/}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then _describe 'parley' found; else _files; fi
}
compdef _parley parley
`,
  fish: `function __parley_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
  type -q -- $program; and $program complete -- $words[2..-1] 2>/dev/null
end
complete -c parley -f -n 'test (count (__parley_complete)) -gt 0' -a '(__parley_complete)'
`,
} as const;

export type Shell = keyof typeof completionScripts;
export const shells = Object.keys(completionScripts) as readonly Shell[];
