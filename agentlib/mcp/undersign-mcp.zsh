#compdef undersign-mcp
# SPDX-License-Identifier: LGPL-2.1-or-later
# Zsh completion for undersign-mcp(1): its options are what the program itself says.

_undersign_mcp ()
{
  local -a found

  found=(${(f)"$(${words[1]} --help 2> /dev/null |
    sed -n 's/^  \(-., \|    \)\{0,1\}\(--[a-z-]*=\{0,1\}\)[^ ]* *\(.*\)/\2:\3/p')"})
  _describe -t options option found -S ''
}

_undersign_mcp "$@"
