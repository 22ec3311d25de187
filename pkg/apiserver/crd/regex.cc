#include "pkg/apiserver/crd/regex.h"

#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace hekla::apiserver::crd {
namespace {

using Set = std::bitset<256>;

constexpr size_t kMaxProgram = 20000;
constexpr int kMaxDepth = 100;

template <typename Predicate>
Set SetOf(Predicate predicate) {
  Set out;
  for (int c = 0; c < 256; ++c) out[c] = predicate(static_cast<unsigned char>(c));
  return out;
}

bool IsWordByte(unsigned char c) { return absl::ascii_isalnum(c) || c == '_'; }

// The class behind a backslash, if it is one.
std::optional<Set> EscapedClass(char c) {
  switch (c) {
    case 'd':
      return SetOf([](unsigned char b) { return absl::ascii_isdigit(b); });
    case 'D':
      return SetOf([](unsigned char b) { return !absl::ascii_isdigit(b); });
    case 'w':
      return SetOf(IsWordByte);
    case 'W':
      return SetOf([](unsigned char b) { return !IsWordByte(b); });
    case 's':
      return SetOf([](unsigned char b) { return absl::ascii_isspace(b) && b != '\v'; });
    case 'S':
      return SetOf([](unsigned char b) { return !(absl::ascii_isspace(b) && b != '\v'); });
    default:
      return std::nullopt;
  }
}

std::optional<Set> NamedClass(absl::string_view name) {
  if (name == "alpha") return SetOf(absl::ascii_isalpha);
  if (name == "digit") return SetOf(absl::ascii_isdigit);
  if (name == "alnum") return SetOf(absl::ascii_isalnum);
  if (name == "upper") return SetOf(absl::ascii_isupper);
  if (name == "lower") return SetOf(absl::ascii_islower);
  if (name == "space") return SetOf(absl::ascii_isspace);
  if (name == "punct") return SetOf(absl::ascii_ispunct);
  if (name == "xdigit") return SetOf(absl::ascii_isxdigit);
  if (name == "word") return SetOf(IsWordByte);
  return std::nullopt;
}

char ControlEscape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    default:
      return c;
  }
}

}  // namespace

// Compiles a pattern into a program for a simulation of all branches at once.
class RegexCompiler {
 public:
  RegexCompiler(absl::string_view pattern, Regex& out) : text_(pattern), out_(out) {}

  bool Run() {
    if (!Alternatives(0) || at_ != text_.size()) return false;
    Emit(Regex::Op::kMatch);
    return out_.program_.size() <= kMaxProgram;
  }

 private:
  using Op = Regex::Op;
  using Program = std::vector<Regex::Instruction>;

  bool More() const { return at_ < text_.size(); }
  int Emit(Op op, int x = 0, int y = 0) {
    out_.program_.push_back({op, x, y});
    return static_cast<int>(out_.program_.size()) - 1;
  }
  int Here() const { return static_cast<int>(out_.program_.size()); }

  // Moves the code from `begin` on by `by` places, jumps included.
  void Insert(int begin, Regex::Instruction instruction) {
    Program& p = out_.program_;
    for (int i = begin; i < static_cast<int>(p.size()); ++i) Shift(p[i], begin, 1);
    p.insert(p.begin() + begin, instruction);
  }
  static void Shift(Regex::Instruction& i, int from, int by) {
    if (i.op != Op::kSplit && i.op != Op::kJump) return;
    if (i.x >= from) i.x += by;
    if (i.op == Op::kSplit && i.y >= from) i.y += by;
  }

  bool Alternatives(int depth) {
    if (depth > kMaxDepth) return false;
    const int begin = Here();
    if (!Sequence(depth)) return false;
    if (!More() || text_[at_] != '|') return true;
    ++at_;
    Insert(begin, {Op::kSplit, begin + 1, Here() + 2});
    const int jump = Emit(Op::kJump);
    if (!Alternatives(depth + 1)) return false;
    out_.program_[jump].x = Here();
    return true;
  }

