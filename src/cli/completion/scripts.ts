// The completion script of each shell: a function that calls `offshoot complete`. The last line of its output is a
// directive: 2 for no space after the completion, 4 for no file completion. kubectl and cobra use the same protocol.

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof SHELLS)[number];

export const NO_SPACE = 2;
export const NO_FILES = 4;

const BASH = String.raw`# bash completion for offshoot. Needs nothing but bash; may be loaded again and again.
__offshoot_complete() {
    local line=${'$'}{COMP_LINE:0:COMP_POINT} words out directive cur cut value
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=('')
    cur=${'$'}{words[-1]}
    COMPREPLY=()
    out=$("${'$'}{words[0]}" complete -- "${'$'}{words[@]:1}" 2> /dev/null) || return
    directive=${'$'}{out##*:}
    # bash replaces only what stands behind the last of these.
    cut=''
    [[ $cur == *[:=]* && $COMP_WORDBREAKS == *[:=]* ]] && cut=${'$'}{cur%"${'$'}{cur##*[:=]}"}
    while IFS=$'\t' read -r value _; do
        [[ $value == :* || -z $value ]] || COMPREPLY+=("${'$'}{value#"$cut"}")
    done <<< "$out"
    (( directive & 2 )) && compopt -o nospace 2> /dev/null
    (( directive & 4 )) || compopt -o default 2> /dev/null
    return 0
}
complete -F __offshoot_complete offshoot
`;

const ZSH = String.raw`#compdef offshoot
# zsh completion for offshoot.
_offshoot() {
    local -a lines values shown
    local line directive
    lines=("${'$'}{(@f)$("${'$'}{words[1]}" complete -- "${'$'}{(@)words[2,CURRENT]}" 2> /dev/null)}")
    directive=${'$'}{lines[-1]#:}
    for line in "${'$'}{(@)lines[1,-2]}"; do
        values+=("${'$'}{line%%$'\t'*}")
        if [[ $line == *$'\t'* ]]; then shown+=("${'$'}{line%%$'\t'*}  -- ${'$'}{line#*$'\t'}"); else shown+=("$line"); fi
    done
    local -a space
    (( directive & 2 )) && space=(-S '')
    (( ${'$'}{#values} )) && compadd "${'$'}{space[@]}" -l -d shown -- "${'$'}{values[@]}"
    (( directive & 4 )) || _files
}
if [[ ${'$'}{funcstack[1]} == _offshoot ]]; then _offshoot "$@"; else compdef _offshoot offshoot; fi
`;

const FISH = String.raw`# fish completion for offshoot.
function __offshoot_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] complete -- $words[2..-1] "$current" 2> /dev/null)
    test (count $lines) -gt 0; or return
    set -l directive (string sub -s 2 -- $lines[-1])
    test (count $lines) -gt 1; and printf '%s\n' $lines[1..-2]
    test (math "floor($directive / 4) % 2") -eq 1; or __fish_complete_path "$current"
end
complete -c offshoot -e
complete -c offshoot -f -a '(__offshoot_complete)'
`;

const POWERSHELL = String.raw`# PowerShell completion for offshoot.
Register-ArgumentCompleter -Native -CommandName offshoot -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $program = $commandAst.CommandElements[0].Extent.Text
    $rest = @($commandAst.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -le $cursorPosition } | ForEach-Object { $_.Extent.Text })
    if ($wordToComplete -eq '') { $rest += '""' }
    $lines = @(& $program complete -- @rest 2> $null)
    $lines | Where-Object { $_ -and -not $_.StartsWith(':') } | ForEach-Object {
        $value, $about = $_ -split "${'`'}t", 2
        if (-not $about) { $about = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
    }
}
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL };
