# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random bodies of kernels, as text of Python that both a kernel and Python itself run: integers, floats, loops, branches, exits.

A body computes from `i` (the thread), `x` (an array of integers), `f` (an array of floats) and writes `out[i]` and `g[i]`. Integers are kept
small, and floats are halves of small integers, so that nothing wraps or rounds: then Python's results are the kernel's, bit for bit.
"""
import random

N = 64


class Body:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.loops, self.labels = [], 0, 0

    def pick(self, *given):
        return self.random.choice(given)

    def integer(self, depth=3):
        """An expression; its value is made small where it is assigned."""
        if depth == 0 or self.random.random() < 0.2:
            return self.pick("a", "b", "i", f"x[{self.index()}]", str(self.random.randint(-9, 9)), "a", "b")
        kind = self.random.randrange(13)
        one, two = self.integer(depth - 1), self.integer(depth - 1)
        if kind < 4:
            return f"({one} {self.pick('+', '-')} {two})"
        if kind == 4:
            return f"(small({one}) * small({two}))"
        if kind == 5:
            return f"(small({one}) {self.pick('//', '%')} {self.pick(-7, -4, -1, 1, 2, 3, 8, 10)})"
        if kind == 6:
            return f"(small({one}) {self.pick('//', '%')} {self.pick('', '-')}(abs(small({two})) + 1))"
        if kind == 7:
            return f"(small({one}) {self.pick('<<', '>>')} {self.random.randint(0, 6)})"
        if kind == 8:
            return f"(small({one}) {self.pick('&', '|', '^')} small({two}))"
        if kind == 9:
            return f"({one} if {self.condition(depth - 1)} else {two})"
        if kind == 10:
            return f"{self.pick('min', 'max')}({one}, {two})"
        if kind == 11:
            return f"find(x, small({one}), {self.random.randint(0, 12)})"
        return f"({self.pick('-', '+', '~')}{one})"

    def index(self):
        return self.pick("i", "(i * 5 + 3) % 64", "a % 64", str(self.random.randint(-64, 63)))

    def float_(self, depth=3):
        if depth == 0 or self.random.random() < 0.2:
            return self.pick("s", "t", f"f[{self.index()}]", str(self.random.randint(-6, 6) / 2), "s")
        one, two = self.float_(depth - 1), self.float_(depth - 1)
        kind = self.random.randrange(6)
        if kind < 3:
            return f"({one} {self.pick('+', '-')} {two})"
        if kind == 3:
            return f"(half({one}) * {self.pick('half(' + two + ')', '2', '0.5', '-1')})"
        if kind == 4:
            return f"({one} if {self.condition(depth - 1)} else {two})"
        return f"{self.pick('min', 'max')}({one}, {two})" if self.random.random() < 0.7 else f"{self.pick('abs', '-')}({one})"

    def condition(self, depth=2):
        if depth <= 0:
            return f"a {self.pick('<', '>=', '==', '!=')} {self.random.randint(-9, 9)}"
        kind = self.random.randrange(7)
        if kind == 0:
            return f"(not {self.condition(depth - 1)})"
        if kind == 1:
            return f"({self.condition(depth - 1)} {self.pick('and', 'or')} {self.condition(depth - 1)})"
        if kind == 2:
            return f"({self.integer(1)} {self.pick('<', '<=')} {self.integer(1)} {self.pick('<', '<=', '!=')} {self.integer(1)})"
        if kind == 3:
            return f"({self.float_(1)} {self.pick('<', '<=', '>', '==', '!=')} {self.float_(1)})"
        if kind == 4:
            return f"(i < 64 and x[i] {self.pick('<', '>')} {self.random.randint(-50, 50)})"
        return f"({self.integer(1)} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.integer(1)})"

    def write(self, depth, text):
        self.lines.append("    " * depth + text)

    def statements(self, depth, count, in_loop):
        for _ in range(count):
            self.statement(depth, in_loop)

    def statement(self, depth, in_loop):
        kind = self.random.randrange(16)
        if kind < 4 or depth > 4:
            name = self.pick("a", "b")
            self.write(depth, f"{name} = small({self.integer()})")
        elif kind < 6:
            name = self.pick("s", "t")
            self.write(depth, f"{name} = half({self.float_()})")
        elif kind == 6:
            self.write(depth, f"a, b = small({self.integer(2)}), a")
        elif kind == 7:
            self.write(depth, f"{self.pick('a', 'b')} {self.pick('+=', '-=', '^=')} small({self.integer(1)})")
            self.write(depth, "a, b = small(a), small(b)")
        elif kind < 11:
            self.write(depth, f"if {self.condition()}:")
            self.statements(depth + 1, self.random.randint(1, 3), in_loop)
            if self.random.random() < 0.3:
                self.write(depth, f"elif {self.condition()}:")
                self.statements(depth + 1, self.random.randint(1, 2), in_loop)
            if self.random.random() < 0.5:
                self.write(depth, "else:")
                self.statements(depth + 1, self.random.randint(1, 2), in_loop)
        elif kind < 13 and self.loops < 4:
            self.loops += 1
            name = f"k{self.loops}"
            bounds = self.pick("4", "a % 5", "i % 3", "-2, 3", "5, -4, -2", "0, abs(b) % 7, 2", "3, 3", "i % 4, -2, -1", "0, 9, i % 3 + 1", "a % 4, 8, max(b, 2)")
            over = f"range({bounds})" if self.random.random() < 0.75 else f"static_range({self.pick('3', '2, -2, -1')})"
            self.write(depth, f"for {name} in {over}:")
            self.write(depth + 1, f"a = small(a + {name})")
            self.statements(depth + 1, self.random.randint(1, 3), True)
        elif kind == 13 and self.loops < 4:
            self.loops += 1
            name = f"w{self.loops}"
            self.write(depth, f"{name} = 0")
            self.write(depth, f"while {name} < 5 {self.pick('and', 'and not')} {self.condition(1)}:")
            self.write(depth + 1, f"{name} += 1")
            self.statements(depth + 1, self.random.randint(1, 2), True)
        elif in_loop:
            self.write(depth, f"if {self.condition(1)}:")
            if self.random.random() < 0.3:
                self.write(depth + 1, "b = small(b + 1)")
            self.write(depth + 1, self.pick("break", "continue", "break", "continue", "return"))
        elif kind == 14:
            self.write(depth, f"if {self.condition(1)}:")
            self.write(depth + 1, "g[i] = s")
            self.write(depth + 1, "return")
        else:
            self.write(depth, f"out[i] {self.pick('=', '+=', '-=')} small({self.integer(2)})")

    def text(self):
        self.lines = []
        self.statements(1, self.random.randint(4, 9), False)
        self.write(1, "out[i] = a * 1000 + b")
        self.write(1, "g[i] = s + t")
        return "\n".join(self.lines)


HEAD = """
def small(v):
    return v % 201 - 100

def half(v):
    return floor((v if -64 <= v <= 64 else v * 0) * 2) * 0.5

def find(x, wanted, most):
    at = 0
    while at < most:
        if x[at] > wanted:
            return at
        for k in range(2):
            if x[at + k] == wanted:
                return -k
        at += 1
    return wanted

def body(i, x, f, out, g):
    a, b = x[i], x[(i + 7) % 64]
    s, t = f[i], 1.5
"""


def source(seed):
    """A module with `small`, `half` and `body`."""
    return HEAD + Body(seed).text() + "\n"
