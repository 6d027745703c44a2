"""Makes a program smaller while it still does what it did: statements, arms of conditions and parts of expressions are taken out."""

import ast
import warnings

OPERANDS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Call, ast.Subscript, ast.Attribute)
TRIALS = 400


def edits(tree):
    """All smaller programs, one edit away: functions that change a tree at a place, the large edits first."""
    found = []
    for path, node in places(tree):
        for field, body in ast.iter_fields(node):
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                found += [(size(s), path, field, k, "drop") for k, s in enumerate(body)]
                for k, s in enumerate(body):
                    if isinstance(s, (ast.If, ast.For, ast.While)):
                        found.append((size(s) / 2, path, field, k, "open"))
                    if isinstance(s, ast.If) and s.orelse:
                        found += [(size(s) / 3, path, field, k, "orelse"), (size(s) / 4, path, field, k, "no orelse")]
        for field, value in ast.iter_fields(node):
            for k, e in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(e, OPERANDS):
                    at = k if isinstance(value, list) else None
                    found += [(size(e) / 5, path, field, at, ("part", n)) for n, _ in enumerate(parts(e))]
                    found.append((size(e) / 6, path, field, at, ("number", 1.0)))
                    found.append((size(e) / 6, path, field, at, ("number", 1)))
    return sorted(found, key=lambda f: -f[0])


def size(node):
    return sum(1 for _ in ast.walk(node))


def parts(e):
    """Expressions in an expression."""
    return [n for n in ast.iter_child_nodes(e) if isinstance(n, ast.expr)]


def places(node, path=()):
    """All nodes with the way to them."""
    yield path, node
    for field, value in ast.iter_fields(node):
        for k, n in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(n, ast.AST):
                yield from places(n, (*path, (field, k if isinstance(value, list) else None)))


def follow(tree, path):
    for field, k in path:
        tree = getattr(tree, field) if k is None else getattr(tree, field)[k]
    return tree


def edited(text, edit):
    """A text with one edit; None: there is no such program."""
    _, path, field, k, what = edit
    tree = ast.parse(text)
    try:
        node = follow(tree, path)
        old = getattr(node, field)
        if isinstance(what, str):
            s = old[k]
            new = {"drop": lambda: [], "open": lambda: s.body, "orelse": lambda: s.orelse, "no orelse": lambda: [s]}[what]()
            if what == "no orelse":
                s.orelse = []
            old[k : k + 1] = new
            if not old:
                if not isinstance(node, (ast.If, ast.For, ast.While, ast.FunctionDef)) or field == "body":
                    old.append(ast.Pass())
        else:
            e = old if k is None else old[k]
            new = parts(e)[what[1]] if what[0] == "part" else ast.Constant(what[1])
            if k is None:
                setattr(node, field, new)
            else:
                old[k] = new
        result = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        with warnings.catch_warnings(action="ignore"):
            compile(result, "<reduced>", "exec")
        return result if result != text else None
    except (AttributeError, IndexError, SyntaxError, ValueError, TypeError):
        return None


def reduce(text, fails):
    """The smallest text found for which `fails(text)` holds, as for the given one."""
    trials, start = 0, 0
    while trials < TRIALS:
        found = edits(ast.parse(text))
        for number in range(len(found)):
            edit = found[(start + number) % len(found)]
            candidate = edited(text, edit)
            if candidate is None or len(candidate) >= len(text) and what_grows(edit):
                continue
            trials += 1
            if fails(candidate):
                text, start = candidate, (start + number) % len(found)
                break
            if trials >= TRIALS:
                return text
        else:
            return text
    return text


def what_grows(edit):
    """Whether an edit that makes no shorter text is not worth a trial."""
    return edit[4] != "drop"
