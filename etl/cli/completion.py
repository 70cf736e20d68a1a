"""``python -m jobs completion``: a script that completes commands, stages and options in bash or zsh."""

from etl.cli.options import PROGRAM, words

_BASH = """\
# Completion of {program}: source <({program} completion bash)
_edos_lakehouse() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" options
  case "$before" in
    --to|--from|--only) COMPREPLY=($(compgen -W "{stages}" -- "$word")); return ;;
    --profile) COMPREPLY=($(compgen -W "{profiles}" -- "$word")); return ;;
    --config|--save) COMPREPLY=($(compgen -f -- "$word")); return ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{names}" -- "$word")); return
  fi
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$options" -- "$word"))
}}
complete -F _edos_lakehouse {program}
"""


def script(shell: str) -> str:
    """Return the script for ``bash`` or ``zsh``; zsh reads bash's."""
    from conf.settings import PROFILES
    from etl.cli.options import COMMANDS

    options = words()
    stages = [name for name in options if name not in COMMANDS]
    cases = {name: " ".join(own) for name, own in options.items() if name in COMMANDS}
    lines = [f'    {name}) options="{own}" ;;' for name, own in cases.items()]
    lines.append(f'    *) options="{" ".join(options[stages[0]])}" ;;')
    text = _BASH.format(
        program=PROGRAM,
        stages=" ".join(stages),
        profiles=" ".join(PROFILES),
        names=" ".join(options),
        cases="\n".join(lines),
    )
    return text if shell == "bash" else f"autoload -U +X bashcompinit && bashcompinit\n{text}"
