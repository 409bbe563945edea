"""A click command whose arguments are a kubectl command. The flags of both may be in any order."""

from __future__ import annotations

from typing import Any

import click

from kubectl_spread.cli import options
from kubectl_spread.kubectl import grammar, parsing
from kubectl_spread.kubectl.parsing import StepError
from kubectl_spread.text.wording import nearest

# Flags that kubectl's commands have, and that mean the same here for all steps.
_SHARED = ("--namespace", "-n", "--output", "-o", "--help", "-h")


class StepCommand(options.SectionedCommand):
    """A command that separates its options from a step's words; after the verb, the step's flags come first."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own, step = self._sorted(list(args), ctx)
        files, step = self._files_of_a_named_step(step)
        return super().parse_args(ctx, [*own, *files, "--", *step])

    def _sorted(self, left: list[str], ctx: click.Context) -> tuple[list[str], list[str]]:
        own: list[str] = []
        step: list[str] = []
        while left:
            word = left.pop(0)
            if word == "--":  # after the verb, it also ends the step's own flags, as in `create job NAME -- COMMAND`
                step += left if _verb(step) is None else [word, *left]
                break
            if word == "-" or not word.startswith("-"):
                step.append(word)
                continue
            verb = _verb(step)
            taken = None if verb is None or self._is_shared(word) else parsing.count_flag_words(word, verb, left)
            if taken is not None:
                step += [word, *left[:taken]]
                del left[:taken]
                continue
            found = self._own(word)
            if found is None:
                raise click.UsageError(_unknown_verb(step) or self._unknown(word, verb), ctx)
            own.append(word)
            if found and left:
                own.append(left.pop(0))
        return own, step

    def _files_of_a_named_step(self, step: list[str]) -> tuple[list[str], list[str]]:
        """Take -f out of a step that names its objects: kubectl allows no file there, so it names our manifests."""
        verb, step = _verb(step), parsing.without_prefix(step)
        if verb is None or verb.flag("filename") is None:
            return [], step
        words = step[len(verb.name.split()) :]
        own: list[str] = []
        kept: list[str] = []
        has_names = False
        while words:
            word = words.pop(0)
            if word == "--":
                kept += [word, *words]
                break
            taken = parsing.count_flag_words(word, verb, words) if word.startswith("-") and word != "-" else None
            following = words[: taken or 0]
            del words[: taken or 0]
            if word[:2] in ("-f", "-k") or word.partition("=")[0] in ("--filename", "--kustomize"):
                own += [word, *following]
                continue
            has_names |= taken is None
            kept += [word, *following]
        return (own, [*step[: len(verb.name.split())], *kept]) if has_names else ([], step)

    def _is_shared(self, word: str) -> bool:
        if word.startswith("--"):
            return word.partition("=")[0] in _SHARED
        return word[:2] in _SHARED

    def _own(self, word: str) -> bool | None:
        """Return whether one of our options takes its value from the next word; None if it is not an option."""
        name, equals, _ = word.partition("=")
        options = self._options()
        if word.startswith("--"):
            found = options.get(name)
            return None if found is None else not (found.is_flag or equals or found.count)
        found = options.get(word[:2])
        if found is None:
            return None
        return not (found.is_flag or len(word) > 2)

    def _options(self) -> dict[str, Any]:
        params = [*self.params, self.get_help_option(click.get_current_context(silent=True) or click.Context(self))]
        return {
            name: param
            for param in params
            if isinstance(param, click.Option)
            for name in (*param.opts, *param.secondary_opts)
        }

    def _unknown(self, word: str, verb: grammar.Verb | None) -> str:
        name = word.partition("=")[0]
        known = list(self._options())
        if verb is not None:
            known += [f"--{flag.name}" for flag in verb.flags if flag.use is not grammar.Use.REFUSED]
        near = options.meant_flag(name, known) or nearest(name, known)
        of = f" of `{verb.name}`" if verb is not None else ""
        return f"unknown flag {name}{of}" + (f"; did you mean `{near}`?" if near else "")


def _unknown_verb(step: list[str]) -> str:
    """Return why the words are no step; empty if they are one, or may become one with the next word."""
    if not step or (step[0] in grammar.GROUPS and len(step) < 2) or step[0] == "run":
        return ""
    try:
        parsing.verb_of(step)
    except StepError as error:
        return str(error)
    return ""


def _verb(words: list[str]) -> grammar.Verb | None:
    """Return the verb of a step by its first words; None if it is incomplete or unknown."""
    try:
        return parsing.verb_of(words)
    except StepError:
        return None
