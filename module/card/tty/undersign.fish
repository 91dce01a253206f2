# SPDX-License-Identifier: LGPL-2.1-or-later
# Fish completion for undersign(1).  Verbs, options, requests and passkeys are what the program itself
# says, agents the names of their files.  Root, who is nobody's approver, asks nothing.

function __undersign_count
    test (count (commandline -opc)) $argv
end

function __undersign_verb
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] $argv
end

function __undersign_verbs
    undersign $argv --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/\1\t\2/p'
end

function __undersign_options
    set -l words (commandline -opc)
    set -l verb $words[2]
    if test (count $words) -ge 3
        switch "$words[2] $words[3]"
            case 'passkey *' 'receipt verify'
                set -a verb $words[3]
        end
    end
    undersign $verb --help 2>/dev/null |
        sed -n 's/^  \(-., \)\{0,1\}\(--[a-z-]*=\{0,1\}\)[^ ]* *\(.*\)/\2\t\3/p'
end

function __undersign_requests
    test (id -u) -ne 0
    and undersign pending 2>/dev/null | sed -n 's/^\([0-9a-f]\{8\}\)  *\(.*\)/\1\t\2/p'
end

function __undersign_passkeys
    test (id -u) -ne 0
    and undersign passkey list 2>/dev/null |
        sed -n 's/^\([A-Za-z0-9_-]\{6,\}\)  *\(.*\)/\1\t\2/p'
end

function __undersign_agents
    for file in /usr/share/undersign/agents/*.agent /etc/undersign/agents/*.agent
        string replace -rf '.*/([a-z0-9.-]*)\.agent$' '$1' -- $file
    end
end

complete -c undersign -f
complete -c undersign -n '__undersign_count -eq 1' -a '(__undersign_verbs) --help --version'
complete -c undersign -n '__undersign_count -eq 2; and __undersign_verb passkey' \
    -a '(__undersign_verbs passkey)'
complete -c undersign -n '__undersign_count -ge 2' -a '(__undersign_options)'
complete -c undersign -n '__undersign_count -eq 2; and __undersign_verb show approve deny receipt' \
    -a '(__undersign_requests)'
complete -c undersign -n '__undersign_count -eq 2; and __undersign_verb receipt' -a verify
complete -c undersign -n '__undersign_count -eq 2; and __undersign_verb launch' -a '(__undersign_agents)'
complete -c undersign -n '__undersign_count -eq 3; and __fish_seen_subcommand_from revoke' \
    -a '(__undersign_passkeys)'
complete -c undersign -n '__undersign_count -ge 3; and __fish_seen_subcommand_from verify' -F
