#include "pkg/kube/testing/fake_api.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "pkg/kube/informer.h"

namespace hekla::kube {
namespace {

using apis::json::Value;

Value StatusObject(int code, absl::string_view reason, absl::string_view message) {
  return Value::MakeObject({{"kind", "Status"},
                            {"apiVersion", "v1"},
                            {"metadata", Value::MakeObject()},
                            {"status", "Failure"},
                            {"message", message},
                            {"reason", reason},
                            {"code", code}});
}

http::Response Answer(int code, const Value& body) {
  http::Response response;
  response.status = code;
  response.headers.Add("Content-Type", "application/json");
  response.body = apis::json::Dump(body);
  return response;
}

http::Response Failure(int code, absl::string_view reason, absl::string_view message) {
  return Answer(code, StatusObject(code, reason, message));
}

std::string Line(absl::string_view type, const Value& object) {
  return absl::StrCat(apis::json::Dump(Value::MakeObject({{"type", type}, {"object", object}})),
                      "\n");
}

Value Bookmark(int64_t version, bool initial_end) {
  Value object;
  object["metadata"].Set("resourceVersion", absl::StrCat(version));
  if (initial_end) object["metadata"]["annotations"].Set("k8s.io/initial-events-end", "true");
  return object;
}

bool InNamespace(const Value& object, const std::string& ns) {
  return ns.empty() || object.At("metadata").GetString("namespace") == ns;
}

std::string VersionOf(const Value& object) {
  return std::string(object.At("metadata").GetString("resourceVersion"));
}

}  // namespace

FakeApi::Path FakeApi::Parse(const std::string& path) {
  const std::vector<std::string> parts = absl::StrSplit(path, '/', absl::SkipEmpty());
  Path out;
  size_t i = !parts.empty() && parts[0] == "api" ? 2 : 3;  // api/v1 or apis/group/version
  for (size_t k = 0; k < std::min(i, parts.size()); ++k) {
    absl::StrAppend(&out.collection, "/", parts[k]);
  }
  if (i + 2 < parts.size() && parts[i] == "namespaces") {
    out.ns = parts[i + 1];
    i += 2;
  }
  if (i < parts.size()) absl::StrAppend(&out.collection, "/", parts[i]);
  if (i + 1 < parts.size()) out.name = parts[i + 1];
  if (i + 2 < parts.size()) out.subresource = parts[i + 2];
  return out;
}

void FakeApi::Handle(http::Request request, const http::Peer&,
                     std::shared_ptr<http::Responder> responder) {
  log_.push_back(absl::StrCat(request.method, " ", request.target));
  if (fail) {
    if (std::optional<http::Response> failure = fail(request)) {
      responder->Respond(*std::move(failure));
      return;
    }
  }
  const http::Target target = http::ParseTarget(request.target);
  const Path path = Parse(target.path);
  if (request.method != "GET") {
    responder->Respond(Write(path, request));
  } else if (!path.name.empty()) {
    const auto& objects = objects_[path.collection];
    auto it = objects.find(apis::meta::ObjectKey(path.ns, path.name));
    responder->Respond(it == objects.end() ? Failure(404, "NotFound", "not found")
                                           : Answer(200, it->second));
  } else if (!target.Get("watch").empty()) {
    StartWatch(path, target, *responder);
  } else {
    List(path, target, *responder);
  }
}

void FakeApi::List(const Path& path, const http::Target& target, http::Responder& responder) {
  int64_t limit = 0;
  (void)absl::SimpleAtoi(target.Get("limit"), &limit);
  int64_t at_version = version_;
  std::string from;
  if (const absl::string_view token = target.Get("continue"); !token.empty()) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(token, absl::MaxSplits(':', 1));
    (void)absl::SimpleAtoi(parts.first, &at_version);
    from = parts.second;
    if (at_version < compacted_) {
      responder.Respond(Failure(410, "Expired", "the continue token is too old"));
      return;
    }
  }
  int64_t wanted = 0;
  if (absl::SimpleAtoi(target.Get("resourceVersion"), &wanted) && wanted > version_) {
    Value status = StatusObject(504, "Timeout", "Too large resource version");
    status["details"]["causes"].Append(
        Value::MakeObject({{"reason", "ResourceVersionTooLarge"}, {"message", ""}}));
    responder.Respond(Answer(504, status));
    return;
  }
  Value list = Value::MakeObject({{"kind", "List"}, {"apiVersion", "v1"}});
  list["metadata"].Set("resourceVersion", absl::StrCat(at_version));
  list.Set("items", Value::MakeArray());
  const auto& objects = objects_[path.collection];
  for (auto it = objects.lower_bound(from); it != objects.end(); ++it) {
    if (!InNamespace(it->second, path.ns)) continue;
    if (limit > 0 && static_cast<int64_t>(list.At("items").size()) == limit) {
      list["metadata"].Set("continue", absl::StrCat(at_version, ":", it->first));
      break;
    }
    list["items"].Append(it->second);
  }
  responder.Respond(Answer(200, list));
}

