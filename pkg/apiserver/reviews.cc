#include "pkg/apiserver/reviews.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/apiserver/status/api_status.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

Value Administrator() {
  return Value::MakeObject(
      {{"username", "admin"},
       {"groups", Value::MakeArray({Value("system:masters"), Value("system:authenticated")})}});
}

Value AnyRule(absl::string_view member) {
  const Value any = Value::MakeArray({Value("*")});
  return Value::MakeObject({{"verbs", any}, {member, any}});
}

}  // namespace

absl::StatusOr<Answer> AnswerReview(const Core& core, Call& call) {
  const Resource& resource = *call.resource;
  HEKLA_ASSIGN_OR_RETURN(RawBody body,
                         ReadBody(*call.request, resource.api_version(), resource.kind));
  Value out = std::move(body.value);
  out.Set("kind", resource.kind);
  out.Set("apiVersion", resource.api_version());
  if (!out.At("metadata").is_object()) out.Set("metadata", Value::MakeObject());
  if (resource.kind == "SelfSubjectReview") {
    out.Set("status", Value::MakeObject({{"userInfo", Administrator()}}));
  } else if (resource.kind == "TokenReview") {
    const absl::string_view token = out.At("spec").GetString("token");
    bool known = core.options.tokens.empty();
    for (const std::string& t : core.options.tokens) known |= t == token;
    Value status = Value::MakeObject({{"authenticated", known}});
    if (known) status.Set("user", Administrator());
    out.Set("status", std::move(status));
  } else if (resource.kind == "SelfSubjectRulesReview") {
    Value rule = AnyRule("apiGroups");
    rule.Set("resources", Value::MakeArray({Value("*")}));
    out.Set("status",
            Value::MakeObject({{"resourceRules", Value::MakeArray({std::move(rule)})},
                               {"nonResourceRules", Value::MakeArray({AnyRule("nonResourceURLs")})},
                               {"incomplete", false}}));
  } else {
    out.Set("status", Value::MakeObject({{"allowed", true}}));
  }
  return ValueAnswer(201, out, call);
}

absl::StatusOr<Answer> AnswerTokenRequest(const Core& core, Call& call) {
  const Resource& accounts = *call.resource;
  if (core.store.Get(*accounts.table, KeyOf(accounts, call.ns, call.name)) == nullptr) {
    return NotFound(accounts.group_resource(), call.name);
  }
  HEKLA_ASSIGN_OR_RETURN(RawBody body,
                         ReadBody(*call.request, "authentication.k8s.io/v1", "TokenRequest"));
  Value out = std::move(body.value);
  out.Set("kind", "TokenRequest");
  out.Set("apiVersion", "authentication.k8s.io/v1");
  const int64_t seconds = out.At("spec").GetInt("expirationSeconds", 3600);
  const std::string token =
      core.options.tokens.empty() ? absl::StrCat(call.ns, ".", call.name) : core.options.tokens[0];
  out.Set("status", Value::MakeObject(
                        {{"token", token},
                         {"expirationTimestamp", TimeText(core.Now() + absl::Seconds(seconds))}}));
  return ValueAnswer(201, out, call);
}

}  // namespace hekla::apiserver
