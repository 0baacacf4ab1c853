"""All results as one page that needs nothing else."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from xml.etree import ElementTree

from ..corpus.conllu import read
from ..drawing import Bar, Curve, Dot, bars_svg, chart_svg, dots_svg, tree_svg
from ..drawing.chart import COLOURS
from .changes import Change, are_about_roots, changes, changes_table, notable, roots_table
from .comparisons import CAVEAT, Versus, versus, versus_table
from .curves import curve, curves_table
from .examples import Example, examples, wrong
from .findings import Findings, heading, is_compared, is_curve, parts_of
from .results import Result
from .tables import MARK, Cell, note, sizes_table, table
from .times import times_table, total_time

EXAMPLES = 4  # of each kind and setting
SMALLEST = 0.7  # trees are drawn as small as that to stand side by side
GROUPS = ("trees alone", "with raw text", "peers")
STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 sans-serif;max-width:84rem;margin:2rem auto;padding:0 1rem;color:#1b3a57;background:#fff}
table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .5rem;border-bottom:1px solid #b8c4cf;text-align:start}td{white-space:nowrap}
.pictures{display:flex;flex-wrap:wrap;gap:1rem;align-items:flex-start}
.scroll{overflow-x:auto}.pictures svg{max-width:100%;height:auto}
summary{cursor:pointer;font-size:1.25rem;font-weight:600;margin:1rem 0}
figure{margin:0;flex-grow:1}figcaption{font-size:.85rem;color:#5a6b7a}
.good{color:#2166ac}.bad{color:#b2382a}
@media(prefers-color-scheme:dark){body{color:#dbe6f0;background:#161b22}figcaption{color:#9fb0bf}.good{color:#7db8e8}
.bad{color:#f4978a}}
"""


