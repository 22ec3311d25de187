#include "pkg/cache/testing/fake_api.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace hekla::cache::testing {
namespace {

using apis::json::Value;

http::Response Answer(int status, const Value& body) {
  http::Response out;
  out.status = status;
  out.headers.Set("Content-Type", "application/json");
  out.body = apis::json::Dump(body);
  return out;
}

http::Response Failure(int status, absl::string_view reason, absl::string_view message) {
  return Answer(status, Value::MakeObject({{"kind", "Status"},
                                           {"apiVersion", "v1"},
                                           {"status", "Failure"},
                                           {"reason", reason},
                                           {"message", message},
                                           {"code", status}}));
}

absl::string_view ReasonOf(int status) {
  switch (status) {
    case 403:
      return "Forbidden";
    case 404:
      return "NotFound";
    case 409:
      return "Conflict";
    case 422:
      return "Invalid";
    case 429:
      return "TooManyRequests";
    case 500:
      return "InternalError";
    case 503:
      return "ServiceUnavailable";
    default:
      return "";
  }
}

// "/api/v1/namespaces/n/pods/p" belongs to "/api/v1/namespaces/n/pods" and to "/api/v1/pods".
bool InCollection(const std::string& object_path, const std::string& collection) {
  const size_t slash = object_path.rfind('/');
  const std::string own = object_path.substr(0, slash);
  if (own == collection) return true;
  const size_t ns = own.find("/namespaces/");
  if (ns == std::string::npos) return false;
  const size_t plural = own.rfind('/');
  return absl::StrCat(own.substr(0, ns), own.substr(plural)) == collection;
}

}  // namespace

class FakeApi::Watch final : public http::Stream {
 public:
  Watch(FakeApi* api, std::string collection, int64_t version, http::StreamObserver* observer)
      : api_(api), collection_(std::move(collection)), version_(version), observer_(observer) {
    api_->watches_.push_back(this);
  }
  ~Watch() override {
    auto& all = api_->watches_;
    all.erase(std::remove(all.begin(), all.end(), this), all.end());
    *alive_ = false;
  }

  void Begin() {
    begun_ = true;
    observer_->OnHeaders(200, {});
  }
  void Refuse(const http::Response& response) {
    observer_->OnHeaders(response.status, response.headers);
    observer_->OnData(response.body);
    observer_->OnEnd(absl::OkStatus());
  }
  void Pump() {
    if (!begun_) return;
    const std::shared_ptr<bool> alive = alive_;
    for (size_t i = 0; i < api_->history_.size(); ++i) {
      const Change change = api_->history_[i];
      if (change.version <= version_ || !InCollection(change.path, collection_)) continue;
      version_ = change.version;
      observer_->OnData(absl::StrCat(
          apis::json::Dump(Value::MakeObject({{"type", change.type}, {"object", change.object}})),
          "\n"));
      if (!*alive) return;
    }
  }
  std::shared_ptr<bool> alive() const { return alive_; }

