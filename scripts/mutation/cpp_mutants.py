# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small semantic changes of C++ sources, all compiled into one program and chosen when it runs.

A mutant is one change: `<` for `<=`, a condition negated, a statement left out, another enumerator, a constant plus one.
Compiling a program for each would take hours. So every statement, condition or initialiser that has mutants is written
several times, behind `TENON_MUTANT(number)`, which is true for the number in the environment:

    if (size < limit)      becomes   if ((TENON_MUTANT(7) ? bool(size <= limit) : bool(size < limit)))
    total += size;         becomes   { if (TENON_MUTANT(8)) { total -= size; } else if (TENON_MUTANT(9)) { } else { total += size; } }

What must be constant when it is compiled cannot be chosen later; the compiler says so, and such mutants are dropped.
"""
import bisect
import dataclasses
import hashlib
import re

TOKEN = re.compile(r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<string>R"(?P<delimiter>[^()\s]*)\(.*?\)(?P=delimiter)"|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.']|(?<=\w)')*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<operator><=>|->\*|<<=|>>=|\.\.\.|::|->|\+\+|--|&&|\|\||[-+*/%&|^=!<>]=|<<|>>|[-+*/%&|^~!=<>?:;,.(){}\[\]\#\\@`$])
""", re.VERBOSE | re.DOTALL | re.MULTILINE)

RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGIC = {"&&": "||", "||": "&&"}
ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "|": "&", "&": "|", "^": "&", "<<": ">>", ">>": "<<"}
ASSIGNMENTS = {"+=": "-=", "-=": "+=", "|=": "=", "&=": "=", "^=": "|=", "++": "--", "--": "++"}
NO_STATEMENT = {"using", "typedef", "static_assert", "goto", "struct", "class", "enum", "union", "namespace", "template", "public",
                "private", "protected", "friend", "extern", "switch", "do", "try", "catch", "delete", "operator", "constexpr",
                "static", "concept", "case", "default", "if", "for", "while", "else", "asm", "inline", "virtual", "explicit"}
MOST_IN_ONE_PLACE = 16


@dataclasses.dataclass
class Token:
    kind: str
    text: str
    begin: int
    end: int
    partner: int = -1  # of a bracket: the other one's position
    outer: int = -1  # the position of the bracket around it


@dataclasses.dataclass
class Mutant:
    path: str
    begin: int
    end: int
    replacement: str
    operator: str  # which kind of change
    line: int
    before: str = ""  # what stood there
    source: str = ""  # its line
    place: tuple = ()  # kind and range of what is written several times
    nth: int = 1  # among the same changes of lines that read the same, in one file
    number: int = 0

    def identity(self):
        """The same for the same change of the same line, wherever the line has moved to."""
        text = "\0".join([self.path, self.source, self.operator, self.before, self.replacement])
        if self.nth > 1:
            text += f"\0{self.nth}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def describe(self):
        change = f"without '{self.before}'" if self.operator == "removal" else f"'{self.before}' -> '{self.replacement}'"
        return f"{self.path}:{self.line}: {self.operator}: {' '.join(change.split())}"


