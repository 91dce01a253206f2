#compdef undersign-agent
# SPDX-License-Identifier: LGPL-2.1-or-later
# Zsh completion for undersign-agent(1).  Verbs, options, actions, arguments and requests are what the
# program itself says.  Root asks the service nothing.

_undersign_agent ()
{
  local program=${words[1]} verb=${words[2]}
  local -a found

  if ((CURRENT == 2)); then
    found=(${(f)"$($program --help 2> /dev/null |
      sed -n '/^Verbs:/,/^$/s/^  \([a-z][a-z-]*\)  *\(.*\)/\1:\2/p')"} --help --version)
    _describe -t verbs verb found
  elif [[ ${words[CURRENT]} == -* ]]; then
    found=(${(f)"$($program $verb --help 2> /dev/null |
      sed -n 's/^  \(-., \)\{0,1\}\(--[a-z-]*=\{0,1\}\)[^ ]* *\(.*\)/\2:\3/p')"})
    _describe -t options option found -S ''
  elif ((EUID == 0)); then
    return 1
  elif [[ $verb == request ]] && ((CURRENT > 3)); then
    if [[ ${words[CURRENT]} == *@=* ]]; then
      compset -P '*='
      _files
      return
    fi
    found=(${(f)"$($program describe ${words[3]} 2> /dev/null |
      sed -n 's/^argument *\([a-z][a-z0-9_-]*@\{0,1\}=\).*/\1/p')"})
    compadd -S '' -a found
  elif ((CURRENT == 3)); then
    case $verb in
      describe | request)
        found=(${(f)"$($program actions 2> /dev/null | sed -n 's/^action *\([a-z0-9.-]*\)$/\1/p')"}) ;;
      status | wait | withdraw)
        found=(${(f)"$($program list 2> /dev/null |
          sed -n 's/^\([0-9a-f]\{32\}\)  *\(.*\)/\1:\2/p')"}) ;;
    esac
    _describe -t values value found
  fi
}

_undersign_agent "$@"