  bool Sequence(int depth) {
    while (More() && text_[at_] != '|' && text_[at_] != ')') {
      const int begin = Here();
      if (!Atom(depth) || !Repeat(begin)) return false;
      if (out_.program_.size() > kMaxProgram) return false;
    }
    return true;
  }

  bool Atom(int depth) {
    const char c = text_[at_++];
    switch (c) {
      case '(': {
        absl::string_view rest = text_.substr(at_);
        if (absl::ConsumePrefix(&rest, "?")) {
          if (absl::ConsumePrefix(&rest, "P<")) {
            const size_t end = rest.find('>');
            if (end == absl::string_view::npos) return false;
            rest.remove_prefix(end + 1);
          } else if (!absl::ConsumePrefix(&rest, ":")) {
            return false;
          }
          at_ = text_.size() - rest.size();
        }
        if (!Alternatives(depth + 1) || !More() || text_[at_] != ')') return false;
        ++at_;
        return true;
      }
      case '[':
        return Bracket();
      case '.':
        return Single(SetOf([](unsigned char b) { return b != '\n'; }));
      case '^':
        Emit(Op::kBegin);
        return true;
      case '$':
        Emit(Op::kEnd);
        return true;
      case '\\':
        return Escape();
      case '*':
      case '+':
      case '?':
        return false;
      default:
        return Literal(c);
    }
  }

  bool Escape() {
    if (!More()) return false;
    const char c = text_[at_++];
    if (c == 'b' || c == 'B') {
      Emit(c == 'b' ? Op::kWord : Op::kNotWord);
      return true;
    }
    if (c == 'A' || c == 'z') {
      Emit(c == 'A' ? Op::kBegin : Op::kEnd);
      return true;
    }
    if (const std::optional<Set> set = EscapedClass(c)) return Single(*set);
    if (absl::ascii_isdigit(c) || c == 'p' || c == 'P' || c == 'Q') return false;
    return Literal(ControlEscape(c));
  }

  bool Literal(char c) {
    Set set;
    set.set(static_cast<unsigned char>(c));
    return Single(set);
  }
  bool Single(const Set& set) {
    out_.sets_.push_back(set);
    Emit(Op::kSet, static_cast<int>(out_.sets_.size()) - 1);
    return true;
  }

