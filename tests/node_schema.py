"""Checks the content of a status node against the schema that we ship."""

import json
from functools import cache
from importlib import resources
from typing import Any

import jsonschema


@cache
def validator() -> jsonschema.Draft202012Validator:
    """Return a validator for the shipped schema. Its times have a pattern, so no format checker is needed."""
    schema = json.loads((resources.files("ibstatus.model") / "status_node.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def check_node(content: Any) -> None:
    """Fail with every place where `content` breaks the schema, or has a key that the schema does not list."""
    faults = [f"{error.json_path}: {error.message}" for error in validator().iter_errors(content)]
    schema = validator().schema
    for rows, shape in (
        ([content], schema),
        (content["root_agents"], schema["$defs"]["agent"]),
        (content["messages"], schema["$defs"]["message"]),
    ):
        faults += [f"not in the schema: {key}" for row in rows for key in row.keys() - shape["properties"].keys()]
    assert faults == []
