# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Bash completion for undersign(1).  Verbs, options, requests and passkeys are what the program itself
# says, agents the names of their files.  Root, who is nobody's approver, asks nothing.

_undersign ()
{
  local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} words=
  local -a verb=("${COMP_WORDS[1]}")

  COMPREPLY=()
  [[ ${verb[0]} == passkey || "${COMP_WORDS[*]:1:2}" == 'receipt verify' ]] &&
    verb+=("${COMP_WORDS[2]}")
  if ((COMP_CWORD == 1)); then
    words="$("$program" --help 2> /dev/null | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p') --help --version"
  elif ((COMP_CWORD == 2)) && [[ ${verb[0]} == passkey ]]; then
    words=$("$program" passkey --help 2> /dev/null | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p')
  elif [[ $word == -* ]]; then
    words=$("$program" "${verb[@]}" --help 2> /dev/null |
      sed -n 's/^  \(-., \)\{0,1\}\(--[a-z-]*=\{0,1\}\).*/\2/p')
  elif [[ ${verb[*]} == 'receipt verify' ]]; then
    compopt -o filenames 2> /dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    return
  elif [[ ${verb[0]} == launch ]]; then
    ((COMP_CWORD == 2)) && words=$(find /usr/share/undersign/agents /etc/undersign/agents \
      -name '*.agent' 2> /dev/null | sed -n 's|.*/\([a-z0-9.-]*\)\.agent$|\1|p' | sort -u)
  elif ((EUID != 0)); then
    case ${verb[*]} in
      show | approve | deny | receipt)
        words=$("$program" pending 2> /dev/null | sed -n 's/^\([0-9a-f]\{8\}\) .*/\1/p') ;;
      'passkey revoke')
        words=$("$program" passkey list 2> /dev/null | sed -n 's/^\([A-Za-z0-9_-]\{6,\}\) .*/\1/p') ;;
    esac
    [[ ${verb[*]} == receipt ]] && words+=' verify'
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2> /dev/null
}

complete -F _undersign undersign
