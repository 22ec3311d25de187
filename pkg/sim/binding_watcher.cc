#include "pkg/sim/binding_watcher.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "pkg/apis/json/value.h"

namespace hekla::sim {
namespace {

using apis::json::Value;

constexpr absl::string_view kNamespaces = "/api/v1/namespaces/";

// "ns/name" of "/api/v1/namespaces/ns/pods/name".
std::optional<std::string> PodOf(absl::string_view path) {
  if (!absl::ConsumePrefix(&path, kNamespaces)) return std::nullopt;
  const size_t slash = path.find("/pods/");
  if (slash == absl::string_view::npos) return std::nullopt;
  const absl::string_view name = path.substr(slash + 6);
  if (name.empty() || absl::StrContains(name, '/')) return std::nullopt;
  return absl::StrCat(path.substr(0, slash), "/", name);
}

std::string UidOf(const std::string& body) {
  const auto binding = apis::json::Parse(body);
  return binding.ok() ? std::string(binding->At("metadata").GetString("uid")) : "";
}

}  // namespace

void BindingWatcher::Report(absl::string_view rule, std::string text) {
  violations_.push_back({deps_.now(), std::string(rule), std::move(text)});
}

bool BindingWatcher::OnSent(const http::Request& request) {
  const absl::string_view path = request.target;
  if (request.method == "POST" && absl::EndsWith(path, "/binding")) return OnBinding(request);
  return request.method == "GET" && PodOf(path).has_value();
}

bool BindingWatcher::OnBinding(const http::Request& request) {
  const auto body = apis::json::Parse(request.body);
  absl::string_view path = request.target;
  absl::ConsumeSuffix(&path, "/binding");
  const std::string pod = PodOf(path).value_or("?");
  if (!body.ok()) {
    Report("undecided", absl::StrCat("an unreadable binding for pod ", pod));
    return false;
  }
  const std::string uid(body->At("metadata").GetString("uid"));
  const std::string node(body->At("target").GetString("name"));
  if (uid.empty()) {
    Report("undecided", absl::StrCat("a binding of any pod that is called ", pod));
    return false;
  }
  if (!deps_.leads()) {
    Report("two-leaders", absl::StrCat("a binding of pod ", pod,
                                       " leaves a process that does not hold the lease"));
    return false;
  }
  if (!deps_.decisions->InFlight(uid, node) && deps_.mirror->FindPod(uid) != nullptr) {
    Report("undecided",
           absl::StrCat("a binding of pod ", pod, " to ", node, " that no cycle has decided"));
  }
  const auto before = bindings_.find(uid);
  if (before != bindings_.end() && before->second.state != State::kWithoutEffect) {
    if (before->second.state == State::kUnknown) {
      Report("not-read-again", absl::StrCat("pod ", pod, " was not read after its binding failed"));
    } else {
      Report("bound-twice", absl::StrCat("a second binding of pod ", pod, " leaves"));
    }
  }
  bindings_[uid] = {pod, State::kSent};
  return true;
}

void BindingWatcher::OnAnswered(const http::Request& request,
                                const absl::StatusOr<http::Response>& answer) {
  if (request.method == "POST") {
    const auto it = bindings_.find(UidOf(request.body));
    if (it == bindings_.end()) return;
    if (answer.ok() && answer->status / 100 == 2) {
      it->second.state = State::kConfirmed;
    } else if (answer.ok() && answer->status == 429) {
      it->second.state = State::kWithoutEffect;
    } else {
      it->second.state = State::kUnknown;
    }
    return;
  }
  if (!answer.ok() || (answer->status != 200 && answer->status != 404)) return;
  const std::string pod = PodOf(request.target).value_or("");
  for (auto it = bindings_.begin(); it != bindings_.end();) {
    if (it->second.pod != pod || it->second.state != State::kUnknown) {
      ++it;
      continue;
    }
    const ClusterMirror::Pod* now = deps_.mirror->FindPod(it->first);
    if (now != nullptr && !now->node.empty()) {
      (it++)->second.state = State::kConfirmed;
      continue;
    }
    deps_.decisions->Settled(it->first, deps_.now());
    it = bindings_.erase(it);
  }
  const ClusterMirror::Pod* named = deps_.mirror->FindPodByName(pod);
  if (named == nullptr || !named->node.empty()) return;
  const auto left = bindings_.find(named->uid);
  if (left == bindings_.end() || left->second.state == State::kWithoutEffect) {
    deps_.decisions->Read(named->uid);
  }
}

}  // namespace hekla::sim
