#include "pkg/apiserver/authorizer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "pkg/apiserver/status/api_status.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

constexpr char kRbac[] = "rbac.authorization.k8s.io";
constexpr absl::string_view kMasters = "system:masters";
constexpr absl::string_view kAuthenticated = "system:authenticated";

bool Contains(const std::vector<std::string>& list, absl::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// "*" stands for everything.
bool Matches(const std::vector<std::string>& list, absl::string_view item) {
  return Contains(list, item) || Contains(list, "*");
}

std::vector<std::string> Strings(const Value& list) {
  std::vector<std::string> out;
  if (!list.is_array()) return out;
  for (const Value& item : list.as_array()) {
    if (item.is_string()) out.push_back(item.as_string());
  }
  return out;
}

Identity Administrator() { return {"admin", {std::string(kMasters), std::string(kAuthenticated)}}; }

Identity ServiceAccount(absl::string_view ns, absl::string_view name) {
  return {absl::StrCat("system:serviceaccount:", ns, ":", name),
          {"system:serviceaccounts", absl::StrCat("system:serviceaccounts:", ns),
           std::string(kAuthenticated)}};
}

// "CN=name,O=group,O=group".
Identity OfCertificate(absl::string_view subject) {
  Identity out;
  for (absl::string_view part : absl::StrSplit(subject, ',')) {
    if (absl::ConsumePrefix(&part, "CN=")) out.user = std::string(part);
    if (absl::ConsumePrefix(&part, "O=")) out.groups.emplace_back(part);
  }
  out.groups.emplace_back(kAuthenticated);
  return out;
}

}  // namespace

Authorizer::Authorizer(Core& core)
    : core_(core),
      account_tokens_(core.options.token_key.empty() ? AccountTokens::NewKey()
                                                     : core.options.token_key) {}

bool Identity::InGroup(absl::string_view group) const { return Contains(groups, group); }

bool Authorizer::Rule::Covers(const Access& what) const {
  if (!Matches(verbs, what.verb) || !Matches(groups, what.group)) return false;
  if (!Matches(resources, what.resource)) {
    // "*/scale" covers that sub-resource of everything.
    const size_t slash = what.resource.find('/');
    if (slash == std::string::npos ||
        !Contains(resources, absl::StrCat("*", what.resource.substr(slash)))) {
      return false;
    }
  }
  return names.empty() || Contains(names, what.name);
}

bool Authorizer::Grant::IsFor(const Identity& who) const {
  if (Contains(users, who.user)) return true;
  return std::any_of(groups.begin(), groups.end(),
                     [&](const std::string& g) { return who.InGroup(g); });
}

std::optional<Identity> Authorizer::Authenticate(absl::string_view authorization,
                                                 absl::string_view certificate_subject) const {
  const Options& options = core_.options;
  if (authorization.empty()) {
    if (!certificate_subject.empty()) return OfCertificate(certificate_subject);
    const bool closed = !options.tokens.empty() || !options.users.empty();
    if (closed && options.require_token) return std::nullopt;
    return Administrator();
  }
  if (options.tokens.empty() && options.users.empty() && !options.enforce_rbac) {
    return Administrator();
  }
  if (!absl::ConsumePrefix(&authorization, "Bearer ")) return std::nullopt;
  if (Contains(options.tokens, authorization)) return Administrator();
  for (const Options::User& user : options.users) {
    if (user.token != authorization) continue;
    Identity out{user.name, user.groups};
    out.groups.emplace_back(kAuthenticated);
    return out;
  }
  return OfAccountToken(authorization);
}

std::optional<Identity> Authorizer::OfAccountToken(absl::string_view text) const {
  const std::optional<AccountToken> token = account_tokens_.Read(text);
  if (!token.has_value() || core_.Now() >= token->expires) return std::nullopt;
  const ResourcePtr accounts = core_.registry.Find("", "v1", "serviceaccounts");
  const storage::ObjectPtr account =
      core_.store.Get(*accounts->table, KeyOf(*accounts, token->ns, token->name));
  if (account == nullptr || account->uid() != token->uid) return std::nullopt;
  return ServiceAccount(token->ns, token->name);
}

