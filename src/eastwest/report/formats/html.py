"""The report as one self-contained HTML page: no request leaves it, both languages inside, drawn by an inlined Plotly.

Everything of the plan is escaped by the template; a content security policy with the hashes of our own scripts lets
nothing else run.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal
from urllib.parse import quote

from eastwest.report.blocks import Document, FigureData
from eastwest.report.document import plan_document
from eastwest.report.values import Json
from eastwest.report.wording import words_of

LONG_ROWS = 30  # longer tables are folded
HTML_LANG = {"en": "en", "zh": "zh-CN"}
# Inside <script> a browser looks for these; JSON may write each as an escape (RFC 8259, section 7).
JSON_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def render(plan: Json, lang: Literal["en", "zh"] = "en", translated: Mapping[str, Json] | None = None) -> str:
    """The report of one plan as an HTML page that shows `lang` first and can switch to the other language.

    `translated` may hold the same plan by language (`{"zh": plan.as_json("zh")}`), so that findings follow the switch
    too; a language that is
    not in it shows the sentences of `plan`. Raises InternalError for another language.
    """
    return page_of({name: plan_document((translated or {}).get(name, plan), name) for name in ("en", "zh")}, lang)


def page_of(documents: Mapping[Literal["en", "zh"], Document], lang: Literal["en", "zh"]) -> str:
    """Documents by language as one page that shows `lang` first; Plotly is in it only where a figure needs it."""
    needs_plotly = any(figure.plotly for document in documents.values() for figure in document.figures)
    scripts = (*((_plotly_script(),) if needs_plotly else ()), _part("page.js"))
    page: str = _template().render(
        documents=documents,
        catalogues={name: words_of(name) for name in documents},
        first=words_of(lang).lang,
        html_lang=HTML_LANG,
        long_rows=LONG_ROWS,
        css=_part("page.css"),
        scripts=scripts,
        security_policy=_security_policy(scripts),
    )
    return page


@cache
def _plotly_script() -> str:
    """Plotly's script from its own package. A closing tag in it would end our element, so it must hold none."""
    text = (files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


@cache
def _part(name: str) -> str:
    return (files("eastwest.report") / "templates" / name).read_text(encoding="utf-8")


def _security_policy(scripts: tuple[str, ...]) -> str:
    """Only our scripts run, by their hashes; nothing is loaded from anywhere (W3C, Content Security Policy Level 3)."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts
    )
    rest = "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {hashes}; {rest}"


@cache
def _template() -> Any:
    from jinja2 import DictLoader, Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=DictLoader({"plan.html.j2": _part("plan.html.j2")}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters["trusted"] = Markup
    environment.filters["embedded"] = lambda figure: Markup(embedded_json(figure))
    environment.filters["csv_uri"] = csv_uri
    return environment.get_template("plan.html.j2")


def embedded_json(value: Any) -> str:
    """A JSON text that is safe inside a `<script>` element: no character in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return "".join(JSON_ESCAPES.get(character, character) for character in text)


def csv_uri(data: FigureData) -> str:
    """A figure's data as a `data:` address that a browser saves as a file, with the mark that makes spreadsheets read
    UTF-8.
    """
    return "data:text/csv;charset=utf-8," + quote("\ufeff" + data.csv())
