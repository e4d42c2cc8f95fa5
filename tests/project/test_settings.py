"""The table of keys, which file decides, what is odd in a file, and edits that touch one value only."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibstatus.project import settings
from ibstatus.project.rules import settings_text
from ibstatus.project.settings import KEYS, LIST, NUMBER, PROJECT, SWITCH, TEXT, USER, Layer
from ibstatus.system import jsonl
from ibstatus.system.text import json_edit


def known(project: dict[str, Any] | None = None, user: dict[str, Any] | None = None) -> settings.Settings:
    return settings.settled([Layer(PROJECT, "p", project or {}), Layer(USER, "u", user or {})], [])


def odd(values: dict[str, Any]) -> list[str]:
    return settings_text.problems(Layer(PROJECT, "f", values))


class TestTheTable:
    @pytest.mark.parametrize("key", settings.ALL, ids=lambda key: key.name)
    def test_a_default_is_legal(self, key: settings.Key) -> None:
        default = settings.plain_default(key)

        assert default is None or settings.objection(key, default) == ""

    @pytest.mark.parametrize("key", settings.ALL, ids=lambda key: key.name)
    def test_examples_and_choices_are_legal(self, key: settings.Key) -> None:
        for word in (*key.choices, *key.examples):
            assert settings.objection(key, settings.meant(key, word)) == ""

    def test_no_key_is_a_section(self) -> None:
        assert settings.SECTIONS.isdisjoint(KEYS)
        assert {"permissions", "permissions.manager", "hooks", "tmux", "notify", "board"} <= settings.SECTIONS

    @pytest.mark.parametrize(
        ("name", "raw", "fine"),
        [
            ("maxAgents", 0, True),
            ("maxAgents", -1, False),
            ("maxAgents", 3.0, False),
            ("maxAgents", True, False),
            ("fps", 60, True),
            ("fps", 0, False),
            ("fps", 61, False),
            ("autoCompactThreshold", 900, True),
            ("autoCompactThreshold", 0, False),
            ("createPullRequests", 1, False),
            ("createPullRequests", "true", False),
            ("model", "claude-opus-4-5[1m]", True),
            ("model", "-p", False),
            ("model", "x; rm -rf ~", False),
            ("tmux.socket", "../x", False),
            ("tmux.titles", "real-time", True),
            ("tmux.titles", "realtime", False),
            ("tmux.titles", [], False),
            ("permissions.worker.allow", ["Read"], True),
            ("permissions.worker.allow", ["Read", 1], False),
            ("permissions.worker.allow", [""], False),
            ("externalDiffTool", "code --diff", True),
            ("externalDiffTool", "a\0b", False),
        ],
    )
    def test_what_a_key_may_hold(self, name: str, raw: Any, fine: bool) -> None:
        assert (settings.objection(KEYS[name], raw) == "") is fine


class TestWhichFileDecides:
    def test_project_before_user_before_default(self) -> None:
        both = known({"maxAgents": 1}, {"maxAgents": 2, "fps": 3})

        assert [both.rows[name] for name in ("maxAgents", "fps", "model")] == [
            (1, "project"),
            (3, "user"),
            (None, "default"),
        ]

    def test_lists_replace(self) -> None:
        user = {"permissions": {"worker": {"allow": ["A"], "deny": ["B"]}}}

        both = known({"permissions": {"worker": {"allow": []}}}, user)

        assert both.rows["permissions.worker.allow"] == ([], "project")
        assert both.rows["permissions.worker.deny"] == (["B"], "user")

    @pytest.mark.parametrize("raw", [None, "", False, []], ids=json.dumps)
    @pytest.mark.parametrize("name", ["model", "createPullRequests", "permissions.worker.allow"])
    def test_a_key_that_exists_is_set(self, name: str, raw: Any) -> None:
        there, value = settings.found(json_edit.nested(KEYS[name].path, raw), KEYS[name].path)

        assert (there, value) == (True, raw)

    @pytest.mark.parametrize("raw", [None, ""], ids=json.dumps)
    def test_null_and_nothing_hide_the_user_value(self, raw: Any) -> None:
        assert known({"model": raw}, {"model": "opus"}).rows["model"] == (None, "project")

    def test_a_wrong_value_is_the_default(self) -> None:
        assert known({"maxAgents": "x"}, {"maxAgents": 4}).rows["maxAgents"] == (10, "default")

    def test_a_list_keeps_its_good_items(self) -> None:
        deny = known({"permissions": {"manager": {"deny": ["Bash", 5]}, "worker": {"deny": "Edit"}}})

        assert deny.rows["permissions.manager.deny"] == (["Bash"], "project")
        assert deny.rows["permissions.worker.deny"] == (["Edit"], "project")

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(),
            lambda x: (
                st.lists(x)
                | st.dictionaries(
                    st.sampled_from(
                        ["permissions", "manager", "allow", "fps", "model", "hooks", "tmux", "titles", "x"]
                    ),
                    x,
                )
            ),
            max_leaves=12,
        )
    )
    def test_whatever_a_file_holds_the_values_are_legal(self, tree: Any) -> None:
        values = tree if isinstance(tree, dict) else {"hooks": tree, "fps": tree}

        for name, (value, _) in known(values).rows.items():
            assert value is None or settings.objection(KEYS[name], value) == ""
        assert all(text.startswith("f: ") for text in odd(values))


class TestWhatIsOdd:
    def test_nothing_in_a_good_file(self) -> None:
        assert odd({"maxAgents": 3, "hooks": {"injectStatus": False}, "permissions": None, "model": ""}) == []

    @pytest.mark.parametrize(
        ("values", "near"),
        [
            ({"maxAgnets": 1}, "maxAgents"),
            ({"maxagents": 1}, "maxAgents"),
            ({"perHour": 1}, "notify.perHour"),
            ({"notify": {"perhour": 1}}, "notify.perHour"),
            ({"hooks": {"injectstatuss": 1}}, "hooks.injectStatus"),
            ({"permission": {}}, "permissions"),
            ({"statusNode": {}}, "status_node"),
        ],
        ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
    )
    def test_an_unknown_key_with_the_nearest_one(self, values: dict[str, Any], near: str) -> None:
        (text,) = odd(values)

        assert "ib knows no key" in text
        assert f"(did you mean {near}?)" in text

    def test_an_unknown_key_without_a_near_one(self) -> None:
        assert odd({"zzz": 1}) == ["f: ib knows no key zzz"]

    def test_dots_in_a_name_of_the_file(self) -> None:
        assert "only as objects" in odd({"notify.perHour": 5})[0]

    def test_a_section_that_is_none(self) -> None:
        assert odd({"hooks": 5}) == ["f: hooks must be an object; it is ignored"]

    def test_a_wrong_value_says_what_counts_instead(self) -> None:
        assert odd({"fps": 100, "permissions": {"worker": {"deny": [1]}}}) == [
            "f: permissions.worker.deny must be a list of strings; the rest of it is used",
            "f: fps must be a whole number from 1 to 60; the default (10) is used",
        ]

    def test_a_name_cannot_talk_to_the_terminal(self) -> None:
        assert "\x1b" not in odd({"\x1b[2J": 1})[0]


class TestWhatIsShown:
    @pytest.mark.parametrize(
        ("dsn", "shown"),
        [
            ("postgres://u:secret@h/db", "postgres://u:***@h/db"),
            ("postgresql://u:se@cr:et@h:5/db?x=1", "postgresql://u:***@h:5/db?x=1"),
            ("postgres://u@h/db", "postgres://u@h/db"),
            ("postgres://h/db?user=u&password=secret&x=1", "postgres://h/db?user=u&password=***&x=1"),
            ("host=h password=secret dbname=d", "host=h password=*** dbname=d"),
            ("host=h password='my secret' dbname=d", "host=h password=*** dbname=d"),
            ("password=secret", "password=***"),
            ("host=h password = my secret dbname=d", "host=h password = *** dbname=d"),
            ("host=h password='it\\'s secret' port=1", "host=h password=*** port=1"),
            ("postgres:/u:secret@h/db", "postgres:***@h/db"),
            ("postgres://u:x/secret@h/db", "postgres://u:***@h/db"),
            ("postgresql://u@h/db?sslpassword=secret#x", "postgresql://u@h/db?sslpassword=***#x"),
            ("u:secret@h", "u:***@h"),
            ("postgres://h/db?%70assword=secret&x=1", "postgres://h/db?%70assword=***&x=1"),
            ("postgres://h/db?sslp%61%73SWOR%44=secret#", "postgres://h/db?sslp%61%73SWOR%44=***#"),
            ("service=tasks", "service=tasks"),
        ],
    )
    def test_no_password(self, dsn: str, shown: str) -> None:
        assert settings_text.shown(KEYS["board.dsn"], dsn) == shown

    @pytest.mark.parametrize(
        ("value", "shown"), [(None, "(unset)"), ("a\nb", '"a\\nb"'), (True, "true"), (["a"], '["a"]'), ("ü", "ü")]
    )
    def test_one_line_whatever_it_is(self, value: Any, shown: str) -> None:
        assert settings_text.shown(KEYS["externalDiffTool"], value) == shown


class TestWords:
    @pytest.mark.parametrize(
        ("name", "word", "value"),
        [
            ("fps", "20", 20),
            ("fps", "020", "020"),
            ("fps", "1e1", 10.0),
            ("fps", "9" * 5000, "9" * 5000),
            ("createPullRequests", "true", True),
            ("createPullRequests", "yes", "yes"),
            ("model", "5", "5"),
            ("externalDiffTool", "true", "true"),
        ],
        ids=lambda value: str(value)[:12],
    )
    def test_a_word_as_the_value_of_a_known_key(self, name: str, word: str, value: Any) -> None:
        assert settings.meant(KEYS[name], word) == value

    @pytest.mark.parametrize(
        ("word", "value"),
        [("5", 5), ("true", True), ('{"a":1}', {"a": 1}), (":123", ":123"), ("null", "null"), ("x", "x")],
    )
    def test_a_word_as_the_value_of_an_unknown_key(self, word: str, value: Any) -> None:
        assert settings.meant(None, word) == value


def legal_value(key: settings.Key) -> st.SearchStrategy[Any]:
    if key.kind == NUMBER:
        return st.integers(key.low, key.high if key.high is not None else 10**9)
    if key.kind == SWITCH:
        return st.booleans()
    if key.kind == LIST:
        return st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), max_size=4)
    assert key.kind == TEXT
    if key.choices:
        return st.sampled_from(key.choices)
    chars = (
        st.sampled_from(sorted(key.chars))
        if key.chars
        else st.characters(exclude_categories=["Cs"], exclude_characters="\0")
    )
    return st.text(chars, min_size=1).filter(lambda text: not text.startswith("-"))


key_and_value = st.sampled_from(settings.ALL).flatmap(lambda key: st.tuples(st.just(key), legal_value(key)))

names = st.sampled_from(["a", "b", "hooks", "tmux", "é", 'q"t', ""])
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
)
trees = st.dictionaries(
    names,
    st.recursive(scalars, lambda x: st.lists(x, max_size=3) | st.dictionaries(names, x, max_size=3), max_leaves=6),
    max_size=4,
)
layouts = st.tuples(
    st.sampled_from([None, 0, 2, 4, "\t"]),
    st.sampled_from([(",", ":"), (", ", ": "), (" ,", " : ")]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n", "  \n"]),
    st.booleans(),
)
paths = st.lists(names, min_size=1, max_size=3).map(tuple)


def laid_out(tree: Any, layout: Any) -> str:
    indent, separators, newline, end, ascii_only = layout
    text = json.dumps(tree, indent=indent, separators=separators, ensure_ascii=ascii_only)
    return (end + text + end).replace("\n", newline)


def put(tree: Any, path: tuple[str, ...], value: Any) -> Any:
    """What with_value must mean, on the decoded value."""
    if not path:
        return value
    inner = {} if tree is None else tree
    if not isinstance(inner, dict):
        raise json_edit.Blocked(())
    return {**inner, path[0]: put(inner.get(path[0]), path[1:], value)}


def get(tree: Any, path: tuple[str, ...]) -> Any:
    return settings.found(tree, path)[1]


class TestEdits:
    @given(trees, layouts, paths, scalars | st.lists(st.text(max_size=3), max_size=2))
    def test_setting_changes_one_value(self, tree: Any, layout: Any, path: tuple[str, ...], value: Any) -> None:
        text = laid_out(tree, layout)
        try:
            wanted = put(tree, path, value)
        except json_edit.Blocked:
            with pytest.raises(json_edit.Blocked):
                json_edit.with_value(text, path, value)
            return

        new = json_edit.with_value(text, path, value)

        assert list(json.loads(new)) == list(wanted)
        assert json.loads(new) == wanted
        assert "\n" not in new.replace("\r\n", "") if "\r\n" in text else "\r" not in new

    @given(trees, layouts, paths, scalars)
    def test_setting_and_taking_out_again_gives_the_same_bytes(
        self, tree: Any, layout: Any, path: tuple[str, ...], value: Any
    ) -> None:
        text = laid_out(tree, layout)
        above = get(tree, path[:-1]) if path[:-1] else tree
        if not isinstance(above, dict) or not above or path[-1] in above:
            return

        assert json_edit.without(json_edit.with_value(text, path, value), path) == text

    @given(trees, layouts, paths)
    def test_taking_out_leaves_the_rest(self, tree: Any, layout: Any, path: tuple[str, ...]) -> None:
        text = laid_out(tree, layout)

        new = json_edit.without(text, path)

        there, _ = settings.found(tree, path)
        if not there:
            assert new == text
            return
        above = json.loads(json.dumps(tree))
        del (get(above, path[:-1]) if path[:-1] else above)[path[-1]]
        assert json.loads(new) == above

    @given(st.lists(st.text(max_size=3) | st.integers(), max_size=4), layouts, st.text(max_size=3))
    def test_items_come_and_go(self, items: list[Any], layout: Any, item: str) -> None:
        text = laid_out({"x": 1, "l": items, "y": {}}, layout)

        more = json_edit.with_item(text, ("l",), item)
        less = json_edit.without_item(more, ("l",), item)

        assert json.loads(more) == {"x": 1, "l": [*items, item], "y": {}}
        assert json.loads(less)["l"] == [other for other in items if other != item]
        if items and item not in items:
            assert less == text

    def test_numbers_and_escapes_that_are_not_touched_stay_as_spelled(self) -> None:
        text = '{"a": 1.0e+2, "b": "\\u00e9\\/", "c":   [ 1,2 ,3 ], "fps": 5}'

        assert json_edit.with_value(text, ("fps",), 6) == text.replace("5", "6")

    def test_of_two_members_with_one_name_the_last_counts(self) -> None:
        text = '{"a": 1, "b": 2, "a": 3}'

        assert json_edit.with_value(text, ("a",), 4) == '{"a": 1, "b": 2, "a": 4}'
        assert json_edit.without(text, ("a",)) == '{"b": 2}'

    @pytest.mark.parametrize(
        ("text", "path", "new"),
        [
            ("{}\n", ("a",), '{\n  "a": 1\n}\n'),
            ("{}", ("a", "b"), '{\n  "a": {\n    "b": 1\n  }\n}'),
            ('{"x":2}', ("a",), '{"x":2,"a":1}'),
            ('{"x": 2}', ("a",), '{"x": 2, "a": 1}'),
            ('{"x": 2}', ("a", "b"), '{"x": 2, "a": {"b":1}}'),
            ('{\n\t"x": 2\n}', ("a", "b"), '{\n\t"x": 2,\n\t"a": {\n\t\t"b": 1\n\t}\n}'),
            ('{\n    "x": {}\n}', ("x", "b"), '{\n    "x": {\n        "b": 1\n    }\n}'),
            ('{\r\n  "x": 2\r\n}', ("a",), '{\r\n  "x": 2,\r\n  "a": 1\r\n}'),
            ('{\n  "x": 2,\n\n  "y": 3\n}', ("a",), '{\n  "x": 2,\n\n  "y": 3,\n  "a": 1\n}'),
            ('{"a": null}', ("a", "b"), '{"a": {"b":1}}'),
            ('{\n  "a": {"x": 0}\n}', ("a", "b"), '{\n  "a": {"x": 0, "b": 1}\n}'),
        ],
    )
    def test_a_new_member_looks_like_its_neighbours(self, text: str, path: tuple[str, ...], new: str) -> None:
        assert json_edit.with_value(text, path, 1) == new

    @pytest.mark.parametrize(
        ("text", "new"),
        [
            ('{"l": []}', '{"l": ["z"]}'),
            ('{"l": [\n]}', '{"l": ["z"]}'),
            ('{"l": ["a"]}', '{"l": ["a", "z"]}'),
            ('{"l": ["a","b"]}', '{"l": ["a","b","z"]}'),
            ('{"l": [\n  "a"\n]}', '{"l": [\n  "a",\n  "z"\n]}'),
            ('{"l": null}', '{"l": ["z"]}'),
            ('{"x": 1}', '{"x": 1, "l": ["z"]}'),
        ],
    )
    def test_a_new_item_looks_like_its_neighbours(self, text: str, new: str) -> None:
        assert json_edit.with_item(text, ("l",), "z") == new

    @pytest.mark.parametrize(
        ("text", "path"), [('{"l": "a"}', ("l",)), ('{"l": {}}', ("l",)), ('{"l": 1}', ("l", "m"))]
    )
    def test_nothing_else_is_overwritten(self, text: str, path: tuple[str, ...]) -> None:
        with pytest.raises(json_edit.Blocked):
            json_edit.with_item(text, path, "z")

    @given(key_and_value)
    def test_every_legal_value_comes_back(self, pair: tuple[settings.Key, Any]) -> None:
        key, value = pair

        text = json_edit.with_value("{}\n", key.path, value)

        assert known(json.loads(text)).rows[key.name] == (value, "project")
        assert odd(json.loads(text)) == []

    @given(key_and_value.filter(lambda pair: pair[0].kind != LIST))
    def test_every_legal_value_can_be_typed(self, pair: tuple[settings.Key, Any]) -> None:
        key, value = pair

        assert settings.meant(key, settings_text.bare(value)) == value
        assert not isinstance(value, float) or math.isfinite(value)
        assert jsonl.decode(jsonl.encode(value)) == value