std::string Authorizer::IssueToken(absl::string_view ns, absl::string_view name,
                                   absl::string_view uid, absl::Duration life) {
  const absl::Time now = core_.Now();
  return account_tokens_.Sign({.ns = std::string(ns),
                               .name = std::string(name),
                               .uid = std::string(uid),
                               .id = core_.NewUid(),
                               .issued = now,
                               .expires = now + life});
}

std::vector<Authorizer::Rule> Authorizer::RulesOf(absl::string_view kind,
                                                  absl::string_view key) const {
  std::vector<Rule> out;
  const ResourcePtr roles =
      core_.registry.Find(kRbac, "v1", kind == "ClusterRole" ? "clusterroles" : "roles");
  const storage::ObjectPtr object = core_.store.Get(*roles->table, key);
  if (object == nullptr) return out;
  const Value role = object->Parse();
  const Value& rules = role.At("rules");
  for (size_t i = 0; rules.is_array() && i < rules.size(); ++i) {
    const Value& rule = rules.as_array()[i];
    out.push_back({Strings(rule.At("verbs")), Strings(rule.At("apiGroups")),
                   Strings(rule.At("resources")), Strings(rule.At("resourceNames"))});
  }
  return out;
}

void Authorizer::AddGrants(absl::string_view plural, std::vector<Grant>& out) const {
  const ResourcePtr bindings = core_.registry.Find(kRbac, "v1", plural);
  const auto list = core_.store.List(*bindings->table, storage::ListQuery());
  if (!list.ok()) return;
  for (const storage::ObjectPtr& object : list->objects) {
    const Value binding = object->Parse();
    const Value& ref = binding.At("roleRef");
    Grant grant;
    grant.ns = std::string(object->ns());
    const std::string key = ref.GetString("kind") == "ClusterRole"
                                ? std::string(ref.GetString("name"))
                                : absl::StrCat(grant.ns, "/", ref.GetString("name"));
    grant.rules = RulesOf(ref.GetString("kind"), key);
    const Value& subjects = binding.At("subjects");
    for (size_t i = 0; subjects.is_array() && i < subjects.size(); ++i) {
      const Value& subject = subjects.as_array()[i];
      const absl::string_view kind = subject.GetString("kind");
      const absl::string_view name = subject.GetString("name");
      if (kind == "User") grant.users.emplace_back(name);
      if (kind == "Group") grant.groups.emplace_back(name);
      if (kind == "ServiceAccount") {
        grant.users.push_back(ServiceAccount(subject.GetString("namespace", grant.ns), name).user);
      }
    }
    out.push_back(std::move(grant));
  }
}

void Authorizer::Compile() {
  int64_t newest = 0;
  for (const char* plural : {"roles", "rolebindings", "clusterroles", "clusterrolebindings"}) {
    const ResourcePtr resource = core_.registry.Find(kRbac, "v1", plural);
    newest = std::max(newest, core_.store.last_change(*resource->table));
  }
  if (newest == compiled_at_) return;
  compiled_at_ = newest;
  grants_.clear();
  AddGrants("clusterrolebindings", grants_);
  AddGrants("rolebindings", grants_);
}

bool Authorizer::Allows(const Identity& who, const Access& what) {
  if (!core_.options.enforce_rbac || who.InGroup(kMasters)) return true;
  absl::MutexLock lock(&mutex_);
  Compile();
  return std::any_of(grants_.begin(), grants_.end(), [&](const Grant& grant) {
    if (!grant.ns.empty() && grant.ns != what.ns) return false;
    return grant.IsFor(who) && std::any_of(grant.rules.begin(), grant.rules.end(),
                                           [&](const Rule& rule) { return rule.Covers(what); });
  });
}

absl::Status Authorizer::Check(const Identity& who, const Access& what, absl::string_view plural) {
  if (Allows(who, what)) return absl::OkStatus();
  return Forbidden(
      GroupResource{what.group, std::string(plural)}, what.name,
      absl::StrCat("User \"", who.user, "\" cannot ", what.verb, " resource \"", what.resource,
                   "\" in API group \"", what.group, "\" ",
                   what.ns.empty() ? "at the cluster scope"
                                   : absl::StrCat("in the namespace \"", what.ns, "\"")));
}

}  // namespace hekla::apiserver
