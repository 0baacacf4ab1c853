"""What requests and answers look like; the OpenAPI description is made from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, model_validator

from .limits import MOST_CONSTRAINTS, MOST_SAMPLES, MOST_SENTENCES, MOST_TREES, MOST_WORDS

SOURCES = ("text", "tokens", "conllu")


def _encodable(text: str) -> str:
    """JSON can name halves of characters, which no encoding has a place for."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(text[error.start]):04x}"
        raise ValueError(f"the character {half} at position {error.start} is half of one") from None
    return text


def _token(token: str) -> str:
    if not token.strip() or any(letter in token for letter in "\t\n\r"):
        raise ValueError("a token must have a letter in it and neither tabs nor ends of lines")
    return token


Text = Annotated[str, AfterValidator(_encodable)]
Token = Annotated[Text, AfterValidator(_token), Field(min_length=1, pattern=r"^[^\t\n\r]*$")]
# One error is told, so the first one is enough; a million of them would keep everybody waiting.
Tokens = Annotated[list[Token], FailFast(), Field(max_length=MOST_WORDS)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Arc(Strict):
    """A head that a word must have or must not have."""

    word: int = Field(ge=1, le=100_000, description="Number of the word, from 1.")
    head: int = Field(ge=0, le=100_000, description="Number of its head; 0 is the root.")
    kind: Literal["require", "forbid"] = "require"


class ArcOfSentence(Arc):
    sentence: int = Field(1, ge=1, le=1_000_000, description="Number of the sentence in the request, from 1.")


class Source(Strict):
    """Exactly one of `text`, `tokens` and `conllu`."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [name]} for name in SOURCES]})

    @model_validator(mode="before")
    @classmethod
    def _one_source(cls, values: Any) -> Any:
        if isinstance(values, dict):
            given = [name for name in SOURCES if name in values]
            if len(given) != 1:
                what = f"not {' and '.join(given)} together" if given else "but none of them is here"
                raise ValueError(f"give exactly one of {', '.join(SOURCES)}, {what}")
        return values

    @property
    def source(self) -> str:
        return next(name for name in SOURCES if name in self.model_fields_set)


class ParseRequest(Source):
    """Sentences to parse."""

    text: Text = Field("", description="Running text; it is cut into sentences and words.")
    tokens: Annotated[list[Tokens], FailFast()] = Field(
        [], max_length=MOST_SENTENCES, description="Sentences as lists of words."
    )
    conllu: Text = Field("", description="CoNLL-U; everything but HEAD and DEPREL stays as it is.")
    confidence: bool = Field(False, description="Add the probability of every arc and of the tree.")
    kbest: int = Field(
        1, ge=1, le=MOST_TREES, description="How many trees of each sentence: the parse, then the most probable others."
    )
    complete: bool = Field(False, description="Keep the heads that the CoNLL-U has.")
    constraints: Annotated[list[ArcOfSentence], FailFast()] = Field([], max_length=MOST_CONSTRAINTS)


class SentenceRequest(Source):
    """One sentence, with what is asked of its tree."""

    text: Text = Field("", description="One sentence; it is cut into words.")
    tokens: Tokens = Field([], description="Its words.")
    conllu: Text = Field("", description="One sentence of CoNLL-U.")
    constraints: Annotated[list[Arc], FailFast()] = Field([], max_length=MOST_CONSTRAINTS)


class ExploreRequest(SentenceRequest):
    """A sentence to look at closely."""

    kbest: int = Field(5, ge=1, le=MOST_TREES, description="How many trees to show.")


class DrawRequest(SentenceRequest):
    """A sentence to draw trees for at random."""

    temperature: float = Field(1.0, ge=0.01, le=10.0, allow_inf_nan=False, description="Of the relaxed tree.")
    seed: int = Field(1, ge=0, le=2**31 - 1, description="The same seed gives the same noise at every temperature.")
    samples: int = Field(3, ge=1, le=MOST_SAMPLES, description="Exact samples beside it.")


class PastedRequest(Strict):
    """What a person has pasted."""

    pasted: Text = Field(description="Running text or CoNLL-U, which is found out.")


class Tree(BaseModel):
    heads: list[int] = Field(description="Heads of the words, 0 is the root.")
    labels: list[str]
    probabilities: list[float] | None = Field(None, description="Of the arcs, among all trees of the sentence.")
    label_probabilities: list[float] | None = Field(None, description="Of the labels, given the arcs.")
    probability: float | None = Field(None, description="Of the whole tree.")


class ParsedSentence(Tree):
    sent_id: str | None = None
    words: list[str]
    others: list[Tree] | None = Field(None, description="The most probable other trees, if asked for.")


class ParseAnswer(BaseModel):
    sentences: list[ParsedSentence]


class CutSentence(BaseModel):
    conllu: str
    text: str
    direction: Literal["ltr", "rtl"]


class CutAnswer(BaseModel):
    sentences: list[CutSentence]


class Candidate(BaseModel):
    head: int
    form: str = Field(description="The word; of a very long one the beginning.")
    probability: float


class Picture(BaseModel):
    picture: str = Field(description="SVG.")
    probability: float


class ExploreAnswer(BaseModel):
    words: list[str]
    direction: Literal["ltr", "rtl"]
    probability: float = Field(description="Of the best tree.")
    tree: str = Field(description="SVG whose arcs and words are buttons.")
    table: str = Field(description="The heads as a table in HTML.")
    heat: str = Field(description="SVG of the marginal probabilities of all arcs.")
    kbest: list[Picture]
    candidates: list[list[Candidate]] = Field(description="The likeliest heads of every word.")
    conllu: str
    svg: str
    latex: str


class DrawAnswer(BaseModel):
    relaxed: str = Field(description="SVG of the relaxed tree of the perturbed weights.")
    hard: str = Field(description="SVG of the tree that it becomes as the temperature goes to 0.")
    samples: list[Picture] = Field(description="Exact samples of the distribution.")


class Health(BaseModel):
    status: Literal["ok"]
    requests: int = Field(description="Being answered now, this one included.")


class Info(BaseModel):
    model: str
    softparse: str
    labels: list[str]
    words: int = Field(description="In the vocabulary.")
    parameters: int
    decoding: dict[str, bool | str]
    dev: dict[str, float] = Field(description="Scores on development data, if it was evaluated.")
    limits: dict[str, float]


class Problem(BaseModel):
    error: str
