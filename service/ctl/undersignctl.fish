# SPDX-License-Identifier: LGPL-2.1-or-later
# Fish completion for undersignctl(8).  Verbs and options are what the program itself says, agents and
# modules the names of their files: the service, for which an administrator would be asked to
# authenticate, is asked nothing.

function __undersignctl_count
    test (count (commandline -opc)) $argv
end

function __undersignctl_verbs
    set -l words (commandline -opc)
    set -l verbs (undersignctl --help 2>/dev/null |
        sed -n 's/^  \([a-z][a-z-]*\)\( [a-z][a-z-]*\)\{0,1\} .*/\1\2/p')
    if test (count $words) -eq 1
        string replace -r ' .*' '' -- $verbs | sort -u
    else if test (count $words) -eq 2
        string replace -rf "^$words[2] " '' -- $verbs
    end
end

function __undersignctl_options
    set -l words (commandline -opc)
    set -l verb $words[2]
    if test (count $words) -ge 3
        and undersignctl --help 2>/dev/null | string match -qr "^  $words[2] $words[3] "
        set -a verb $words[3]
    end
    undersignctl $verb --help 2>/dev/null |
        sed -n 's/^  \(-., \)\{0,1\}\(--[a-z-]*=\{0,1\}\)[^ ]* *\(.*\)/\2\t\3/p'
end

function __undersignctl_names
    for file in /usr/share/undersign/$argv[1]/*$argv[2] /etc/undersign/$argv[1]/*$argv[2]
        string replace -rf '.*/([a-z0-9.-]*)\.[a-z]*$' '$1' -- $file
    end
end

complete -c undersignctl -f
complete -c undersignctl -n '__undersignctl_count -le 2' -a '(__undersignctl_verbs)'
complete -c undersignctl -n '__undersignctl_count -eq 1' -a '--help --version'
complete -c undersignctl -n '__undersignctl_count -ge 2' -a '(__undersignctl_options)'
complete -c undersignctl -n '__undersignctl_count -eq 3; and __fish_seen_subcommand_from credential' \
    -a '(__undersignctl_names modules .module)'
complete -c undersignctl -n '__undersignctl_count -eq 3; and __fish_seen_subcommand_from agent' \
    -a '(__undersignctl_names agents .agent)'
complete -c undersignctl -n '__undersignctl_count -eq 3; and __fish_seen_subcommand_from resolve' \
    -a 'done failed'
complete -c undersignctl -n '__undersignctl_count -eq 3; and __fish_seen_subcommand_from check' \
    -a '(__fish_complete_directories)'
