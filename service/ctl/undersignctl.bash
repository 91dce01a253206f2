# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Bash completion for undersignctl(8).  Verbs and options are what the program itself says, agents and
# modules the names of their files: the service, for which an administrator would be asked to
# authenticate, is asked nothing.

_undersignctl ()
{
  local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} verbs verb words= dir name
  local first=${COMP_WORDS[1]}

  COMPREPLY=()
  verbs=$("$program" --help 2> /dev/null |
    sed -n 's/^  \([a-z][a-z-]*\)\( [a-z][a-z-]*\)\{0,1\} .*/\1\2/p')
  verb=$first
  grep -qx "$first [a-z-]*" <<< "$verbs" && verb="$first ${COMP_WORDS[2]}"
  if ((COMP_CWORD == 1)); then
    words=$(cut -d ' ' -f 1 <<< "$verbs" | sort -u)
    words+=' --help --version'
  elif ((COMP_CWORD == 2)) && [[ $verb == *' '* ]]; then
    words=$(sed -n "s/^$first \([a-z-]*\)$/\1/p" <<< "$verbs")
  elif [[ $word == -* ]]; then
    # shellcheck disable=SC2086
    words=$("$program" $verb --help 2> /dev/null |
      sed -n 's/^  \(-., \)\{0,1\}\(--[a-z-]*=\{0,1\}\).*/\2/p')
  else
    case $verb in
      'policy check') compopt -o filenames 2> /dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        return ;;
      'credential '*) ((COMP_CWORD == 3)) && dir=modules name=.module ;;
      'agent '*) ((COMP_CWORD == 3)) && dir=agents name=.agent ;;
      resolve) ((COMP_CWORD == 3)) && words='done failed' ;;
    esac
    [[ -n $dir ]] && words=$(find /usr/share/undersign/$dir /etc/undersign/$dir -name "*$name" \
      2> /dev/null | sed -n "s|.*/\([a-z0-9.-]*\)\\$name\$|\1|p" | sort -u)
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2> /dev/null
}

complete -F _undersignctl undersignctl
