"""Checks of texts that are not files yet, such as the open documents of an editor; loads no numpy."""

from __future__ import annotations

import os
from typing import NamedTuple

from kubectl_spread.lint import pipeline
from kubectl_spread.lint.check_source import Result
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.selection import Config, LintPolicy
from kubectl_spread.sources.roots import root_rules
from kubectl_spread.text.source import SourceFile


class DocumentChecker(NamedTuple):
    """The rules and the configuration for a set of texts that belong together."""

    policy: LintPolicy
    config: Config

    def read(self, source: SourceFile) -> Result:
        """Return the objects of one text. A result can be kept until the text changes."""
        return pipeline.read(source, self.policy, self.config)

    def findings(self, results: list[Result]) -> list[Finding]:
        """Return the findings of all texts by place, without accepted findings."""
        sources = [result.source for result in results]
        unsaved = [source.name for source in sources if not os.path.isabs(source.name)]
        rules = root_rules(sources, self.config, texts=unsaved)
        return pipeline.findings_of(
            results, self.policy, accepted=pipeline.AcceptedItems(self.config.ignores), rules=rules
        ).findings
