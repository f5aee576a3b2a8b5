"""The parsers of commands, with the options that every command has."""

import argparse
import difflib
from collections.abc import Sequence
from typing import NoReturn

_PROGRAM = "program"
_SIMILAR = 0.7
"""Least similarity of two names, 0..1, at which one may be a mistyped form of the other."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are short, and whose help ends with the options of every command."""

    def format_help(self) -> str:
        """The help, with the group ``program`` at its end."""
        self._action_groups.sort(key=lambda group: group.title == _PROGRAM)
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Print an error and a hint, instead of the usage with all options. Ends the program with status 2."""
        unknown, _, options = message.partition("unrecognized arguments: ")
        if not unknown:
            message += self._hint(options.split()[0].partition("=")[0])
        self.exit(2, f"{self.prog}: {message}\n{self._entry(message)}'{self.prog} --help' explains its options\n")

    def _entry(self, message: str) -> str:
        """The lines of the help about an option without its value, because they say which values are possible. "" for other errors."""
        name, _, problem = message.removeprefix("argument ").partition(": ")
        option = self._option_string_actions.get(name.partition("/")[0])  # -o/--output
        if option is None or not problem.startswith("expected "):
            return ""
        formatter = self._get_formatter()
        formatter.start_section(None)  # indents the lines
        formatter.add_argument(option)
        formatter.end_section()
        return formatter.format_help()

    def _hint(self, wrong: str) -> str:
        """Name the option that the user probably meant: a longer or shorter form of the unknown one, or one with a similar name."""
        name = wrong.strip("-")
        names = [option[2:] for option in self._option_string_actions if option.startswith("--")]
        close = [each for each in names if each.startswith(name) or name.startswith(each)]
        close = close or difflib.get_close_matches(name, names, 1, _SIMILAR)
        return f"; did you mean --{close[0]}?" if close and name else ""


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"framefleet {version('framefleet')}")
        parser.exit()


def make_parser(
    command: str,
    description: str,
    arguments: str = "",
    examples: Sequence[str] = (),
    epilog: str = "",
    usage: str | None = None,
    json: str | None = None,
) -> argparse.ArgumentParser:
    """A parser for ``framefleet COMMAND``; ``main`` sets the log level.

    arguments: the positional ones, for the usage. examples: what stands after ``framefleet COMMAND``, one a line. epilog: text after
    the examples. json: help for ``--json``, None = the command does not have it.
    """
    name = f"framefleet {command}".strip()
    shown = "\n".join(f"  {name} {example}".rstrip() for example in examples)
    parser = Parser(
        prog=name,
        usage=usage or " ".join(filter(None, (name, arguments, "[OPTIONS]"))),
        description=description,
        epilog="\n\n".join(filter(None, (shown and f"examples:\n{shown}", epilog))),
        allow_abbrev=False,
        add_help=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    program = parser.add_argument_group(_PROGRAM)
    if json is not None:
        program.add_argument("--json", action="store_true", help=json)
    program.add_argument("-h", "--help", action="help", help="show this help")
    program.add_argument("--version", action=_Version, nargs=0, help="show the version")
    program.add_argument("--verbose", action="store_true", help="log what the program and its worker processes do, on standard error")
    program.add_argument("--debug", action="store_true", help="log more, and show where in the program an error arose")
    return parser
