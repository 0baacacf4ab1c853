"""The page in a real browser, with mouse, keyboard and on a phone."""

import os
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from softparse.corpus.conllu import read
from tests.ext.serve import browser as browsers

keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
CSS = "css selector"
TEXT = "the dog sees a big cat. A child walks the parsers today."


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    profile = tmp_path_factory.mktemp("browser")
    (profile / "downloads").mkdir()
    browser = browsers.start(profile)
    browser.downloads = profile / "downloads"
    yield browser
    browser.quit()


class Page:
    """What a person sees and does."""

    def __init__(self, browser, address):
        self.browser = browser
        browsers.resize(browser, 1280, 900)
        browser.get(address)
        self.until(lambda: self.text("#model") == "small")

    def all(self, selector):
        return self.browser.find_elements(CSS, selector)

    def one(self, selector):
        return self.browser.find_element(CSS, selector)

    def text(self, selector):
        return self.one(selector).text

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def until(self, condition, seconds=20):
        for _ in range(seconds * 20):
            if condition():
                return
            time.sleep(0.05)
        raise AssertionError(f"waited in vain; error on the page: {self.text('#error')!r}")

    def parse(self, text):
        """Paste a text and wait for all of its pictures."""
        self.run("document.querySelector('#samples').replaceChildren()")
        self.run("document.querySelector('#pasted').value = arguments[0]", text)
        self.one("#input button").click()
        self.until(lambda: self.all("#samples svg"))

    def arcs(self):
        """Heads by word, as they are drawn."""
        pairs = self.run(
            "return [...document.querySelectorAll('#tree [data-head]')].map(a => [a.dataset.word, a.dataset.head])"
        )
        return {int(word): int(head) for word, head in pairs}

    def press(self, *typed):
        self.browser.switch_to.active_element.send_keys(*typed)

    def shot(self, name):
        """Keep a picture of the whole page, for people who set SOFTPARSE_SCREENSHOTS to a folder."""
        folder = os.environ.get("SOFTPARSE_SCREENSHOTS")
        if folder:
            width, height = self.run("return [innerWidth, document.documentElement.scrollHeight]")
            browsers.resize(self.browser, width, height, width < 600)
            self.browser.save_screenshot(str(Path(folder) / f"{name}.png"))


@pytest.fixture
def page(browser, server):
    browser.get_log("browser")
    page = Page(browser, server.address)
    yield page
    page.shot("last")
    severe = [
        entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE" and "422" not in entry["message"]
    ]
    assert severe == []


FREE = {1: 2, 2: 3, 3: 0, 4: 6, 5: 6, 6: 3, 7: 3}


