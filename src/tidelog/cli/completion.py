"""Scripts that complete commands, options, choices, knowledge bases and files in bash, zsh and fish.

They are made from the argument parsers, so they know all commands and options. A folder that holds `catalog.sqlite` is
a knowledge base.
"""

from __future__ import annotations

import shlex
from argparse import Action, ArgumentParser
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# What completes an argument, by the name of its value in the help. Other values are free text.
_KINDS = {"KB": "base", "FILE": "file", "FILE.rls": "file", "F": "file", "OUT": "file", "PATH": "file", "DIR": "folder"}


@dataclass(frozen=True, slots=True)
class Argument:
    """An option, or a positional argument, which has no flags. `kind` says what completes its value, if it has one."""

    flags: tuple[str, ...]
    help: str
    kind: str = ""
    choices: tuple[str, ...] = ()

    @property
    def values(self) -> str:
        return " ".join(self.choices)


Arguments = Mapping[str, list[Argument]]  # of each command


def arguments_of(parser: ArgumentParser) -> list[Argument]:
    return [_argument(action) for action in parser._actions]


def _argument(action: Action) -> Argument:
    flags, text = tuple(action.option_strings), action.help or ""
    if action.nargs == 0:
        return Argument(flags, text)
    if action.choices is not None:
        return Argument(flags, text, "choice", tuple(map(str, action.choices)))
    name = action.metavar if isinstance(action.metavar, str) else action.dest
    return Argument(flags, text, _KINDS.get(name, "text"))


def _options(arguments: Iterable[Argument]) -> list[Argument]:
    return [each for each in arguments if each.flags]


def _takes_base(arguments: Iterable[Argument]) -> bool:
    return any(each.kind == "base" and not each.flags for each in arguments)


_BASH = """\
# Completion of tidelog in bash. Load it with:  source <(tidelog completion bash)
_tidelog_bases() {{
    local folder
    while IFS= read -r folder; do
        if [[ -e "$folder/catalog.sqlite" ]]; then
            COMPREPLY+=("$(printf %q "$folder")")
        else
            COMPREPLY+=("$(printf %q "$folder")/")
            compopt -o nospace
        fi
    done < <(compgen -d -- "$1")
}}

_tidelog_files() {{
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
}}

_tidelog_words() {{
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}}

_tidelog() {{
    local word command="" words=0 current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
    COMPREPLY=()
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        [[ "$word" == -* ]] && continue
        [[ -z "$command" ]] && command="$word" || words=$((words + 1))
    done
    case "$command $previous" in
{values}
    esac
    case "$command" in
        "") _tidelog_words "{commands} --help --version" "$current"; return ;;
{options}
    esac
    [[ "$current" == -* ]] && return
    case "$command $words" in
{positions}
        *) _tidelog_files -f "$current" ;;
    esac
}}

complete -F _tidelog tidelog
"""
_BASH_VALUES = {
    "base": '_tidelog_bases "$current"',
    "file": '_tidelog_files -f "$current"',
    "folder": '_tidelog_files -d "$current"',
    "text": ":",
}


def bash(commands: Mapping[str, str], arguments: Arguments) -> str:
    """The script for bash; `commands` has one line of help for each command."""
    values, options, positions = [], [], []
    for name, own in arguments.items():
        flags = " ".join(flag for each in _options(own) for flag in each.flags)
        options.append(f'        {name}) [[ "$current" == -* ]] && _tidelog_words "{flags}" "$current" ;;')
        for each in _options(own):
            if each.kind:
                patterns = "|".join(f'"{name} {flag}"' for flag in each.flags)
                values.append(f"        {patterns}) {_bash_value(each)}; return ;;")
        for number, each in enumerate(argument for argument in own if not argument.flags):
            if each.kind in ("base", "choice"):
                positions.append(f'        "{name} {number}") {_bash_value(each)} ;;')
    parts = {"values": values, "options": options, "positions": positions}
    lines = {part: "\n".join(some) for part, some in parts.items()}
    return _BASH.format(commands=" ".join(commands), **lines)


def _bash_value(argument: Argument) -> str:
    return _BASH_VALUES.get(argument.kind, f'_tidelog_words "{argument.values}" "$current"')


_ZSH = """\
#compdef tidelog
# Completion of tidelog in zsh. Load it with:  source <(tidelog completion zsh)
_tidelog() {{
    local -a commands
    local context state state_descr line
    typeset -A opt_args
    commands=(
{commands}
    )
    _arguments -C '--help[show the help]' '--version[show the version]' '1: :->command' '*:: :->arguments'
    case $state in
        command) _describe command commands ;;
        arguments)
            case $words[1] in
{cases}
            esac ;;
    esac
}}

compdef _tidelog tidelog
"""
_ZSH_VALUES = {"base": "_files -/", "file": "_files", "folder": "_files -/", "text": "{:}"}


def zsh(commands: Mapping[str, str], arguments: Arguments) -> str:
    """The script for zsh."""
    described = "\n".join(f"        {shlex.quote(f'{name}:{text}')}" for name, text in commands.items())
    cases = [
        f"                {name}) _arguments {' '.join(map(shlex.quote, _zsh_arguments(own)))} ;;"
        for name, own in arguments.items()
    ]
    return _ZSH.format(commands=described, cases="\n".join(cases))


def _zsh_arguments(arguments: Iterable[Argument]) -> Iterable[str]:
    for each in arguments:
        values = f"({each.values})" if each.choices else _ZSH_VALUES.get(each.kind, "{:}")
        text = "".join(f"\\{c}" if c in "[]:\\" else c for c in each.help)
        if not each.flags:
            yield f"*: :{values}" if each.kind == "file" else f": :{values}"
        for flag in each.flags:
            yield f"*{flag}[{text}]" + (f": :{values}" if each.kind else "")


_FISH = """\
# Completion of tidelog in fish. Load it with:  tidelog completion fish | source
complete -c tidelog -n __fish_use_subcommand -f -l help -d 'show the help'
complete -c tidelog -n __fish_use_subcommand -f -l version -d 'show the version'
"""


def fish(commands: Mapping[str, str], arguments: Arguments) -> str:
    """The script for fish."""
    lines = [
        f"complete -c tidelog -n __fish_use_subcommand -f -a {name} -d {shlex.quote(text)}"
        for name, text in commands.items()
    ]
    for name, own in arguments.items():
        start = f"complete -c tidelog -n '__fish_seen_subcommand_from {name}'"
        lines += [f"{start} {_fish_option(each)}" for each in _options(own)]
        choices = " ".join(each.values for each in own if not each.flags and each.choices)
        if choices:
            lines.append(f"{start} -f -a '{choices}'")
        if _takes_base(own):
            lines.append(f"{start} -a '(__fish_complete_directories)'")
    return _FISH + "".join(f"{line}\n" for line in lines)


def _fish_option(argument: Argument) -> str:
    flags = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in argument.flags)
    value = {"": " -f", "choice": f" -x -a '{argument.values}'", "text": " -x", "base": " -r", "file": " -r"}
    folders = " -x -a '(__fish_complete_directories)'"
    return f"{flags}{value.get(argument.kind, folders)} -d {shlex.quote(argument.help)}"


SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}
