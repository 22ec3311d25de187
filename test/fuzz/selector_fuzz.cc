#include "glog/logging.h"
#include "pkg/apis/meta/selector.h"
#include "test/fuzz/fuzz_target.h"

namespace meta = hekla::apis::meta;

// Selectors of strangers are read or refused; a requirement and its negation never both hold.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto fields = meta::ParseFieldSelector(text); fields.ok()) {
    meta::MatchesFields(*fields, [](absl::string_view field) { return std::string(field); });
  }
  auto requirements = meta::ParseLabelSelector(text);
  if (!requirements.ok()) return 0;
  const std::string value = "a";
  for (meta::Requirement& r : *requirements) {
    meta::Requirement negated = r;
    switch (r.op) {
      case meta::SelectorOperator::kIn:
        negated.op = meta::SelectorOperator::kNotIn;
        break;
      case meta::SelectorOperator::kExists:
        negated.op = meta::SelectorOperator::kDoesNotExist;
        break;
      default:
        continue;
    }
    CHECK(r.Matches(&value) != negated.Matches(&value)) << r.key;
    CHECK(r.Matches(nullptr) != negated.Matches(nullptr)) << r.key;
  }
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  return {"a=b,c!=d", "e in (x,y),f notin (z)",          "g,!h",
          "i>1,j<2",  "metadata.name=x,spec.nodeName!=", "a.b=c\\,d"};
}
std::vector<std::string> FuzzWords() {
  return {"=", "==", "!=", "!", " in ", " notin ", "(", ")", ",", ">", "<", "\\", "a.b/c"};
}