void FakeApi::StartWatch(const Path& path, const http::Target& target, http::Responder& responder) {
  const bool initial = target.Get("sendInitialEvents") == "true";
  if (initial && !watch_list) {
    responder.Respond(Failure(422, "Invalid", "sendInitialEvents is forbidden"));
    return;
  }
  int64_t from = version_;
  const absl::string_view wanted = target.Get("resourceVersion");
  if (!wanted.empty() && wanted != "0") (void)absl::SimpleAtoi(wanted, &from);
  if (initial && from > version_) {
    responder.Respond(Failure(504, "Timeout", "Too large resource version"));
    return;
  }
  Watch watch{.collection = path.collection,
              .ns = path.ns,
              .writer = responder.StartStream(200, {}),
              .open = std::make_shared<bool>(true)};
  watch.writer->SetOnClosed([open = watch.open] { *open = false; });
  if (!initial && from < compacted_) {
    Send(watch, Line("ERROR", StatusObject(410, "Expired", "too old resource version")));
    watch.writer->Close();
    return;
  }
  if (initial || wanted.empty() || wanted == "0") {
    for (const auto& [key, object] : objects_[path.collection]) {
      if (InNamespace(object, path.ns)) Send(watch, Line("ADDED", object));
    }
    if (initial) Send(watch, Line("BOOKMARK", Bookmark(version_, true)));
  } else {
    for (const Event& event : events_) {
      if (event.version > from && event.collection == path.collection &&
          InNamespace(event.object, path.ns)) {
        Send(watch, Line(event.type, event.object));
      }
    }
  }
  watches_.push_back(std::move(watch));
}

http::Response FakeApi::Write(const Path& path, const http::Request& request) {
  auto& objects = objects_[path.collection];
  absl::StatusOr<Value> body = request.body.empty() ? Value() : apis::json::Parse(request.body);
  if (!body.ok()) return Failure(400, "BadRequest", body.status().message());
  if (request.method == "POST" && !path.subresource.empty()) return Answer(201, *body);
  const std::string name =
      request.method == "POST" ? std::string(body->At("metadata").GetString("name")) : path.name;
  const std::string key = apis::meta::ObjectKey(path.ns, name);
  auto it = objects.find(key);
  if (request.method == "POST") {
    if (it != objects.end()) return Failure(409, "AlreadyExists", "already exists");
    if (!path.ns.empty()) (*body)["metadata"].Set("namespace", path.ns);
    Put(path.collection, *body);
    return Answer(201, objects[key]);
  }
  if (it == objects.end()) return Failure(404, "NotFound", "not found");
  if (request.method == "DELETE") {
    Delete(path.collection, key);
    return Answer(200, Value::MakeObject({{"kind", "Status"}, {"status", "Success"}}));
  }
  if (request.method == "PUT") {
    const std::string read = VersionOf(*body);
    if (!read.empty() && read != VersionOf(it->second)) {
      return Failure(409, "Conflict", "the object has been modified");
    }
    Put(path.collection, *body);
    return Answer(200, objects[key]);
  }
  Value merged = it->second;  // PATCH: members of the top level are replaced
  for (const auto& member : body->as_object()) merged.Set(member.key, member.value);
  Put(path.collection, merged);
  return Answer(200, objects[key]);
}

void FakeApi::Put(const std::string& collection, Value object) {
  const std::string key = KeyOf(object);
  auto& objects = objects_[collection];
  const bool is_new = objects.find(key) == objects.end();
  object["metadata"].Set("resourceVersion", absl::StrCat(++version_));
  objects[key] = object;
  Publish(collection, is_new ? "ADDED" : "MODIFIED", object);
}

void FakeApi::Delete(const std::string& collection, const std::string& key) {
  auto& objects = objects_[collection];
  auto it = objects.find(key);
  if (it == objects.end()) return;
  Value object = std::move(it->second);
  objects.erase(it);
  object["metadata"].Set("resourceVersion", absl::StrCat(++version_));
  Publish(collection, "DELETED", object);
}

std::map<std::string, Value> FakeApi::Objects(const std::string& collection) const {
  auto it = objects_.find(collection);
  return it == objects_.end() ? std::map<std::string, Value>() : it->second;
}

void FakeApi::Publish(const std::string& collection, const std::string& type, const Value& object) {
  events_.push_back({version_, collection, type, object});
  std::erase_if(watches_, [](const Watch& watch) { return !*watch.open; });
  for (const Watch& watch : watches_) {
    if (watch.collection == collection && InNamespace(object, watch.ns)) {
      Send(watch, Line(type, object));
    }
  }
}

void FakeApi::Send(const Watch& watch, const std::string& line) {
  watch.writer->Write(std::make_shared<const std::string>(line));
}

void FakeApi::SendToAll(const std::string& line) {
  for (const Watch& watch : watches_) Send(watch, line);
}

void FakeApi::CloseWatches() {
  for (const Watch& watch : watches_) watch.writer->Close();
  watches_.clear();
}

void FakeApi::BreakWatches(int code, const std::string& reason) {
  SendToAll(Line("ERROR", StatusObject(code, reason, "broken by the test")));
  CloseWatches();
}

void FakeApi::SendGarbage() { SendToAll("{\"type\":\"ADDED\",\"object\":{{{\n"); }
void FakeApi::SendBookmarks() { SendToAll(Line("BOOKMARK", Bookmark(version_, false))); }

}  // namespace hekla::kube
