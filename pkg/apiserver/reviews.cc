#include "pkg/apiserver/reviews.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/apiserver/kinds/checks.h"
#include "pkg/apiserver/status/api_status.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

Value UserInfo(const Identity& who) {
  Value groups = Value::MakeArray();
  for (const std::string& group : who.groups) groups.Append(Value(group));
  return Value::MakeObject({{"username", who.user}, {"groups", std::move(groups)}});
}

Access AccessOf(const Value& spec) {
  const Value& wanted = spec.At("resourceAttributes");
  Access out;
  out.verb = std::string(wanted.GetString("verb"));
  out.group = std::string(wanted.GetString("group"));
  out.resource = std::string(wanted.GetString("resource"));
  const absl::string_view sub = wanted.GetString("subresource");
  if (!sub.empty()) absl::StrAppend(&out.resource, "/", sub);
  out.ns = std::string(wanted.GetString("namespace"));
  out.name = std::string(wanted.GetString("name"));
  return out;
}

Identity SubjectOf(const Value& spec) {
  Identity out{std::string(spec.GetString("user")), {}};
  const Value& groups = spec.At("groups");
  for (size_t i = 0; groups.is_array() && i < groups.size(); ++i) {
    if (groups.as_array()[i].is_string()) out.groups.push_back(groups.as_array()[i].as_string());
  }
  return out;
}

Value AnyRule(absl::string_view member) {
  const Value any = Value::MakeArray({Value("*")});
  return Value::MakeObject({{"verbs", any}, {member, any}});
}

}  // namespace

absl::StatusOr<Answer> AnswerReview(Authorizer& authorizer, Call& call) {
  const Resource& resource = *call.resource;
  HEKLA_ASSIGN_OR_RETURN(RawBody body,
                         ReadBody(*call.request, resource.api_version(), resource.kind));
  Value out = std::move(body.value);
  out.Set("kind", resource.kind);
  out.Set("apiVersion", resource.api_version());
  if (!out.At("metadata").is_object()) out.Set("metadata", Value::MakeObject());
  const Value spec = out.At("spec");
  if (resource.kind == "SelfSubjectReview") {
    out.Set("status", Value::MakeObject({{"userInfo", UserInfo(call.caller)}}));
  } else if (resource.kind == "TokenReview") {
    const std::optional<Identity> who =
        authorizer.Authenticate(absl::StrCat("Bearer ", spec.GetString("token")), "");
    Value status = Value::MakeObject({{"authenticated", who.has_value()}});
    if (who.has_value()) status.Set("user", UserInfo(*who));
    out.Set("status", std::move(status));
  } else if (resource.kind == "SelfSubjectRulesReview") {
    Value rule = AnyRule("apiGroups");
    rule.Set("resources", Value::MakeArray({Value("*")}));
    out.Set("status",
            Value::MakeObject({{"resourceRules", Value::MakeArray({std::move(rule)})},
                               {"nonResourceRules", Value::MakeArray({AnyRule("nonResourceURLs")})},
                               {"incomplete", false}}));
  } else {
    const bool self = resource.kind == "SelfSubjectAccessReview";
    const bool allowed = authorizer.Allows(self ? call.caller : SubjectOf(spec), AccessOf(spec));
    out.Set("status", Value::MakeObject({{"allowed", allowed}}));
  }
  return ValueAnswer(201, out, call);
}

absl::StatusOr<Answer> AnswerTokenRequest(const Core& core, Authorizer& authorizer, Call& call) {
  const Resource& accounts = *call.resource;
  const storage::ObjectPtr account =
      core.store.Get(*accounts.table, KeyOf(accounts, call.ns, call.name));
  if (account == nullptr) return NotFound(accounts.group_resource(), call.name);
  HEKLA_ASSIGN_OR_RETURN(RawBody body,
                         ReadBody(*call.request, "authentication.k8s.io/v1", "TokenRequest"));
  Value out = std::move(body.value);
  out.Set("kind", "TokenRequest");
  out.Set("apiVersion", "authentication.k8s.io/v1");
  const int64_t seconds = out.At("spec").GetInt("expirationSeconds", 3600);
  FieldErrors errors;
  kinds::CheckTokenLife(out.At("spec").At("expirationSeconds"), "spec.expirationSeconds", errors);
  if (!errors.empty()) {
    return Invalid(GroupKind{"authentication.k8s.io", "TokenRequest"}, "", errors);
  }
  const std::string token =
      authorizer.IssueToken(call.ns, call.name, account->uid(), absl::Seconds(seconds));
  out.Set("status", Value::MakeObject(
                        {{"token", token},
                         {"expirationTimestamp", TimeText(core.Now() + absl::Seconds(seconds))}}));
  return ValueAnswer(201, out, call);
}

}  // namespace hekla::apiserver