def test_a_paragraph(page, server):
    page.parse(TEXT)
    page.shot("desktop")
    assert page.arcs() == FREE
    assert [button.text for button in page.all("#sentences button")] == [
        "the dog sees a big cat.", "A child walks the parsers today.",
    ]  # fmt: skip
    assert len(page.all("#trees svg")) == 5
    assert len(page.all("#heat .cell")) >= 7
    assert "%" in page.text("#probability")
    page.all("#sentences button")[1].click()
    page.until(lambda: "child" in page.text("#tree"))
    fetched = page.run("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert fetched
    assert all(name.startswith(server.address) for name in fetched)


def test_a_table_for_screen_readers(page):
    page.parse("the dog sees a big cat.")
    page.one("#table-details summary").click()
    rows = [row.text.split() for row in page.all("#table tr")]
    assert rows[0] == ["word", "head", "label", "probability"]
    assert rows[2][:5] == ["2", "dog", "3", "sees", "nsubj"]
    assert page.one("#tree svg").get_attribute("aria-label") == "the dog sees a big cat ."
    assert page.one("#status").get_attribute("role") == "status"
    unnamed = page.run(
        "return [...document.querySelectorAll('button, select, textarea, input')].filter(e => e.offsetParent"
        " && !e.textContent.trim() && !e.labels?.length && !e.ariaLabel).map(e => e.outerHTML)"
    )
    assert unnamed == []


def test_requiring_and_forbidding_with_the_mouse(page):
    page.parse("the dog sees a big cat.")
    page.one("#tree .word[data-word='7']").click()
    assert page.text("#heads-word") == ". (7)"
    page.run("document.querySelector('#other-head').value = '6'")
    page.one("#heads [data-kind=require]").click()
    page.until(lambda: page.arcs()[7] == 6)
    assert page.all("#tree .required[data-word='7']")
    assert "the head of . (7) must be cat (6)" in page.text("#constraints")
    page.shot("constraint")
    # An arc can be clicked beside its line, where its finger-wide area is.
    page.run("document.querySelector('#tree [data-head=\"6\"][data-word=\"5\"] .hit')"
             ".dispatchEvent(new MouseEvent('click', {bubbles: true}))")  # fmt: skip
    page.one("#candidates li[data-head='6'] button:nth-of-type(2)").click()
    page.until(lambda: page.arcs()[5] != 6)
    assert page.arcs()[7] == 6
    page.one("#free").click()
    page.until(lambda: page.arcs() == FREE)
    assert not page.one("#constraints").is_displayed()


def test_what_cannot_be_is_said_and_taken_back(page):
    page.parse("the dog sees a big cat.")
    for word in (1, 2):
        page.one(f"#tree .word[data-word='{word}']").click()
        page.run("document.querySelector('#other-head').value = '0'")
        page.one("#heads [data-kind=require]").click()
        page.until(lambda: not page.text("#status").startswith("Parsing"))
        if word == 1:
            page.until(lambda: page.arcs()[1] == 0)
    page.until(lambda: "no single-rooted projective tree" in page.text("#error"))
    assert len(page.all("#constraints li")) == 1
    page.parse("a child walks.")
    assert not page.one("#error").is_displayed()


def test_two_choices_at_once_of_which_one_cannot_be(page):
    """The second is made before the first is answered; neither stays, and others can be made."""
    page.parse("the dog sees a big cat.")
    page.run("""
        const require = (word, head) => {
            const button = document.querySelector(`#tree .word[data-word="${word}"]`);
            button.dispatchEvent(new Event("click", {bubbles: true}));
            document.querySelector("#other-head").value = head;
            document.querySelector("#heads [data-kind=require]").click();
        };
        require(1, 0); require(2, 0); require(4, 5);
    """)
    page.until(lambda: "no single-rooted projective tree" in page.text("#error"))
    page.one("#tree .word[data-word='4']").click()
    page.run("document.querySelector('#other-head').value = '5'")
    page.one("#heads [data-kind=require]").click()
    page.until(lambda: page.arcs()[4] == 5)
    assert len(page.all("#constraints li")) == 1


def test_a_choice_is_about_the_sentence_that_is_seen(page):
    """Another sentence has been asked for, but its tree is not here yet, or never comes."""
    page.parse(TEXT)
    page.run("window.theirs = window.fetch; window.fetch = () => Promise.reject()")
    page.all("#sentences button")[1].click()
    page.until(lambda: "does not answer" in page.text("#error"))
    page.run("window.fetch = window.theirs")
    assert page.arcs() == FREE
    page.one("#tree .word[data-word='7']").click()
    page.run("document.querySelector('#other-head').value = '6'")
    page.one("#heads [data-kind=require]").click()
    page.until(lambda: page.arcs()[7] == 6)
    page.all("#sentences button")[1].click()
    page.until(lambda: "child" in page.text("#tree"))
    assert not page.all("#constraints li")


def test_with_the_keyboard_alone(page):
    page.one("#pasted").send_keys("the dog sees a big cat.", keys.CONTROL, keys.ENTER)
    page.until(lambda: page.all("#samples svg"))
    page.one("#input button").send_keys(keys.TAB)
    stops = page.run("return document.querySelectorAll('#tree [tabindex=\"0\"]').length")
    assert stops == 1  # one stop of the Tab key, however long the sentence
    assert page.run("return document.activeElement.closest('#tree')?.id") == "tree"
    page.press(keys.END)
    page.press(keys.ARROW_LEFT)
    assert page.run("return document.activeElement.dataset.word") == "6"
    page.press(keys.ARROW_UP)
    assert page.run("return document.activeElement.dataset.head") == "3"
    page.press(keys.ENTER)
    assert page.run("return document.querySelector('#heads').open")
    assert page.run("return document.activeElement.textContent") == "Require"
    page.press(keys.ESCAPE)
    assert not page.run("return document.querySelector('#heads').open")
    page.press(keys.ENTER)
    page.press(keys.TAB)
    assert page.run("return document.activeElement.ariaLabel") == "Forbid sees (3)"
    page.press(keys.ENTER)
    page.until(lambda: page.arcs()[6] != 3)
    assert page.run("return document.activeElement.dataset.word") == "6"  # where we were


def test_the_slider_and_the_draw_button(page):
    page.parse("the dog sees a big cat.")

    def slide(value):
        before = page.run("return document.querySelector('#relaxed').innerHTML")
        page.run("const s = document.querySelector('#temperature'); s.value = arguments[0];"
                 "s.dispatchEvent(new Event('input'))", value)  # fmt: skip
        page.until(lambda: page.run("return document.querySelector('#relaxed').innerHTML") != before)
        return len(page.all("#relaxed g"))

    soft, hard = slide(0.7), slide(-1.7)
    assert soft > hard == 7
    assert page.text("#temperature-shown") == "0.02"
    drawn = page.run("return document.querySelector('#samples').innerHTML")
    slide(0.7)
    assert page.run("return document.querySelector('#samples').innerHTML") == drawn  # the same draw, softer
    before = page.run("return document.querySelector('#relaxed').innerHTML")
    page.one("#draw").click()
    page.until(lambda: page.run("return document.querySelector('#relaxed').innerHTML") != before)


def test_downloads(page, browser):
    page.parse(TEXT)

    def saved(button, name):
        page.one(button).click()
        page.until(lambda: (browser.downloads / name).exists())
        return browser.downloads / name

    (sentence,) = read(saved("[data-download=conllu]", "tree.conllu"))
    assert sentence.heads == list(FREE.values())
    assert ElementTree.parse(saved("[data-download=svg]", "tree.svg")).getroot().get("class") == "softparse-tree"
    assert r"\usepackage{tikz-dependency}" in saved("[data-download=latex]", "tree.tex").read_text(encoding="utf-8")
    assert [len(sentence) for sentence in read(saved("#download-all", "trees.conllu"))] == [7, 7]


def test_a_long_text_is_saved_in_parts(page, browser):
    for file in browser.downloads.iterdir():
        file.unlink()
    page.parse("The dog sees a big cat. " * 2000)
    page.one("#download-all").click()
    page.until(lambda: (browser.downloads / "trees.conllu").exists(), 60)
    saved = list(read(browser.downloads / "trees.conllu"))
    assert [sentence.sent_id for sentence in saved] == [str(number) for number in range(1, 2001)]
    sent = page.run("return performance.getEntriesByType('resource').filter(e => e.name.endsWith('/parse')).length")
    assert 2 <= sent <= 10


def test_conllu_and_markup_are_text(page):
    rest = "\t_" * 8
    page.parse(f"# sent_id = <i>1</i>\n1\t<img src=x onerror=alert(1)>{rest}\n2\t&amp;{rest}\n\n")
    assert page.text("#tree .word").strip() == "<img src=x onerror=alert(1)>"
    assert page.all("main img") == []


def test_nothing_to_parse(page):
    page.run("document.querySelector('#pasted').value = ' '")
    page.one("#input button").click()
    page.until(lambda: page.text("#error") == "There is no sentence in it.")


def test_on_a_phone(page):
    browsers.resize(page.browser, 375, 740, is_phone=True)
    page.parse(TEXT + " " + " and ".join(["the quiet teacher finds every green river"] * 4) + ".")
    page.all("#sentences button")[-1].click()
    page.until(lambda: len(page.all("#tree .word")) > 20)
    assert page.run("return document.documentElement.scrollWidth") <= 375  # only pictures scroll sideways
    small = page.run(
        "return [...document.querySelectorAll('main button')].filter(b => b.offsetParent && b.offsetHeight < 38).length"
    )
    assert small == 0  # all are large enough for a finger
    page.one("#tree .word").click()
    assert page.run(
        "const d = document.querySelector('#heads').getBoundingClientRect(); return d.left >= 0 && d.right <= 375"
    )
    page.shot("phone-dialog")
    page.one("#heads [type=submit]").click()
    page.shot("phone")


def test_scripts_from_the_right(page):
    page.parse("يدرس الطلاب اللغة العربية في الجامعة.")
    page.shot("arabic")
    lefts = page.run(
        "return [...document.querySelectorAll('#tree .word text')].map(t => t.getBoundingClientRect().left)"
    )
    assert lefts == sorted(lefts, reverse=True)
    for place in ("#relaxed", "#heat"):
        lefts = page.run(
            "return [...document.querySelectorAll(arguments[0] + ' text')]"
            ".map(t => [t.textContent, t.getBoundingClientRect().left])",
            place,
        )
        by_word = dict(lefts)  # in the heat map, the names of columns come last
        assert by_word["يدرس"] > by_word["الجامعة"]
    page.run("document.querySelector('#tree .word').focus()")
    page.press(keys.ARROW_LEFT)
    assert page.run("return document.activeElement.dataset.word") == "2"
