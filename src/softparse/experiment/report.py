"""All results as one page that needs nothing else, and its tables in Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from ..corpus.conllu import read
from ..drawing import Bar, Curve, bars_svg, chart_svg, tree_svg
from .changes import Change, changes, changes_table, notable
from .comparisons import versus, versus_table
from .curves import curve, curves_table
from .examples import Example, examples
from .tables import Cell, Result, cells, sizes_table, table, titles

EXAMPLES = 4  # of each kind and setting
STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;color:#1b3a57;background:#fff}
table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .8rem;border-bottom:1px solid #b8c4cf;text-align:start}td{white-space:nowrap}
.pictures{display:flex;flex-wrap:wrap;gap:1rem;align-items:flex-start}
.scroll{overflow-x:auto}
figure{margin:0}figcaption{font-size:.85rem;color:#5a6b7a}
.good{color:#2166ac}.bad{color:#b2382a}
@media(prefers-color-scheme:dark){body{color:#dbe6f0;background:#161b22}figcaption{color:#9fb0bf}.good{color:#7db8e8}
.bad{color:#f4978a}}
"""


class Report:
    """Pages from results, with examples from the `dev` sentences of those settings whose data is at hand."""

    def __init__(self, results: Sequence[Result], dev: Mapping[str, Path] | None = None):
        self.results, self.dev = results, dev or {}
        self.found = cells(results)
        self.titles = titles(results)
        self.settings = list(dict.fromkeys(result["setting"] for result in results))

    def tables(self) -> list[tuple[str, list[Result]]]:
        """The results by table, in the order of their names."""
        names = sorted({result["table"] for result in self.results})
        return [(name, [result for result in self.results if result["table"] == name]) for name in names]

    def markdown(self) -> str:
        command = "softparse experiment report --markdown experiments/results/README.md"
        parts = ["# Results", f"Made by `{command}`. Means ± standard deviations over seeds (number of runs)."]
        parts += ["## Sizes", sizes_table(self.results)]
        for name, results in self.tables():
            parts += [f"## {name}", f"`softparse experiment run experiments/{name} --data DATA --jobs 2`"]
            for part in ("test", "dev"):
                if any(part in result["scores"] for result in results):
                    parts.append(table(results, part))
            if any(result["options"].get("against") for result in results):
                parts.append(versus_table(results))
            if len({result["options"]["trees"] for result in results}) > 1:
                parts.append(curves_table(results))
        for setting, row, twin in self.twins():
            before, after = self.found[twin, setting], self.found[row, setting]
            parts.append(f"## {setting}: {self.titles[row]} against {self.titles[twin]}")
            parts.append(changes_table(changes(before, after, "test", "distances"), "distance to the head"))
            parts.append(changes_table(notable(changes(before, after, "test", "labels")), "label"))
        parts += ["## Time", _times_table(self.results)]
        return "\n\n".join(filter(None, parts)) + "\n"

    def twins(self) -> Iterator[tuple[str, str, str]]:
        """Settings, rows with raw text, and the same without, where both have test scores."""
        for (row, setting), cell in self.found.items():
            against = cell.results[0]["options"].get("against", [])
            if (
                against
                and cell.values("test", "las")
                and self.found.get((against[0], setting), Cell()).values("test", "las")
            ):
                yield setting, row, against[0]

    def html(self) -> str:
        sections = [self._sizes(), *map(self._table, (name for name, _ in self.tables()))]
        sections += [self._twin(*twin) for twin in self.twins()]
        sections.append(f"<h2>Time</h2>\n{_html_table(_times_table(self.results))}")
        body = "\n".join(f"<section>\n{section}\n</section>" for section in sections if section)
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>softparse: results</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
            "<h1>What raw text is worth to a parser</h1>\n"
            "<p>Means ± standard deviations over seeds; the number of runs is in brackets. UAS and LAS count all "
            f"words, punctuation too; labels are universal.</p>\n{body}\n</body>\n</html>\n"
        )

    def _sizes(self) -> str:
        return f"<h2>Data</h2>\n{_html_table(sizes_table(self.results))}"

    def _table(self, name: str) -> str:
        results = [result for result in self.results if result["table"] == name]
        parts = [f"<h2>{escape(name)}</h2>"]
        for part in ("test", "dev"):
            if any(part in result["scores"] for result in results):
                parts.append(_html_table(table(results, part)))
        if any(result["options"].get("against") for result in results):
            parts.append(
                "<h3>Differences</h3>\n<p>Paired bootstrap over sentences on scores averaged over seeds, two-sided.</p>"
            )
            parts.append(_html_table(versus_table(results)))
            parts.append(self._gains(results))
        if len({result["options"]["trees"] for result in results}) > 1:
            parts.append(_html_table(curves_table(results)))
            parts.append(_pictures(self._learning_curve(results, setting) for setting in self.settings))
        return "\n".join(parts)

    def _gains(self, results: Sequence[Result]) -> str:
        """A bar for every comparison."""
        found = versus(results)
        pictures = []
        for setting in dict.fromkeys(each.setting for each in found):
            bars = [
                Bar(
                    f"{self.titles[each.row]} − {self.titles.get(each.against, each.against)}",
                    each.comparison.las.difference,
                    f"LAS, p = {each.comparison.las.p:.4f}",
                )
                for each in found
                if each.setting == setting
            ]
            pictures.append(bars_svg(setting, bars, "LAS on test"))
        return _pictures(pictures)

    def _learning_curve(self, results: Sequence[Result], setting: str) -> str:
        names = {False: "trees alone", True: "with raw text"}
        curves = [
            Curve(name, [(point.trees, point.mean, point.deviation) for point in curve(results, setting, raw)])
            for raw, name in names.items()
        ]
        if not any(each.points for each in curves):
            return ""
        return chart_svg(setting, curves, "trees", "LAS on test", log_x=True)

    def _twin(self, setting: str, row: str, twin: str) -> str:
        before, after = self.found[twin, setting], self.found[row, setting]
        distances = changes(before, after, "test", "distances")
        labels = notable(changes(before, after, "test", "labels"))
        pictures = [
            bars_svg("by distance to the head", _bars(distances), "F1"),
            bars_svg("by label", _bars(labels), "F1"),
            self._training(setting, (twin, row)),
        ]
        parts = [f"<h2>{escape(setting)}: {escape(self.titles[row])} against {escape(self.titles[twin])}</h2>"]
        parts.append(_pictures(pictures))
        parts += [
            _html_table(changes_table(distances, "distance to the head")),
            _html_table(changes_table(labels, "label")),
        ]
        parts.append(self._examples(setting, row, twin))
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
        parts = ["<h3>Examples from dev</h3>"]
        for title, kind, some in (("What it mended", "good", fixed), ("What it broke", "bad", broken)):
            parts.append(f'<h4 class="{kind}">{title}</h4>')
            parts += [_example(example) for example in some] or ["<p>Nothing.</p>"]
        return "\n".join(parts)