class Report:
    """The page of the findings, with examples from the `dev` sentences of those settings whose data is at hand."""

    def __init__(self, findings: Findings, dev: Mapping[str, Path] | None = None):
        self.findings, self.dev = findings, dev or {}
        self.found, self.titles = findings.found, findings.titles

    def html(self) -> str:
        tables = self.findings.tables()
        sections = [f'<h2 id="data">Data</h2>\n{_html_table(sizes_table(self.findings.results))}']
        sections += [self._table(name, results) for name, results in tables]
        pairs = list(self.findings.twins())
        # One is open: of the preset that a reader would use.
        first = next((twin for twin in pairs if self._preset(*twin[:2]) == "default"), pairs[0] if pairs else None)
        twins = [self._twin(*twin, is_open=twin == first) for twin in pairs]
        if twins:
            sections += ['<h2 id="changes">What raw text changes</h2>', *twins]
        times = f"<p>{escape(total_time(self.findings.results))}</p>\n{_html_table(times_table(self.findings.results))}"
        sections.append(f'<h2 id="time">Time</h2>\n{times}')
        body = "\n".join(f"<section>\n{section}\n</section>" for section in sections)
        contents = {"data": "Data"} | {name: heading(name) for name, _ in tables}
        contents |= ({"changes": "What raw text changes"} if twins else {}) | {"time": "Time"}
        links = " · ".join(f'<a href="#{escape(name)}">{escape(title)}</a>' for name, title in contents.items())
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>softparse: results</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
            "<h1>What raw text is worth to a parser</h1>\n"
            "<p>Means ± standard deviations over seeds; the number of runs is in brackets. UAS and LAS count all "
            f"words, punctuation too; labels are universal.</p>\n<nav>{links}</nav>\n{body}\n</body>\n</html>\n"
        )

    def _table(self, name: str, results: Sequence[Result]) -> str:
        settings = list(dict.fromkeys(result["setting"] for result in results))
        parts = [f'<h2 id="{escape(name)}">{escape(heading(name))}</h2>']
        if is_curve(results):
            parts.append(_pictures(_learning_curve(results, setting) for setting in settings))
            parts.append(_html_table(curves_table(results)))
        else:
            parts.append(_legend())
            parts.append(_pictures(self._dots(results, setting) for setting in settings))
        parts += [_html_table(table(results, part)) for part in parts_of(results)]
        parts.append(f"<p>{escape(note(results))}</p>" if note(results) else "")
        if is_compared(results):
            parts.append(f"<h3>Differences</h3>\n<p>{escape(CAVEAT)}</p>")
            parts.append(self._gains(results))
            parts.append(_html_table(versus_table(results, parts_of(results)[0])))
        if are_about_roots(results):
            parts.append(f"<h3>Roots</h3>\n{_html_table(roots_table(results, parts_of(results)[0]))}")
        return "\n".join(filter(None, parts))

    def _dots(self, results: Sequence[Result], setting: str) -> str:
        """The rows of a table in a setting on one axis."""
        part = parts_of(results)[0]
        dots = []
        for row in dict.fromkeys(result["row"] for result in results):
            cell = self.found.get((row, setting), Cell())
            values = cell.values(part, "las")
            if values:
                options = cell.results[0]["options"]
                deviation = statistics.stdev(values) if len(values) > 1 else 0.0
                group = 2 if options["peer"] else int(options["raw"])
                title = f"{self.titles[row]} {MARK}" if cell.is_earlier else self.titles[row]
                dots.append(Dot(title, statistics.mean(values), deviation, group))
        return dots_svg(setting, dots, f"LAS on {part}") if dots else ""

    def _gains(self, results: Sequence[Result]) -> str:
        """A bar for every comparison, with the 95 % interval of the bootstrap."""
        part = parts_of(results)[0]
        found = versus(results, part)
        pictures = []
        for setting in dict.fromkeys(each.setting for each in found):
            bars = [self._gain(each) for each in found if each.setting == setting]
            pictures.append(bars_svg(setting, bars, f"LAS on {part}"))
        return _pictures(pictures) + (
            "\n<p>Lines are 95 % intervals: of other sentences, and of other runs too where both rows have several.</p>"
        )

    def _gain(self, each: Versus) -> Bar:
        las = (each.over_runs or each.comparison).las
        name = f"{self.titles[each.row]} − {self.titles.get(each.against, each.against)}"
        note = f"LAS {las.difference:+.2f}, between {las.low:+.2f} and {las.high:+.2f}; p: {las.shown_p}"
        return Bar(name, las.difference, note, (las.low, las.high))

    def _preset(self, setting: str, row: str) -> str:
        return self.found[row, setting].results[0]["options"].get("preset", "")

    def _twin(self, setting: str, row: str, twin: str, is_open: bool) -> str:
        before, after = self.found[twin, setting], self.found[row, setting]
        distances = changes(before, after, "test", "distances")
        labels = notable(changes(before, after, "test", "labels"))
        pictures = [
            bars_svg("by distance to the head", _bars(distances), "F1"),
            bars_svg("by label", _bars(labels), "F1"),
            self._training(setting, (twin, row)),
        ]
        title = f"{setting}: {self.titles[row]} against {self.titles[twin]}"
        parts = [f"<details{' open' if is_open else ''}>\n<summary>{escape(title)}</summary>", _pictures(pictures)]
        parts += [
            _html_table(changes_table(distances, "distance to the head")),
            _html_table(changes_table(labels, "label")),
        ]
        parts += [self._examples(setting, row, twin), "</details>"]
        return "\n".join(part for part in parts if part)

    def _training(self, setting: str, rows: Sequence[str]) -> str:
        """LAS on dev over the epochs."""
        curves = []
        for row in rows:
            by_epoch: dict[int, list[float]] = {}
            for result in self.found[row, setting].results:
                for entry in result.get("history", []):
                    if "dev" in entry:
                        by_epoch.setdefault(entry["epoch"], []).append(entry["dev"]["las"])
            points = [
                (float(epoch), statistics.mean(values), statistics.stdev(values) if len(values) > 1 else 0.0)
                for epoch, values in sorted(by_epoch.items())
            ]
            late = points[len(points) // 6 :]  # the first ones would press everything else into a corner
            curves.append(Curve(self.titles[row], late))
        return chart_svg("training", curves, "epoch", "LAS on dev") if any(each.points for each in curves) else ""

    def _examples(self, setting: str, row: str, twin: str) -> str:
        """Trees of the first runs side by side. Of dev: nobody should look at test."""
        before, after = (self.found[name, setting].parses() for name in (twin, row))
        if setting not in self.dev or not before or not after:
            return ""
        fixed, broken = examples(read(self.dev[setting], "conllu"), before, after, EXAMPLES)
        parts = ["<h3>Examples from dev</h3>", "<p>Red, dashed arcs are wrong, in head or label.</p>"]
        for title, kind, some in (("What it mended", "good", fixed), ("What it broke", "bad", broken)):
            parts.append(f'<h4 class="{kind}">{title}</h4>')
            parts += [self._example(example, twin, row) for example in some] or ["<p>Nothing.</p>"]
        return "\n".join(parts)

    def _example(self, example: Example, twin: str, row: str) -> str:
        figures = []
        for name, tree in (
            (self.titles[twin], example.before),
            (self.titles[row], example.after),
            ("gold", example.gold),
        ):
            picture = tree_svg(tree.words, tree.heads, tree.labels, wrong=wrong(example.gold, tree))
            figures.append(
                f'<figure style="flex-basis:{SMALLEST * _width(picture):.0f}px"><figcaption>{escape(name)}</figcaption>'
                f'<div class="scroll">{picture}</div></figure>'
            )
        return _pictures(figures)


def _learning_curve(results: Sequence[Result], setting: str) -> str:
    names = {False: "trees alone", True: "with raw text"}
    curves = [
        Curve(name, [(point.trees, point.mean, point.deviation) for point in curve(results, setting, raw)])
        for raw, name in names.items()
    ]
    if not any(each.points for each in curves):
        return ""
    return chart_svg(setting, curves, "trees", "LAS on test", log_x=True)


def _legend() -> str:
    groups = (f'<span style="color:{COLOURS[place]}">●</span> {name}' for place, name in enumerate(GROUPS))
    return f"<p>{' '.join(groups)}; whiskers are one standard deviation over seeds.</p>"


def _bars(found: Sequence[Change]) -> list[Bar]:
    return [
        Bar(change.name, change.gain(), f"{change.before.f1('with_head'):.1f} → {change.after.f1('with_head'):.1f}")
        for change in found
    ]


def _width(svg: str) -> float:
    """Of a picture, in pixels."""
    return float(ElementTree.fromstring(svg).get("width", "0"))


def _pictures(pictures: Iterable[str]) -> str:
    return '<div class="pictures">\n' + "\n".join(picture for picture in pictures if picture) + "\n</div>"


def _html_table(markdown: str) -> str:
    """A table of Markdown as one of HTML."""
    if not markdown:
        return ""
    heading, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in markdown.splitlines()]
    lines = [_html_row(heading, "th"), *(_html_row(cells, "td") for cells in rows)]
    return '<div class="scroll"><table>\n' + "\n".join(lines) + "\n</table></div>"


def _html_row(found: Sequence[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in found) + "</tr>"
