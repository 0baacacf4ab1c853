"""The OpenAPI description as a page for people, which needs nothing from the internet."""

from __future__ import annotations

import json
from html import escape
from typing import Any

EXAMPLES = {
    "/parse": [
        "curl http://127.0.0.1:8000/parse -H 'Content-Type: application/json' \\\n"
        """     -d '{"text": "They walk the dog.", "confidence": true}'""",
        "curl http://127.0.0.1:8000/parse -H 'Content-Type: application/json' -H 'Accept: text/x-conllu' \\\n"
        """     -d '{"tokens": [["They", "walk", "the", "dog"]], "constraints": [{"word": 4, "head": 2}]}'""",
    ],
    "/health": ["curl http://127.0.0.1:8000/health"],
}


def api_page(description: dict[str, Any]) -> str:
    """A section for every path: what it does, the fields of its request, and its answers."""
    schemas = description.get("components", {}).get("schemas", {})
    sections = [
        _section(path, method, operation, schemas)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    ]
    title = f"{escape(description['info']['title'])} {escape(description['info']['version'])}"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{title}: the API</title>\n<link rel="icon" href="icon.svg">\n'
        '<link rel="stylesheet" href="page.css">\n</head>\n<body>\n<main>\n'
        f"<h1>{title}: the API</h1>\n<p>{escape(description['info'].get('description', ''))}</p>\n"
        '<p><a href="./">The page</a> · <a href="openapi.json">OpenAPI description</a></p>\n'
        + "\n".join(sections)
        + "\n</main>\n</body>\n</html>\n"
    )


def _section(path: str, method: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    parts = [f"<h2><code>{method.upper()} {escape(path)}</code></h2>"]
    parts.append(f"<p>{escape(operation.get('description') or operation.get('summary', ''))}</p>")
    parts += [f"<pre>{escape(example)}</pre>" for example in EXAMPLES.get(path, [])]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if body:
        parts.append("<h3>Request</h3>" + _fields(body, schemas))
    parts.append("<h3>Answers</h3>")
    for status, answer in sorted(operation["responses"].items()):
        kinds = ", ".join(answer.get("content", {}))
        parts.append(f"<p><strong>{status}</strong> {escape(answer['description'])} <small>{escape(kinds)}</small></p>")
        schema = answer.get("content", {}).get("application/json", {}).get("schema")
        if status == "200" and schema:
            parts.append(_fields(schema, schemas))
    return f"<section>{''.join(parts)}</section>"


def _fields(schema: dict[str, Any], schemas: dict[str, Any], depth: int = 0) -> str:
    """A table of the fields of an object, with a table in it for each field that has fields itself."""
    schema = _resolved(schema, schemas)
    rows = []
    for name, field in schema.get("properties", {}).items():
        text = escape(field.get("description", ""))
        if "default" in field:
            text += f" <small>Default: <code>{escape(json.dumps(field['default']))}</code></small>"
        inner = _resolved(field.get("items", field), schemas)
        if "properties" in inner and depth < 2:
            text += _fields(inner, schemas, depth + 1)
        name = f'<th scope="row"><code>{escape(name)}</code></th>'
        rows.append(f"<tr>{name}<td>{_kind(field, schemas)}</td><td>{text}</td></tr>")
    heading = '<tr><th scope="col">field</th><th scope="col">type</th><th scope="col">what</th></tr>'
    return f'<div class="picture"><table>{heading}{"".join(rows)}</table></div>' if rows else ""


def _resolved(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    return schemas.get(reference.rpartition("/")[2], {}) if reference else schema


def _kind(field: dict[str, Any], schemas: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_kind(option, schemas) for option in field["anyOf"])
    if "enum" in field:
        return " or ".join(f"<code>{escape(json.dumps(value))}</code>" for value in field["enum"])
    resolved = _resolved(field, schemas)
    kind = resolved.get("type", "")
    if kind == "array":
        return f"list of {_kind(field.get('items', {}), schemas)}"
    bounds = [f"{sign} {resolved[key]:,.9g}" for key, sign in (("minimum", "≥"), ("maximum", "≤")) if key in resolved]
    return escape(" ".join([kind, *bounds]))
