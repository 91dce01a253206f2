# SPDX-License-Identifier: LGPL-2.1-or-later
# Fish completion for undersign-agent(1).  Verbs, options, actions, arguments and requests are what
# the program itself says.  Root asks the service nothing.

function __undersign_agent_words
    commandline -opc
end

function __undersign_agent_verb
    set -l words (__undersign_agent_words)
    test (count $words) -ge 2; and contains -- $words[2] $argv
end

function __undersign_agent_verbs
    undersign-agent --help 2>/dev/null | sed -n '/^Verbs:/,/^$/s/^  \([a-z][a-z-]*\)  *\(.*\)/\1\t\2/p'
end

function __undersign_agent_options
    set -l words (__undersign_agent_words)
    undersign-agent $words[2] --help 2>/dev/null |
        sed -n 's/^  \(-., \)\{0,1\}\(--[a-z-]*=\{0,1\}\)[^ ]* *\(.*\)/\2\t\3/p'
end

function __undersign_agent_first
    test (count (__undersign_agent_words)) -eq 2; and test (id -u) -ne 0
end

function __undersign_agent_actions
    undersign-agent actions 2>/dev/null | sed -n 's/^action *\([a-z0-9.-]*\)$/\1/p'
end

function __undersign_agent_requests
    undersign-agent list 2>/dev/null | sed -n 's/^\([0-9a-f]\{32\}\)  *\(.*\)/\1\t\2/p'
end

function __undersign_agent_arguments
    set -l words (__undersign_agent_words)
    test (id -u) -ne 0; and test (count $words) -ge 3
    and undersign-agent describe $words[3] 2>/dev/null |
        sed -n 's/^argument *\([a-z][a-z0-9_-]*@\{0,1\}=\).*/\1/p'
end

complete -c undersign-agent -f
complete -c undersign-agent -n 'test (count (__undersign_agent_words)) -eq 1' \
    -a '(__undersign_agent_verbs)'
complete -c undersign-agent -n 'test (count (__undersign_agent_words)) -eq 1' \
    -a '--help --version'
complete -c undersign-agent -n 'test (count (__undersign_agent_words)) -ge 2' \
    -a '(__undersign_agent_options)'
complete -c undersign-agent -n '__undersign_agent_first; and __undersign_agent_verb describe request' \
    -a '(__undersign_agent_actions)'
complete -c undersign-agent \
    -n '__undersign_agent_first; and __undersign_agent_verb status wait withdraw' \
    -a '(__undersign_agent_requests)'
complete -c undersign-agent -n '__undersign_agent_verb request' -a '(__undersign_agent_arguments)'
