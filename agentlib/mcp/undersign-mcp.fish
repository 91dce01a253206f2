# SPDX-License-Identifier: LGPL-2.1-or-later
# Fish completion for undersign-mcp(1): its options are what the program itself says.

function __undersign_mcp_options
    undersign-mcp --help 2>/dev/null |
        sed -n 's/^  \(-., \|    \)\{0,1\}\(--[a-z-]*=\{0,1\}\)[^ ]* *\(.*\)/\2\t\3/p'
end

complete -c undersign-mcp -f -a '(__undersign_mcp_options)'