class Source:
    """A file, its tokens, and what may be changed in it."""

    def __init__(self, path, text, enumerators=None):
        self.path, self.text = path, text
        self.enumerators = enumerators or {}
        self.lines = [0] + [i + 1 for i, c in enumerate(text) if c == "\n"]
        self.tokens = []
        position = 0
        while position < len(text):
            match = TOKEN.match(text, position)
            if not match:
                position += 1
                continue
            position = match.end()
            if match.lastgroup != "space" and not match.group("space"):
                kind = next(k for k in ("string", "number", "word", "operator") if match.group(k))
                self.tokens.append(Token(kind, match.group(), match.start(), match.end()))
        stack = []
        for i, token in enumerate(self.tokens):
            token.outer = stack[-1] if stack else -1
            if token.kind == "operator" and token.text in "([{":
                stack.append(i)
            elif token.kind == "operator" and token.text in ")]}" and stack:
                token.outer = self.tokens[stack[-1]].outer
                self.tokens[stack[-1]].partner = i
                token.partner = stack.pop()

    def at(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def spaced(self, i):
        """A space on both sides, or the end of a line: a binary operator, as clang-format writes it."""
        token = self.tokens[i]
        return self.text[token.begin - 1:token.begin].isspace() and self.text[token.end:token.end + 1].isspace()

    # ------------------------------------------------------------------------------------------------ where a token is

    def is_block(self, i):
        """Whether the brace at `i` begins a list of statements."""
        before = self.at(i - 1)
        if before in (")", "else", "do", "{", "}", ";", "mutable", "noexcept", "const", "override", "try"):
            # a body of a class after a base or a name is none, nor is the list behind a cast's parenthesis
            return self.opens_function_or_statement(i)
        if before == ":":  # a label, if a case stands before it
            return True
        if before in ("]",):  # a lambda without parameters
            return True
        # `-> type {` of a function or lambda
        j = i - 1
        while j >= 0 and (self.tokens[j].kind == "word" or self.at(j) in ("::", "<", ">", ",", "*", "&")):
            j -= 1
        return self.at(j) == "->"

    def opens_function_or_statement(self, i):
        before = self.at(i - 1)
        if before in ("{", "}", ";", "else", "do", "mutable", "noexcept", "const", "override", "try"):
            return before != "{" or self.tokens[i].outer < 0 or self.is_block(self.tokens[i].outer)
        return True

    def statement(self, i):
        """[first, last) tokens of the innermost statement around token i, without what guards it, or nothing."""
        brace = self.tokens[i].outer
        while brace >= 0 and not (self.at(brace) == "{" and self.is_block(brace)):
            brace = self.tokens[brace].outer
        if brace < 0:
            return None
        first = brace + 1
        position = first
        last = None
        while position < len(self.tokens):
            text = self.at(position)
            if text in "([{" and self.tokens[position].kind == "operator" and self.tokens[position].partner >= 0:
                partner = self.tokens[position].partner
                is_block = text == "{" and self.is_block(position) and self.at(position - 1) != "]" and not self.in_lambda(position)
                if partner >= i and position <= i and is_block:
                    return None  # cannot be: the innermost block is `brace`
                position = partner + 1
                if is_block:
                    if position > i and first <= i:
                        return None
                    first = position
                continue
            if text == ";":
                if position >= i:
                    last = position + 1
                    break
                first = position + 1
            elif text == "}":
                return None
            position += 1
        if last is None or i < first:
            return None
        while True:  # what guards the statement
            text = self.at(first)
            skip = None
            if text in ("if", "while", "for", "switch"):
                open_ = first + 1 + (self.at(first + 1) == "constexpr")
                if self.at(open_) == "(":
                    skip = self.tokens[open_].partner + 1
            elif text in ("else", "do"):
                skip = first + 1
            elif text in ("case", "default"):
                j = first
                while j < last and self.at(j) != ":":
                    j += 1
                skip = j + 1
            if skip is None or skip > i:
                break
            first = skip
        return (first, last) if first <= i < last else None

    def in_lambda(self, i):
        """Whether the brace at i opens a lambda's body: `](...) {`, `](...) -> type {`, `] {`."""
        j = i - 1
        while j >= 0 and (self.tokens[j].kind == "word" or self.at(j) in ("::", "<", ">", "*", "&", "->")) :
            if self.at(j) in ("else", "do", "try"):
                return False
            j -= 1
        if self.at(j) == ")" and self.tokens[j].partner > 0:
            return self.at(self.tokens[j].partner - 1) == "]"
        return self.at(j) == "]"

    def place_of(self, i):
        """('condition' | 'statement' | 'return' | 'value', begin, end) in bytes; nothing where it cannot be chosen later."""
        open_ = self.tokens[i].outer
        while open_ >= 0 and self.at(open_) in "([":
            keyword = self.at(open_ - 1)
            if self.at(open_) == "(" and keyword in ("if", "while"):
                return self.condition(open_ + 1, self.tokens[open_].partner, i)
            if self.at(open_) == "(" and keyword == "constexpr":
                return None
            if self.at(open_) == "(" and keyword == "for":
                parts = [j for j in range(open_ + 1, self.tokens[open_].partner)
                         if self.at(j) == ";" and self.tokens[j].outer == open_]
                if len(parts) == 2 and parts[0] < i < parts[1]:
                    return self.condition(parts[0] + 1, parts[1], i)
                return None
            open_ = self.tokens[open_].outer
        found = self.statement(i)
        if not found:
            return None
        first, last = found
        head = self.at(first)
        if any(self.at(j) in ("static", "constexpr") for j in range(first, min(first + 3, last))):
            return None
        if head == "return":
            return ("return", self.tokens[first].begin, self.tokens[last - 1].end)
        if head in NO_STATEMENT:
            return None
        equals = next((j for j in range(first, last) if self.at(j) == "=" and self.tokens[j].outer == self.tokens[first].outer), None)
        if self.is_declaration(first, equals if equals is not None else last - 1):
            if equals is None or i < equals or self.at(equals + 1) in ("{", "["):
                return None
            depth = self.tokens[first].outer
            end = next((j for j in range(equals, last) if self.at(j) == "," and self.tokens[j].outer == depth), last - 1)
            return ("value", self.tokens[equals + 1].begin, self.tokens[end].begin) if i < end else None
        return ("statement", self.tokens[first].begin, self.tokens[last - 1].end)

    def is_declaration(self, first, end):
        """Whether tokens [first, end) are a type and a name."""
        if self.at(first) in ("const", "auto", "unsigned", "signed", "int", "bool", "char", "float", "double", "size_t"):
            return True
        j = first
        depth = 0
        while j < end:
            text = self.at(j)
            if text == "<":
                depth += 1
            elif text in (">", ">>"):
                depth -= len(text)
            elif depth == 0 and not (self.tokens[j].kind == "word" or text in ("::", "*", "&", "&&")):
                return False
            elif depth == 0 and self.tokens[j].kind == "word" and j > first and (
                    self.tokens[j - 1].kind == "word" or self.at(j - 1) in ("*", "&", "&&", ">", ">>")):
                return True
            j += 1
        return False

    def condition(self, first, last, i):
        semicolons = [j for j in range(first, last) if self.at(j) == ";"]
        if semicolons and i > semicolons[-1]:
            first = semicolons[-1] + 1
        elif semicolons:
            return None
        if any(self.at(j) == "=" for j in range(first, last)) or first >= last:
            return None
        if any(self.at(j) == ":" and self.tokens[j].outer == self.tokens[first].outer for j in range(first, last)) and \
                not any(self.at(j) == "?" for j in range(first, last)):
            return None
        return ("condition", self.tokens[first].begin, self.tokens[last - 1].end)

    def is_constant_of_header(self, i):
        """Whether the token stands in what others may need when they compile, and cannot be chosen later: a variable, the
        size of an array, an enumerator."""
        if not self.path.endswith(".h"):
            return False
        open_ = self.tokens[i].outer
        if self.at(open_) == "[":
            return True
        if self.at(open_) == "{" and any(self.at(j) == "enum" for j in range(max(open_ - 6, 0), open_)):
            return True
        while i > 0 and self.at(i - 1) not in (";", "}") and not (self.at(i - 1) == "{" and self.is_block(i - 1)):
            i -= 1
            if self.at(i) == "constexpr":
                return True
        return False

    # ------------------------------------------------------------------------------------------------------ the mutants

    def mutant(self, begin, end, replacement, operator, place):
        line = bisect.bisect_right(self.lines, begin)
        stop = self.text.find("\n", begin)
        source = self.text[self.lines[line - 1]:stop if stop >= 0 else len(self.text)].strip()
        return Mutant(self.path, begin, end, replacement, operator, line, self.text[begin:end], source, place)

    def mutants(self):
        found = []
        removable = set()
        for i, token in enumerate(self.tokens):
            inline = None if self.is_constant_of_header(i) else ("inline", token.begin, token.end)
            place = self.place_of(i)
            add = lambda replacement, operator, where: found.append(  # noqa: E731
                self.mutant(token.begin, token.end, replacement, operator, where))
            if token.kind == "operator" and place and self.spaced(i):
                for name, table in (("relation", RELATIONS), ("logic", LOGIC), ("arithmetic", ARITHMETIC)):
                    if token.text in table:
                        add(table[token.text], name, place)
            if token.kind == "operator" and place and token.text in ASSIGNMENTS:
                add(ASSIGNMENTS[token.text], "assignment", place)
            if token.kind == "number" and re.fullmatch(r"\d+[uUlL]*|0x[0-9a-fA-F]+[uUlL]*", token.text):
                digits = token.text.rstrip("uUlL")
                value = int(digits, 0) if digits.startswith("0x") or not digits.startswith("0") else int(digits, 8)
                suffix = token.text[len(digits):]
                if place or inline:
                    add(f"{value + 1}{suffix}", "constant", place or inline)
            if token.text in ("true", "false") and (place or inline):
                add("false" if token.text == "true" else "true", "constant", place or inline)
            if token.kind == "word" and self.at(i - 1) == "::" and self.at(i - 2) in self.enumerators and self.at(i + 1) != "::":
                names = self.enumerators[self.at(i - 2)]
                if token.text in names and len(names) > 1 and self.at(i - 3) != "case" and (place or inline):
                    other = names[(names.index(token.text) + 1) % len(names)]
                    begin = self.tokens[i - 2].begin
                    found.append(self.mutant(begin, token.end, f"{self.at(i - 2)}::{other}", "enumerator",
                                             place or ("inline", begin, token.end)))
            if token.text in ("if", "while") and self.at(i + 1) == "(":
                where = self.condition(i + 2, self.tokens[i + 1].partner, self.tokens[i + 1].partner - 1)
                if where:
                    found.append(self.mutant(where[1], where[2], f"!({self.text[where[1]:where[2]]})", "negation", where))
            if place and place[0] == "statement" and place[1] not in removable:
                removable.add(place[1])
                found.append(self.mutant(place[1], place[2], ";", "removal", place))
            if token.text == "(" and place:
                self.add_swap(i, place, found)
        for where in {m.place for m in found}:  # a place with very many would be written as often
            inside = [m for m in found if m.place == where]
            for extra in inside[MOST_IN_ONE_PLACE:]:
                found.remove(extra)
        seen = {}
        for m in found:
            same = (m.source, m.operator, m.before, m.replacement)
            m.nth = seen[same] = seen.get(same, 0) + 1
        return found

    def add_swap(self, i, place, found):
        """The first two arguments of a call, where they are names."""
        if i == 0 or self.tokens[i - 1].kind != "word" or self.at(i - 1) in ("if", "for", "while", "switch", "return", "sizeof"):
            return
        a, comma, b = (self.tokens[j] if j < len(self.tokens) else None for j in (i + 1, i + 2, i + 3))
        if b and a.kind == "word" and comma.text == "," and b.kind == "word" and self.at(i + 4) in (",", ")") and a.text != b.text:
            found.append(self.mutant(a.begin, b.end, f"{b.text}, {a.text}", "swap", place))


def enumerators_of(texts):
    """{name: [enumerators]} of the scoped enumerations in some sources."""
    found = {}
    for text in texts:
        for match in re.finditer(r"enum class (\w+)[^{;]*\{([^}]*)\}", text):
            body = re.sub(r"//[^\n]*", "", match.group(2))
            names = [part.split("=")[0].strip() for part in body.split(",")]
            names = [name for name in names if re.fullmatch(r"\w+", name)]
            if names and match.group(1) not in found:
                found[match.group(1)] = names
    return found


def instrumented(text, mutants):
    """The text with every mutant in it, each under its number."""
    places = {}
    for mutant in mutants:
        places.setdefault(mutant.place, []).append(mutant)
    order = sorted(places, key=lambda place: (place[1], -place[2]))

    def changed(place, mutant):
        """What stands there with the change, as line `number` of a file "mutant", so that the compiler names it."""
        line = text.count("\n", 0, place[1]) + 1
        body = text[place[1]:mutant.begin] + mutant.replacement + text[mutant.end:place[2]]
        body = re.sub(r"//[^\n]*", "", body).replace("\n", " ")
        return f'\n#line {mutant.number} "mutant"\n{body}\n#line {line} "{mutant.path}"\n'

    def written(place, plain):
        kind, chosen = place[0], places[place]
        if kind == "inline" or kind == "value":
            return "(" + "".join(f"TENON_MUTANT({m.number}) ? ({changed(place, m)}) : " for m in chosen) + f"({plain}))"
        if kind == "condition":
            return "(" + "".join(f"TENON_MUTANT({m.number}) ? bool({changed(place, m)}) : " for m in chosen) + f"bool({plain}))"
        arms = "".join(f"if (TENON_MUTANT({m.number})) {{ {changed(place, m)} }} else " for m in chosen)
        return f"{{ {arms}{{ {plain} }} }}"

    def render(begin, end, start):
        out, position, i = [], begin, start
        while i < len(order) and order[i][1] < end:
            place = order[i]
            if place[1] < position or place[2] > end:
                i += 1
                continue
            out.append(text[position:place[1]])
            j = i + 1
            out.append(written(place, render(place[1], place[2], j)))
            position = place[2]
            while j < len(order) and order[j][1] < position:
                j += 1
            i = j
        out.append(text[position:end])
        return "".join(out)

    return render(0, len(text), 0)
