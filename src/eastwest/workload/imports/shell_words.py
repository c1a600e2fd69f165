"""Words of a pasted launch script: quotes, comments, line continuations, variables and arrays of the same file, nothing
executed.

Understood: `NAME=value`, `export NAME=value`, `NAME=( … )`, `NAME+=( … )`, `$NAME`, `${NAME}`, `${NAME:-default}`,
`${NAME[@]}`, `$((A * B))`. Not understood, and left as written: command substitution, positional parameters, conditions
(of two assignments the later one counts).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_ASSIGNMENT = re.compile(r"^(?P<name>[A-Za-z_]\w*)(?P<more>\+?)=", re.ASCII)
_VARIABLE = re.compile(
    r"\$\(\((?P<sum>[^()]*)\)\)|\$\{(?P<braced>\w+)(?:\[[@*]\])?(?::?-(?P<fallback>[^{}]*))?\}|\$(?P<plain>[A-Za-z_]\w*)"
)
_SUM = re.compile(r"^[\d\s+*/%()-]+$")
_SUM_TOKEN = re.compile(r"\d+|[+*/%-]")
_SEPARATORS = ";&|"
MAX_TEXT_CHARACTERS = 2_000_000  # a launch script has a few thousand
MAX_EXPANDED_CHARACTERS = 200_000  # a variable that doubles itself must not fill the memory
MAX_WORDS = 20_000  # of all commands, and of one array: the same for arrays; a script has a few hundred
MAX_SUM_DIGITS = 18  # of a number in a sum; the shell's own stop at 2**63


@dataclass(frozen=True, slots=True)
class Word:
    """One word: its text, the line from 1 that it begins on, and whether quotes kept it in one piece."""

    text: str
    line: int
    quoted: bool = False
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """One command with its variables put in."""

    words: tuple[Word, ...]


def clean(text: str) -> str:
    """The text with LF line ends and without colour codes, cut at a size that no script reaches."""
    return _COLOUR.sub("", text[:MAX_TEXT_CHARACTERS].replace("\r\n", "\n").replace("\r", "\n"))


def statements(text: str) -> Iterator[list[Word]]:
    """Words of each command, arrays kept as `NAME=(`, elements, `)`; variables not yet put in."""
    reader = _Reader(clean(text))
    yield from reader.statements()


class _Reader:
    """Position in the text; a class because a lexer has a state that moves."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.line = text, 0, 1

    def statements(self) -> Iterator[list[Word]]:
        words: list[Word] = []
        in_array = False
        while self.at < len(self.text):
            letter = self.text[self.at]
            if letter == "\n" or letter in _SEPARATORS:
                self._step()
                if words and not in_array:
                    yield words
                    words = []
            elif letter in " \t" or self.text.startswith("\\\n", self.at):
                self._step(2 if letter == "\\" else 1)
            elif letter == "#":
                self._skip_comment()
            elif letter in "()":
                self._step()
                in_array = letter == "(" if not in_array else letter != ")"
                words.append(Word(letter, self.line))
            else:
                words.append(self._word())
        if words:
            yield words

    def _step(self, n: int = 1) -> None:
        self.line += self.text.count("\n", self.at, self.at + n)
        self.at += n

    def _skip_comment(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def _word(self) -> Word:
        line, pieces, quoted, literal = self.line, [], False, False
        while self.at < len(self.text) and self.text[self.at] not in " \t\n;&|)":
            letter = self.text[self.at]
            if letter in "'\"":
                pieces.append(self._quoted(letter))
                quoted, literal = True, literal or letter == "'"
            elif letter == "\\":
                if self.text.startswith("\\\n", self.at):
                    break
                pieces.append(self.text[self.at + 1 : self.at + 2])
                self._step(2)
            elif letter == "$" and self.text.startswith(("$(", "${"), self.at):
                pieces.append(self._bracketed())
            elif letter == "(":
                break
            else:
                pieces.append(letter)
                self._step()
        return Word("".join(pieces), line, quoted, literal)

    def _quoted(self, mark: str) -> str:
        start = self.at + 1
        end = start
        while end < len(self.text) and self.text[end] != mark:
            end += 2 if mark == '"' and self.text[end] == "\\" else 1
        inner = self.text[start : min(end, len(self.text))]
        self._step(min(end, len(self.text)) + 1 - self.at)
        return inner if mark == "'" else inner.replace("\\\n", "\n").replace('\\"', '"')

    def _bracketed(self) -> str:
        """`$( … )`, `$(( … ))` or `${ … }` in one piece."""
        opener = self.text[self.at + 1]
        closer = ")" if opener == "(" else "}"
        depth, end = 0, self.at + 1
        while end < len(self.text):
            depth += (self.text[end] == opener) - (self.text[end] == closer)
            end += 1
            if depth == 0:
                break
        piece = self.text[self.at : end]
        self._step(end - self.at)
        return piece


def commands(text: str) -> tuple[Command, ...]:
    """Every command of a script with the file's own variables put in; arrays and unquoted strings fall apart into
    words.
    """
    known: dict[str, list[Word]] = {}
    found: list[Command] = []
    left = MAX_WORDS
    for words in statements(text):
        rest = _take_assignments(words, known)
        if rest and left > 0:
            found.append(Command(tuple(islice((piece for word in rest for piece in expand(word, known)), left))))
            left -= len(found[-1].words)
    if not found:
        found = [Command(tuple(word for values in known.values() for word in values))]
    return tuple(found)


def _take_assignments(words: list[Word], known: dict[str, list[Word]]) -> list[Word]:
    """Stores the assignments that a statement begins with; what is left is the command."""
    at = 0
    while at < len(words):
        if words[at].text in ("export", "declare", "local", "readonly", "-a", "-x"):
            at += 1
            continue
        match = _ASSIGNMENT.match(words[at].text)
        if not match:
            break
        value = words[at].text[match.end() :]
        if not value and at + 1 < len(words) and words[at + 1].text == "(":
            end = next((i for i in range(at + 2, len(words)) if words[i].text == ")"), len(words))
            pieces = (piece for word in words[at + 2 : end] for piece in expand(word, known))
            _assign(known, match, list(islice(pieces, MAX_WORDS)))
            at = end + 1
        else:
            word = Word(value, words[at].line, words[at].quoted, words[at].literal)
            _assign(known, match, [Word(put_in(word, known), word.line)])
            at += 1
    return words[at:]


def _assign(known: dict[str, list[Word]], match: re.Match[str], values: list[Word]) -> None:
    """`NAME=` sets, `NAME+=` appends, up to the words that an array may have."""
    if match["more"] and match["name"] in known:
        before = known[match["name"]]
        before.extend(values[: max(0, MAX_WORDS - len(before))])
    else:
        known[match["name"]] = values


def expand(word: Word, known: Mapping[str, list[Word]]) -> Iterator[Word]:
    """The words that one word becomes: an array its elements, an unquoted variable the words of its text."""
    match = _VARIABLE.fullmatch(word.text)
    name = match and (match["braced"] or match["plain"])
    if name and name in known:
        for value in known[name]:
            yield from _split(value)
    elif not word.quoted or any(mark in word.text for mark in ("\n", " --")):
        yield from _split(Word(put_in(word, known), word.line))
    else:
        yield Word(put_in(word, known), word.line)


def _split(word: Word) -> Iterator[Word]:
    for offset, text in enumerate(word.text.split("\n")):
        for piece in text.partition(" #")[0].split():
            yield Word(piece.strip("\"'\\"), word.line + offset)


def put_in(word: Word, known: Mapping[str, list[Word]]) -> str:
    """The text of a word with variables and sums put in; what is not known stays as written."""
    if word.literal:
        return word.text

    def value(match: re.Match[str]) -> str:
        if match["sum"] is not None:
            return _calculate(put_in(Word(match["sum"], word.line), known), known, match[0])
        name = match["braced"] or match["plain"]
        if name in known:
            return " ".join(part.text for part in islice(known[name], MAX_EXPANDED_CHARACTERS // 2))
        return match["fallback"] if match["fallback"] is not None else match[0]

    pieces, at, left = [], 0, MAX_EXPANDED_CHARACTERS
    for match in _VARIABLE.finditer(word.text):
        pieces.append((word.text[at : match.start()] + value(match))[:left])
        at = match.end()
        left -= len(pieces[-1])
        if left <= 0:
            break
    return "".join(pieces) + word.text[at : at + left]


def _calculate(text: str, known: Mapping[str, list[Word]], written: str) -> str:
    """A sum of whole numbers as the shell reckons it (names without $ too), left to right by precedence; as written
    when it is none.
    """

    def number(match: re.Match[str]) -> str:
        text = known[match[0]][0].text if known.get(match[0]) else match[0]
        return text if len(text) <= MAX_SUM_DIGITS else match[0]

    plain = re.sub(r"[A-Za-z_]\w*", number, text)
    if not _SUM.match(plain) or "(" in plain:
        return written
    tokens = _SUM_TOKEN.findall(plain)
    if any(len(token) > MAX_SUM_DIGITS for token in tokens):
        return written
    for operators in ("*/%", "+-"):
        reduced = _reduce(tokens, operators)
        if reduced is None:
            return written
        tokens = reduced
    return tokens[0] if len(tokens) == 1 else written


def _reduce(tokens: list[str], operators: str) -> list[str] | None:
    """The tokens with one level of operators carried out; None when that is impossible."""
    out: list[str] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token in operators:
            result = _operate(out.pop() if out else "", token, tokens[index + 1] if index + 1 < len(tokens) else "")
            if result is None:
                return None
            out.append(result)
            index += 2
        else:
            out.append(token)
            index += 1
    return out


def _operate(left_text: str, operator: str, right_text: str) -> str | None:
    """One operation on two whole numbers; None when one of them is none, by zero, and beyond the shell's numbers."""
    if not left_text.lstrip("-").isdecimal() or not right_text.isdecimal():
        return None
    left, right = int(left_text), int(right_text)
    if operator in "/%":
        return str(left // right if operator == "/" else left % right) if right else None
    result = {"*": left * right, "+": left + right, "-": left - right}[operator]
    return str(result) if abs(result) < 10**MAX_SUM_DIGITS else None
