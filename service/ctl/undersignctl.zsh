#compdef undersignctl
# SPDX-License-Identifier: LGPL-2.1-or-later
# Zsh completion for undersignctl(8).  Verbs and options are what the program itself says, agents and
# modules the names of their files: the service, for which an administrator would be asked to
# authenticate, is asked nothing.

_undersignctl ()
{
  local program=${words[1]}
  local -a verbs verb found

  verbs=(${(f)"$($program --help 2> /dev/null |
    sed -n 's/^  \([a-z][a-z-]*\)\( [a-z][a-z-]*\)\{0,1\} .*/\1\2/p')"})
  verb=(${words[2]})
  [[ -n ${verbs[(r)${words[2]} *]} ]] && verb+=(${words[3]})
  if ((CURRENT == 2)); then
    found=(${(u)verbs%% *} --help --version)
  elif ((CURRENT == 3)) && [[ -n ${verbs[(r)${words[2]} *]} ]]; then
    found=(${${(M)verbs:#${words[2]} *}#* })
  elif [[ ${words[CURRENT]} == -* ]]; then
    found=(${(f)"$($program $verb --help 2> /dev/null |
      sed -n 's/^  \(-., \)\{0,1\}\(--[a-z-]*=\{0,1\}\)[^ ]* *\(.*\)/\2:\3/p')"})
    _describe -t options option found -S ''
    return
  elif ((CURRENT == 4)); then
    case $verb in
      'policy check') _files -/; return ;;
      credential*) found=({/usr/share,/etc}/undersign/modules/*.module(N:t:r)) ;;
      agent*) found=({/usr/share,/etc}/undersign/agents/*.agent(N:t:r)) ;;
      resolve*) found=(done failed) ;;
    esac
  fi
  compadd -a found
}

_undersignctl "$@"