  bool Bracket() {
    Set set;
    const bool negated = More() && text_[at_] == '^';
    if (negated) ++at_;
    for (bool first = true; More() && (text_[at_] != ']' || first); first = false) {
      if (text_.substr(at_, 2) == "[:") {
        const size_t end = text_.find(":]", at_);
        if (end == absl::string_view::npos) return false;
        const std::optional<Set> named = NamedClass(text_.substr(at_ + 2, end - at_ - 2));
        if (!named) return false;
        set |= *named;
        at_ = end + 2;
        continue;
      }
      unsigned char low = text_[at_++];
      if (low == '\\') {
        if (!More()) return false;
        const char c = text_[at_++];
        if (const std::optional<Set> named = EscapedClass(c)) {
          set |= *named;
          continue;
        }
        low = ControlEscape(c);
      }
      unsigned char high = low;
      if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
        ++at_;
        high = text_[at_++];
        if (high == '\\') {
          if (!More()) return false;
          high = ControlEscape(text_[at_++]);
        }
      }
      if (high < low) return false;
      for (int c = low; c <= high; ++c) set.set(c);
    }
    if (!More()) return false;
    ++at_;
    return Single(negated ? ~set : set);
  }

  // Applies the repetition after the atom that begins at `begin`.
  bool Repeat(int begin) {
    if (!More()) return true;
    int min = 0;
    int max = -1;  // endless
    const char c = text_[at_];
    if (c == '*') {
      ++at_;
    } else if (c == '+') {
      min = 1, ++at_;
    } else if (c == '?') {
      max = 1, ++at_;
    } else if (c != '{' || !Bounds(min, max)) {
      return true;
    }
    if (More() && text_[at_] == '?') ++at_;  // laziness does not change whether it matches
    if (max != -1 && (max < min || max > 1000)) return false;
    if (min > 1000) return false;
    const Program atom(out_.program_.begin() + begin, out_.program_.end());
    out_.program_.resize(begin);
    for (int i = 0; i < min; ++i) {
      if (!Copy(atom, begin)) return false;
    }
    if (max == -1) {
      const int loop = Emit(Op::kSplit, Here() + 1, 0);
      if (!Copy(atom, begin)) return false;
      Emit(Op::kJump, loop);
      out_.program_[loop].y = Here();
      return true;
    }
    std::vector<int> exits;
    for (int i = min; i < max; ++i) {
      exits.push_back(Emit(Op::kSplit, Here() + 1, 0));
      if (!Copy(atom, begin)) return false;
    }
    for (int exit : exits) out_.program_[exit].y = Here();
    return true;
  }

  bool Copy(const Program& atom, int begin) {
    if (out_.program_.size() + atom.size() > kMaxProgram) return false;
    const int by = Here() - begin;
    for (Regex::Instruction i : atom) {
      Shift(i, begin, by);
      out_.program_.push_back(i);
    }
    return true;
  }

  // {3}, {3,} or {3,5}; leaves the text alone where it is none of these.
  bool Bounds(int& min, int& max) {
    const size_t end = text_.find('}', at_);
    if (end == absl::string_view::npos) return false;
    absl::string_view body = text_.substr(at_ + 1, end - at_ - 1);
    const size_t comma = body.find(',');
    if (!absl::SimpleAtoi(body.substr(0, comma), &min)) return false;
    if (comma == absl::string_view::npos) {
      max = min;
    } else if (comma + 1 < body.size()) {
      if (!absl::SimpleAtoi(body.substr(comma + 1), &max)) return false;
    }
    at_ = end + 1;
    return true;
  }

  absl::string_view text_;
  Regex& out_;
  size_t at_ = 0;
};

Regex::Regex(absl::string_view pattern) {
  if (pattern.size() <= kMaxProgram) valid_ = RegexCompiler(pattern, *this).Run();
}

void Regex::Follow(int at, size_t position, absl::string_view text, std::vector<int>& list,
                   std::vector<uint32_t>& mark, uint32_t stamp) const {
  std::vector<int> todo = {at};
  while (!todo.empty()) {
    const int i = todo.back();
    todo.pop_back();
    if (mark[i] == stamp) continue;
    mark[i] = stamp;
    const Instruction& in = program_[i];
    const bool before = position > 0 && IsWordByte(text[position - 1]);
    const bool after = position < text.size() && IsWordByte(text[position]);
    switch (in.op) {
      case Op::kJump:
        todo.push_back(in.x);
        break;
      case Op::kSplit:
        todo.push_back(in.y);
        todo.push_back(in.x);
        break;
      case Op::kBegin:
        if (position == 0) todo.push_back(i + 1);
        break;
      case Op::kEnd:
        if (position == text.size()) todo.push_back(i + 1);
        break;
      case Op::kWord:
        if (before != after) todo.push_back(i + 1);
        break;
      case Op::kNotWord:
        if (before == after) todo.push_back(i + 1);
        break;
      case Op::kSet:
      case Op::kMatch:
        list.push_back(i);
        break;
    }
  }
}

bool Regex::Matches(absl::string_view text) const {
  if (!valid_) return false;
  std::vector<int> now, next;
  std::vector<uint32_t> mark(program_.size(), 0);
  for (size_t position = 0; position <= text.size(); ++position) {
    const uint32_t stamp = static_cast<uint32_t>(position + 1);
    // What arrived here has been followed with this stamp already; a match may also begin here.
    Follow(0, position, text, now, mark, stamp);
    next.clear();
    for (int i : now) {
      if (program_[i].op == Op::kMatch) return true;
      if (position < text.size() &&
          sets_[program_[i].x].test(static_cast<unsigned char>(text[position]))) {
        Follow(i + 1, position + 1, text, next, mark, stamp + 1);
      }
    }
    now.swap(next);
  }
  return false;
}

}  // namespace hekla::apiserver::crd
