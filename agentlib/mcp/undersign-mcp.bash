# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Bash completion for undersign-mcp(1): its options are what the program itself says.

_undersign_mcp ()
{
  local words

  words=$("${COMP_WORDS[0]}" --help 2> /dev/null |
    sed -n 's/^  \(-., \|    \)\{0,1\}\(--[a-z-]*=\{0,1\}\).*/\2/p')
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}")
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2> /dev/null
}

complete -F _undersign_mcp undersign-mcp