def _bars(found: Sequence[Change]) -> list[Bar]:
    return [
        Bar(change.name, change.gain(), f"{change.before.f1('with_head'):.1f} → {change.after.f1('with_head'):.1f}")
        for change in found
    ]


def _example(example: Example) -> str:
    figures = []
    for name, tree in (("gold", example.gold), ("trees alone", example.before), ("with raw text", example.after)):
        picture = tree_svg(tree.words, tree.heads, tree.labels)
        figures.append(f'<figure><figcaption>{name}</figcaption><div class="scroll">{picture}</div></figure>')
    return _pictures(figures)


def _pictures(pictures: Iterator[str] | Sequence[str]) -> str:
    return '<div class="pictures">\n' + "\n".join(picture for picture in pictures if picture) + "\n</div>"


def _times_table(results: Sequence[Result]) -> str:
    """In Markdown: what a run costs."""
    lines = [
        "| row | setting | minutes of training | sentences parsed a second | processor, threads |",
        "|---|---|---|---|---|",
    ]
    for (_, setting), cell in cells(results).items():
        first = cell.results[0]
        minutes = [result["seconds"]["training"] / 60 for result in cell.results]
        parsing = [
            result["sizes"][part][0] / result["seconds"][f"parsing {part}"]
            for result in cell.results
            for part in ("dev",)
            if result["seconds"].get(f"parsing {part}")
        ]
        speed = f"{statistics.mean(parsing):.0f}" if parsing else ""
        machine = f"{first['machine']['processor']}, {first['machine']['threads']}"
        title = first["title"] or first["row"]
        lines.append(f"| {title} | {setting} | {statistics.mean(minutes):.1f} | {speed} | {machine} |")
    return "\n".join(lines)


def _html_table(markdown: str) -> str:
    """A table of Markdown as one of HTML."""
    if not markdown:
        return ""
    heading, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in markdown.splitlines()]
    lines = [_html_row(heading, "th"), *(_html_row(cells, "td") for cells in rows)]
    return '<div class="scroll"><table>\n' + "\n".join(lines) + "\n</table></div>"


def _html_row(found: Sequence[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in found) + "</tr>"
