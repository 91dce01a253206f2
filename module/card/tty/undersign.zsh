#compdef undersign
# SPDX-License-Identifier: LGPL-2.1-or-later
# Zsh completion for undersign(1).  Verbs, options, requests and passkeys are what the program itself
# says, agents the names of their files.  Root, who is nobody's approver, asks nothing.

_undersign ()
{
  local program=${words[1]}
  local -a verb found

  verb=(${words[2]})
  [[ ${words[2]} == passkey || "${words[2]} ${words[3]}" == 'receipt verify' ]] && verb+=(${words[3]})
  if ((CURRENT == 2)); then
    found=(${(f)"$($program --help 2> /dev/null |
      sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/\1:\2/p')"} --help --version)
  elif ((CURRENT == 3)) && [[ ${words[2]} == passkey ]]; then
    found=(${(f)"$($program passkey --help 2> /dev/null |
      sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/\1:\2/p')"})
  elif [[ ${words[CURRENT]} == -* ]]; then
    found=(${(f)"$($program $verb --help 2> /dev/null |
      sed -n 's/^  \(-., \)\{0,1\}\(--[a-z-]*=\{0,1\}\)[^ ]* *\(.*\)/\2:\3/p')"})
    _describe -t options option found -S ''
    return
  elif [[ "$verb" == 'receipt verify' ]]; then
    _files
    return
  elif [[ ${words[2]} == launch ]]; then
    ((CURRENT == 3)) && found=({/usr/share,/etc}/undersign/agents/*.agent(N:t:r))
  elif ((EUID != 0)); then
    case "$verb" in
      show | approve | deny | receipt*)
        found=(${(f)"$($program pending 2> /dev/null |
          sed -n 's/^\([0-9a-f]\{8\}\)  *\(.*\)/\1:\2/p')"})
        [[ ${words[2]} == receipt ]] && found+=(verify) ;;
      'passkey revoke')
        found=(${(f)"$($program passkey list 2> /dev/null |
          sed -n 's/^\([A-Za-z0-9_-]\{6,\}\)  *\(.*\)/\1:\2/p')"}) ;;
    esac
  fi
  _describe -t values value found
}

_undersign "$@"
