# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Bash completion for undersign-agent(1).  Verbs, options, actions, arguments and requests are what
# the program itself says; only words of letters, digits, dots and hyphens get any further.  Root asks
# the service nothing.

_undersign_agent ()
{
  local program=${COMP_WORDS[0]} verb=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]} words=

  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words=$("$program" --help 2> /dev/null | sed -n '/^Verbs:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')
    words+=' --help --version'
  elif [[ $word == -* ]]; then
    words=$("$program" "$verb" --help 2> /dev/null |
      sed -n 's/^  \(-., \)\{0,1\}\(--[a-z-]*=\{0,1\}\).*/\2/p')
  elif ((EUID == 0)); then
    return
  elif [[ $verb == request && COMP_CWORD -gt 2 ]]; then
    words=$("$program" describe "${COMP_WORDS[2]}" 2> /dev/null |
      sed -n 's/^argument *\([a-z][a-z0-9_-]*@\{0,1\}=\).*/\1/p')
    if [[ ${COMP_WORDS[COMP_CWORD - 1]} == *@ && $word == '=' || ${COMP_WORDS[COMP_CWORD - 1]} == '=' &&
          ${COMP_WORDS[COMP_CWORD - 2]} == *@ ]]; then
      compopt -o filenames 2> /dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "${word#=}")
      return
    fi
  elif ((COMP_CWORD == 2)); then
    case $verb in
      describe | request)
        words=$("$program" actions 2> /dev/null | sed -n 's/^action *\([a-z0-9.-]*\)$/\1/p') ;;
      status | wait | withdraw)
        words=$("$program" list 2> /dev/null | sed -n 's/^\([0-9a-f]\{32\}\) .*/\1/p') ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2> /dev/null
}

complete -F _undersign_agent undersign-agent