 private:
  FakeApi* const api_;
  const std::string collection_;
  int64_t version_;
  http::StreamObserver* const observer_;
  bool begun_ = false;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

void FakeApi::Store(const std::string& path, Value object) {
  const bool known = objects_.contains(path);
  object.Ensure({"metadata"}).Set("resourceVersion", absl::StrCat(++version_));
  objects_[path] = object;
  history_.push_back({version_, known ? "MODIFIED" : "ADDED", path, std::move(object)});
  Pump();
}

void FakeApi::Put(const std::string& collection, Value object) {
  Value& metadata = object.Ensure({"metadata"});
  const std::string path = absl::StrCat(collection, "/", metadata.GetString("name"));
  if (!metadata.Has("uid")) metadata.Set("uid", absl::StrCat("uid-", metadata.GetString("name")));
  Store(path, std::move(object));
}

void FakeApi::Remove(const std::string& path) {
  const auto it = objects_.find(path);
  if (it == objects_.end()) return;
  Value object = it->second;
  objects_.erase(it);
  object.Ensure({"metadata"}).Set("resourceVersion", absl::StrCat(++version_));
  history_.push_back({version_, "DELETED", path, std::move(object)});
  Pump();
}

const Value* FakeApi::Find(const std::string& path) const {
  const auto it = objects_.find(path);
  return it == objects_.end() ? nullptr : &it->second;
}

int FakeApi::Count(absl::string_view prefix) const {
  return static_cast<int>(std::count_if(log_.begin(), log_.end(), [&](const std::string& line) {
    return absl::StartsWith(line, prefix);
  }));
}

void FakeApi::HoldWatches(bool hold) {
  held_ = hold;
  if (!hold) Pump();
}

void FakeApi::Pump() {
  if (held_) return;
  executor_->Post([this] {
    const std::vector<Watch*> all = watches_;
    for (Watch* watch : all) {
      if (std::find(watches_.begin(), watches_.end(), watch) != watches_.end()) watch->Pump();
    }
  });
}

void FakeApi::Send(http::Request request, absl::Duration timeout, http::ResponseCallback done) {
  executor_->Post([this, request = std::move(request), timeout, done = std::move(done)] {
    log_.push_back(absl::StrCat(request.method, " ", http::ParseTarget(request.target).path));
    const std::optional<Fault> hit = fault == nullptr ? std::nullopt : fault(request);
    http::Response response;
    if (!hit || hit->applied) response = Handle(request);
    if (hit && hit->silent) {
      executor_->PostAfter(timeout, [done] { done(absl::DeadlineExceededError("no answer")); });
    } else if (hit && hit->status == 0) {
      done(absl::UnavailableError("connection lost"));
    } else if (hit) {
      done(Failure(hit->status, ReasonOf(hit->status), "injected"));
    } else {
      done(response);
    }
  });
}

std::unique_ptr<http::Stream> FakeApi::OpenStream(http::Request request, absl::Duration,
                                                  http::StreamObserver* observer) {
  const http::Target target = http::ParseTarget(request.target);
  int64_t version = 0;
  const std::string text(target.Get("resourceVersion"));
  (void)absl::SimpleAtoi(text, &version);
  auto watch = std::make_unique<Watch>(this, target.path, version, observer);
  Watch* raw = watch.get();
  const bool list_wanted = target.Get("sendInitialEvents") == "true";
  executor_->Post([raw, alive = raw->alive(), list_wanted, held = held_] {
    if (!*alive) return;
    if (list_wanted) {
      raw->Refuse(Failure(422, "Invalid", "sendInitialEvents is forbidden for watch"));
      return;
    }
    raw->Begin();
    if (*alive && !held) raw->Pump();
  });
  return watch;
}

http::Response FakeApi::Handle(const http::Request& request) {
  const http::Target target = http::ParseTarget(request.target);
  const std::string path = target.path;
  const Value body = request.body.empty() ? Value() : *apis::json::Parse(request.body);
  if (request.method == "GET") {
    if (const Value* object = Find(path)) return Answer(200, *object);
    const std::string last = path.substr(path.rfind('/') + 1);
    const bool collection = absl::EndsWith(last, "s") || absl::EndsWith(last, "capacities");
    const bool object_like =
        path.find("/queues/") != std::string::npos || path.find("/pods/") != std::string::npos;
    if (collection && !object_like) return List(path, target);
    return Failure(404, "NotFound", absl::StrCat(last, " not found"));
  }
  if (request.method == "POST" && absl::EndsWith(path, "/binding")) {
    return BindPod(std::string(absl::StripSuffix(path, "/binding")), body);
  }
  if (request.method == "POST") {
    const std::string object_path = absl::StrCat(path, "/", body.At("metadata").GetString("name"));
    if (Find(object_path) != nullptr) return Failure(409, "AlreadyExists", "already exists");
    Put(path, body);
    return Answer(201, *Find(object_path));
  }
  const bool status = absl::EndsWith(path, "/status");
  const std::string object_path(absl::StripSuffix(path, "/status"));
  if (Find(object_path) == nullptr) return Failure(404, "NotFound", "not found");
  if (request.method == "PUT") return Update(object_path, status, body);
  if (request.method == "DELETE") return Delete(object_path, request.body);
  return Answer(200, *Find(object_path));  // PATCH: only noted
}

http::Response FakeApi::List(const std::string& path, const http::Target& target) const {
  const absl::string_view selector = target.Get("fieldSelector");
  const absl::string_view name =
      absl::StartsWith(selector, "metadata.name=") ? selector.substr(14) : "";
  Value items = Value::MakeArray();
  for (const auto& [object_path, object] : objects_) {
    if (!InCollection(object_path, path)) continue;
    if (!name.empty() && object.At("metadata").GetString("name") != name) continue;
    items.Append(object);
  }
  return Answer(200,
                Value::MakeObject(
                    {{"kind", "List"},
                     {"apiVersion", "v1"},
                     {"metadata", Value::MakeObject({{"resourceVersion", absl::StrCat(version_)}})},
                     {"items", std::move(items)}}));
}

http::Response FakeApi::Update(const std::string& path, bool status_only, const Value& body) {
  const Value& old = *Find(path);
  const absl::string_view version = body.At("metadata").GetString("resourceVersion");
  if (!version.empty() && version != old.At("metadata").GetString("resourceVersion")) {
    return Failure(409, "Conflict", "the object has been modified");
  }
  Value changed = body;
  if (status_only) {
    changed = old;
    changed.Set("status", body.At("status"));
  }
  Store(path, std::move(changed));
  return Answer(200, *Find(path));
}

http::Response FakeApi::BindPod(const std::string& path, const Value& body) {
  const Value* old = Find(path);
  if (old == nullptr) return Failure(404, "NotFound", "pod not found");
  if (body.At("metadata").GetString("uid") != old->At("metadata").GetString("uid")) {
    return Failure(409, "Conflict", "Precondition failed: UID in precondition");
  }
  const absl::string_view node = old->At("spec").GetString("nodeName");
  if (!node.empty()) {
    return Failure(409, "Conflict", absl::StrCat("pod is already assigned to node \"", node, "\""));
  }
  Value pod = *old;
  pod.Ensure({"spec"}).Set("nodeName", body.At("target").GetString("name"));
  Store(path, std::move(pod));
  return Answer(201, Value::MakeObject({{"kind", "Status"}, {"status", "Success"}}));
}

http::Response FakeApi::Delete(const std::string& path, const std::string& body) {
  const Value options = body.empty() ? Value() : *apis::json::Parse(body);
  const Value* uid = options.FindPath({"preconditions", "uid"});
  if (uid != nullptr && uid->as_string() != Find(path)->At("metadata").GetString("uid")) {
    return Failure(409, "Conflict", "Precondition failed: UID in precondition");
  }
  Remove(path);
  return Answer(200, Value::MakeObject({{"kind", "Status"}, {"status", "Success"}}));
}

}  // namespace hekla::cache::testing
