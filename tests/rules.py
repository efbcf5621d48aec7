"""Which tests prove which rule of RULES.md, read from the tests themselves.

    rules.py          every rule with its tests, then the gaps
    rules.py --gaps   the gaps alone
    rules.py --all    as without, but a gap in any section counts

A test names its rules in a comment line above it (`Rules 3.4, 3.6.`, `Rule 2.1.`), a vector or scenario in a member
`"rules": ["3.4"]` of the case or of the whole file. The status is 1 on a gap in what is claimed as done, and on a
test that names a rule that does not exist.
"""

import json
import re
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent

# What is built so far: a rule in here needs a test.
DONE = "1.1-1.5 2.1-2.8 3.1-3.6 3.8-3.12 4.1-4.6 5.1-5.6 6.1-6.7 7.1-7.4"

SOURCES = ["core", "ffi", "bindings", "tests"]
SKIPPED = {"target", "node_modules", ".venv", "dist"}
NUMBER = r"\d+\.\d+"
COMMENT = re.compile(rf"^\s*(//+|#|/\*+|\*)\s*Rules? (?={NUMBER})(.*)")
LIST = re.compile(rf"{NUMBER}(?:(?:, | and ){NUMBER})*\.(?!\d)")
# What a comment stands above: the name of the test.
NAMES = {
    ".rs": re.compile(r"\bfn\s+(\w+)"),
    ".py": re.compile(r"\bdef\s+(test\w*)"),
    ".c": re.compile(r"^\s*(?:static\s+)?(?:void|int)\s+(\w+)\s*\("),
    **dict.fromkeys([".js", ".mjs", ".cjs", ".ts", ".mts"], re.compile(r"\b(?:test|it)\w*\(\s*['\"`](.+?)['\"`]\s*,")),
}
# How far below its comment a test begins at the most: further comments and attributes may come between.
REACH = 24


def rules():
    """The numbers of the rules, in order."""
    return re.findall(rf"^({NUMBER}) ", (TESTS / "RULES.md").read_text("utf-8"), re.MULTILINE)


def order(rule):
    return tuple(map(int, rule.split(".")))


def done(rule):
    for span in DONE.split():
        first, last = span.split("-")
        if order(first) <= order(rule) <= order(last):
            return True
    return False


def in_source(path):
    """The pairs (rule, test) of a source file."""
    lines = path.read_text("utf-8").splitlines()
    for at, line in enumerate(lines):
        if not (match := COMMENT.match(line)):
            continue
        below = lines[at + 1 : at + 1 + REACH]
        found = ((row, name) for row, text in enumerate(below) for name in NAMES[path.suffix].findall(text))
        last, test = next(found, (0, None))
        on_code = match.group(1) == "///" or not path.is_relative_to(TESTS)
        if path.suffix == ".rs" and on_code and "#[test]" not in "".join(below[:last]):
            continue
        numbers = LIST.match(match.group(2))
        if test is None or numbers is None:
            sys.exit(f"{path.relative_to(ROOT)}:{at + 1}: `Rules 3.4, 3.6.` stands above a test, and in this form")
        for rule in re.findall(NUMBER, numbers.group()):
            yield rule, test


def in_value(value, name):
    """The pairs (rule, case) of a JSON value; a case is called by its `name`, or by where it stands."""
    if isinstance(value, list):
        for index, item in enumerate(value, 1):
            yield from in_value(item, f"{name} {index}" if name else str(index))
    elif isinstance(value, dict):
        name = value["name"] if isinstance(value.get("name"), str) else name
        named = value.get("rules")
        if isinstance(named, list):
            yield from ((rule, name) for rule in named)
        for key in ("cases", "scenarios"):
            if isinstance(value.get(key), list):
                yield from in_value(value[key], "case")


def files():
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            inside = path.relative_to(ROOT).parts
            if path.is_file() and not SKIPPED.intersection(inside):
                yield path


def proofs():
    """Rule → the tests that name it, as `file:test`."""
    found = {}
    for path in files():
        shown = path.relative_to(ROOT)
        if path.suffix in NAMES:
            pairs = in_source(path)
        elif path.suffix == ".json" and path.is_relative_to(TESTS) and not path.name.startswith("package"):
            pairs = in_value(json.loads(path.read_text("utf-8")), "")
        else:
            continue
        for rule, test in pairs:
            found.setdefault(rule, []).append(f"{shown}:{test}" if test else str(shown))
    return found


def main():
    options = set(sys.argv[1:])
    if unknown := options - {"--all", "--gaps"}:
        sys.exit(f"unknown option: {' '.join(sorted(unknown))}")
    known, found = rules(), proofs()
    if "--gaps" not in options:
        for rule in known:
            print(rule, *(f"  {test}" for test in found.get(rule, ["no test"])), sep="\n")
        print()
    wanted = [rule for rule in known if "--all" in options or done(rule)]
    gaps = [rule for rule in wanted if rule not in found]
    strangers = [f"{rule} ({test})" for rule in sorted(set(found) - set(known)) for test in found[rule]]
    print(f"{len(wanted) - len(gaps)} of {len(wanted)} rules have a test")
    if gaps:
        print("without a test:", ", ".join(gaps))
    if strangers:
        print("no such rule:", ", ".join(strangers))
    return 1 if gaps or strangers else 0


if __name__ == "__main__":
    sys.exit(main())
