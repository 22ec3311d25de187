"""A scanner for C++ as this repository writes it: functions, their lengths and parameters, classes.

It knows no types. It tells a function from other braces by what stands before them, which is
enough for code that clang-format has laid out.
"""
import re
from dataclasses import dataclass, field

TOKEN = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<raw>(?:u8|u|U|L)?R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)")
  | (?P<string>"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])*')
  | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<word>[A-Za-z_~]\w*|\d[\w.']*)
  | (?P<sign>::|->|<<=?|&&|\|\||[=!<>]=|[{}()\[\];:,<>=&*])
  | (?P<line>\n)
""", re.X | re.S | re.M)

NOT_FUNCTIONS = {"if", "for", "while", "switch", "catch", "return", "sizeof", "alignof", "decltype",
                 "static_assert", "alignas", "noexcept", "requires", "defined", "using", "explicit"}
CLASS_WORDS = {"class", "struct", "union"}
MACRO = re.compile(r"^([A-Z][A-Z0-9]*_[A-Z0-9_]*|TEST|BENCHMARK)$")
TEST_MACRO = re.compile(r"^(TEST|TEST_F|TEST_P|BENCHMARK\w*|INSTANTIATE\w+)$")


@dataclass
class Token:
    text: str
    line: int


@dataclass
class Function:
    name: str
    line: int
    parameters: int
    lines: int = 0  # 0: a declaration


@dataclass
class Scope:
    kind: str  # namespace, class, function, other
    name: str = ""
    public: bool = True
    methods: set = field(default_factory=set)


def tokens_of(text):
    out, line = [], 1
    for match in TOKEN.finditer(text):
        kind, piece = match.lastgroup, match.group()
        if match.group("raw") is not None:
            kind = "string"
        if kind in ("word", "sign"):
            out.append(Token(piece, line))
        elif kind == "string":
            out.append(Token('""', line))
        line += piece.count("\n")
    return out


def matching(tokens, i):
    """Index of the bracket that closes the one at i."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    opened, closed, depth = tokens[i].text, pairs[tokens[i].text], 0
    for k in range(i, len(tokens)):
        if tokens[k].text == opened:
            depth += 1
        elif tokens[k].text == closed:
            depth -= 1
            if depth == 0:
                return k
    return len(tokens) - 1


def count_parameters(tokens):
    """Number of parameters between the parentheses (exclusive)."""
    if not tokens or (len(tokens) == 1 and tokens[0].text == "void"):
        return 0
    depth = angle = 0
    count = 1
    for token in tokens:
        if token.text in "([{":
            depth += 1
        elif token.text in ")]}":
            depth -= 1
        elif token.text == "<" and depth == 0:
            angle += 1
        elif token.text == ">" and depth == 0:
            angle = max(0, angle - 1)
        elif token.text == "," and depth == 0 and angle == 0:
            count += 1
    return count


class Scanner:
    def __init__(self, text):
        self.tokens = tokens_of(text)
        self.functions = []
        self.classes = []  # (name, line, number of public methods)

    def scan(self):
        self.block(0, len(self.tokens), Scope("namespace"))
        return self

    def block(self, begin, end, scope):
        """Declarations between begin and end: the inside of a namespace or class."""
        i = begin
        while i < end:
            text = self.tokens[i].text
            if text in ("public", "private", "protected") and i + 1 < end and self.tokens[i + 1].text == ":":
                scope.public = text == "public"
                i += 2
            elif text in (";", "}"):
                i += 1
            else:
                i = self.declaration(i, end, scope)

    def declaration(self, begin, end, scope):
        """One declaration that starts at begin; returns the index behind it."""
        i, function, assigned, words = begin, None, False, []
        while i < end:
            text = self.tokens[i].text
            if text == ";":
                self.declared(function, scope, words)
                return i + 1
            if text == "{":
                close = matching(self.tokens, i)
                return self.braces(begin, i, close, end, scope, function, assigned, words)
            if text == "(":
                close = matching(self.tokens, i)
                name = self.tokens[i - 1].text if i > begin else ""
                if function is None and not assigned and self.names_function(name, words):
                    function = Function(name, self.tokens[begin].line,
                                        count_parameters(self.tokens[i + 1:close]))
                i = close + 1
                if MACRO.match(name) and function is not None and function.name == name:
                    if not TEST_MACRO.match(name):
                        function = None
                continue
            if text == "=" and not (words and words[-1] == "operator"):
                assigned = assigned or function is None
            if text == ":" and function is not None:  # constructor initialisers
                i = self.skip_initialisers(i + 1, end)
                continue
            if text == "[":
                i = matching(self.tokens, i) + 1
                continue
            if text == "<" and words and words[-1] == "template":
                i = self.skip_angles(i)
                words.append("<>")
                continue
            words.append(text)
            i += 1
        return end

    def skip_angles(self, i):
        depth = 0
        while i < len(self.tokens):
            if self.tokens[i].text == "<":
                depth += 1
            elif self.tokens[i].text == ">":
                depth -= 1
                if depth == 0:
                    return i + 1
            elif self.tokens[i].text == "(":
                i = matching(self.tokens, i)
            i += 1
        return i

    def skip_initialisers(self, i, end):
        """a_(x), b_{y} ...: the body is the brace that follows a closed initialiser."""
        while i < end:
            while i < end and self.tokens[i].text not in ("(", "{"):
                if self.tokens[i].text == ";":
                    return i
                i += 1
            i = matching(self.tokens, i) + 1
            if i >= end or self.tokens[i].text != ",":
                return i
            i += 1
        return i

    @staticmethod
    def names_function(name, words):
        if name in NOT_FUNCTIONS or name == "operator":
            return False
        return "operator" in words or bool(re.match(r"^[A-Za-z_~]\w*$", name))

    def declared(self, function, scope, words):
        if function is None or "friend" in words or "using" in words or "typedef" in words:
            return
        self.functions.append(function)
        self.count_method(function, scope, words)

    @staticmethod
    def count_method(function, scope, words):
        if scope.kind != "class" or not scope.public:
            return
        special = function.name == scope.name or function.name.startswith("~") or "operator" in words
        accessor = function.name.islower()  # named like a variable: reads or writes one member
        if not special and not accessor and "friend" not in words:
            scope.methods.add(function.name)  # overloads are one method

    def braces(self, begin, i, close, end, scope, function, assigned, words):
        """What the brace at i opens; returns the index behind the declaration."""
        heads = [w for w in words if w in CLASS_WORDS or w in ("namespace", "enum", "extern")]
        if "namespace" in heads or ("extern" in heads and function is None and not assigned):
            self.block(i + 1, close, Scope("namespace"))
            return close + 1
        if function is not None and not assigned:
            function.lines = self.tokens[close].line - function.line + 1
            self.functions.append(function)
            self.count_method(function, scope, words)
            return close + 1
        if "enum" not in heads and any(h in CLASS_WORDS for h in heads) and not assigned:
            name = self.class_name(words)
            inner = Scope("class", name, public="class" not in heads)
            self.block(i + 1, close, inner)
            self.classes.append((name, self.tokens[begin].line, len(inner.methods)))
        # an initialiser, an enum or the end of a class: up to its semicolon
        k = close + 1
        while k < end and self.tokens[k].text not in (";", "{", "(", "}"):
            k += 1
        if k < end and self.tokens[k].text == ";":
            return k + 1
        return self.declaration_tail(close + 1, end)

    def declaration_tail(self, i, end):
        while i < end and self.tokens[i].text != ";":
            i = matching(self.tokens, i) + 1 if self.tokens[i].text in "({[" else i + 1
        return i + 1

    @staticmethod
    def class_name(words):
        """The last plain word before a base clause."""
        name = ""
        for word in words:
            if word == ":":
                break
            if re.match(r"^[A-Za-z_]\w*$", word) and word not in CLASS_WORDS and word != "final" \
                    and not MACRO.match(word):
                name = word
        return name
