#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "pkg/apiserver/account_tokens.h"
#include "pkg/apiserver/core.h"

namespace hekla::apiserver {

// Who sends a request.
struct Identity {
  std::string user;
  std::vector<std::string> groups;

  bool InGroup(absl::string_view group) const;
};

// What somebody wants to do.
struct Access {
  std::string verb;  // "get", "list", "watch", "create", …
  std::string group;
  std::string resource;  // with sub-resource: "pods/binding"
  std::string ns;        // "" = cluster scope or all namespaces
  std::string name;
};

// Finds out who somebody is and, where Options::enforce_rbac is set, whether the roles that are
// stored in this server allow what they want. Members of system:masters may do everything.
// Cost:    roles are compiled once per change of an RBAC object.
// Threads: any.
class Authorizer {
 public:
  explicit Authorizer(Core& core);

  // By the Authorization header, else by the subject of a verified client certificate.
  // nullopt: the token is not known, or one is needed.
  std::optional<Identity> Authenticate(absl::string_view authorization,
                                       absl::string_view certificate_subject) const;
  bool Allows(const Identity& who, const Access& what);
  // OK, or the Forbidden status of a real server.
  absl::Status Check(const Identity& who, const Access& what, absl::string_view plural);

  // A token that stands for a service account from now on for so long, unless the account goes.
  std::string IssueToken(absl::string_view ns, absl::string_view name, absl::string_view uid,
                         absl::Duration life);

 private:
  struct Rule {
    std::vector<std::string> verbs, groups, resources, names;
    bool Covers(const Access& what) const;
  };
  struct Grant {
    std::string ns;  // "" = everywhere
    std::vector<std::string> users, groups;
    std::vector<Rule> rules;
    bool IsFor(const Identity& who) const;
  };

  void Compile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<Rule> RulesOf(absl::string_view kind, absl::string_view key) const;
  void AddGrants(absl::string_view plural, std::vector<Grant>& out) const;

  std::optional<Identity> OfAccountToken(absl::string_view token) const;

  Core& core_;
  const AccountTokens account_tokens_;
  mutable absl::Mutex mutex_;
  int64_t compiled_at_ ABSL_GUARDED_BY(mutex_) = -1;
  std::vector<Grant> grants_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hekla::apiserver
