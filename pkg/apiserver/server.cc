#include "pkg/apiserver/server.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"
#include "pkg/apiserver/budgets.h"
#include "pkg/apiserver/collector.h"
#include "pkg/apiserver/core.h"
#include "pkg/apiserver/definitions.h"
#include "pkg/apiserver/deleter.h"
#include "pkg/apiserver/importer.h"
#include "pkg/apiserver/resources.h"
#include "pkg/apiserver/router.h"
#include "pkg/apiserver/status/api_status.h"
#include "pkg/apiserver/writer.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

constexpr absl::Duration kEventSweep = absl::Seconds(30);
constexpr char kUserAgent[] = "hekla";

http::Response ToResponse(Answer answer, const std::vector<std::string>& warnings) {
  http::Response out;
  out.status = answer.status;
  out.headers.Set("Content-Type", answer.content_type);
  for (const auto& [name, value] : answer.headers) out.headers.Set(name, value);
  for (const std::string& warning : warnings) {
    out.headers.Add(
        "Warning",
        absl::StrCat("299 - \"", absl::StrReplaceAll(warning, {{"\\", "\\\\"}, {"\"", "\\\""}}),
                     "\""));
  }
  out.body = std::move(answer.body);
  return out;
}

// Keeps the answer of a call that is made in process.
class LocalResponder final : public http::Responder {
 public:
  void Respond(http::Response response) override { response_ = std::move(response); }
  std::shared_ptr<http::StreamWriter> StartStream(int, http::Headers) override { return nullptr; }
  http::Response Take() { return std::move(response_); }

 private:
  http::Response response_;
};

}  // namespace

class ApiServer::Impl {
 public:
  explicit Impl(Options options)
      : core(std::move(options)),
        collector(core),
        writer(core, collector),
        deleter(core, collector),
        definitions(core, writer, deleter),
        budgets(core, writer),
        resources(core, writer, deleter),
        router(core, resources),
        importer(core, writer) {
    collector.Connect({&writer, &deleter, &definitions, &budgets});
    if (core.options.journal != nullptr) {
      definitions.Recover();
      collector.Recover();
    }
    importer.CreateDefaults();
    collector.Run();
  }

  absl::StatusOr<ResourcePtr> Find(absl::string_view api_version, absl::string_view kind) const {
    ResourcePtr resource = core.registry.FindKind(api_version, kind);
    if (resource == nullptr) {
      return absl::NotFoundError(
          absl::StrCat("no kind \"", kind, "\" in version \"", api_version, "\" is served"));
    }
    return resource;
  }

  absl::StatusOr<Value> Put(const Value& object, absl::string_view subresource) {
    HEKLA_ASSIGN_OR_RETURN(ResourcePtr resource,
                           Find(object.GetString("apiVersion"), object.GetString("kind")));
    HEKLA_ASSIGN_OR_RETURN(Value decoded, DecodeObject(*resource, RawBody{object, {}},
                                                       FieldValidation::kIgnore, nullptr));
    const std::string ns = NamespaceOf(*resource, decoded);
    if (resource->namespaced) decoded["metadata"].Set("namespace", ns);
    const std::string name(decoded.At("metadata").GetString("name"));
    WriteParams params;
    params.field_manager = kUserAgent;
    params.subresource = std::string(subresource);
    absl::StatusOr<Written> written = writer.Update(
        *resource, ns, name, [&](const Value*) -> absl::StatusOr<Value> { return decoded; },
        Writer::UpdateOptions(), params);
    collector.Run();
    if (!written.ok()) return written.status();
    return ToView(*resource, std::move(written->object));
  }

  // Events whose last write is older than their time to live vanish.
  void ExpireEvents(absl::Time now) {
    {
      absl::MutexLock lock(&mutex);
      if (now < next_sweep) return;
      const bool forever = core.options.event_ttl == absl::InfiniteDuration();
      next_sweep = forever ? absl::InfiniteFuture() : now + kEventSweep;
      if (forever) return;
    }
    const ResourcePtr events = core.registry.Find("", "v1", "events");
    const auto list = core.store.List(*events->table, storage::ListQuery());
    if (!list.ok()) return;
    const int64_t oldest = absl::ToUnixSeconds(now - core.options.event_ttl);
    for (const storage::ObjectPtr& event : list->objects) {
      if (event->write_time_seconds() > oldest) continue;
      const absl::Status gone =
          core.store.Delete(*events->table, event->key(), event->resource_version()).status();
      VLOG_IF(3, !gone.ok()) << "event changed while it expired key=" << event->key();
    }
  }

  Core core;
  Collector collector;
  Writer writer;
  Deleter deleter;
  Definitions definitions;
  Budgets budgets;
  Resources resources;
  Router router;
  Importer importer;
  absl::Mutex mutex;
  absl::Time next_sweep ABSL_GUARDED_BY(mutex) = absl::InfinitePast();
};

ApiServer::ApiServer(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}

ApiServer::~ApiServer() = default;

void ApiServer::Handle(http::Request request, const http::Peer& peer,
                       std::shared_ptr<http::Responder> responder) {
  apiserver::Call call;
  call.request = &request;
  call.target = http::ParseTarget(request.target);
  call.certificate_subject = peer.certificate_subject;
  std::optional<Answer> answer = impl_->router.Route(call, *responder);
  if (!answer.has_value()) return;
  impl_->collector.Run();
  responder->Respond(ToResponse(*std::move(answer), call.warnings));
}

http::Response ApiServer::Call(const http::Request& request) {
  auto responder = std::make_shared<LocalResponder>();
  Handle(request, http::Peer(), responder);
  return responder->Take();
}

absl::Time ApiServer::Tick() {
  const absl::Time now = impl_->core.Now();
  impl_->ExpireEvents(now);
  impl_->budgets.Recount();
  const absl::Time next = impl_->core.store.Tick(now, impl_->core.options.bookmark_interval);
  absl::MutexLock lock(&impl_->mutex);
  return std::min(next, impl_->next_sweep);
}

void ApiServer::TendJournal() {
  if (impl_->core.options.journal == nullptr) return;
  const absl::Status synced = impl_->core.options.journal->Sync();
  LOG_IF(ERROR, !synced.ok()) << "journal not on the disk error=" << synced.message();
  impl_->core.store.Compact();
}

void ApiServer::CloseWatches() { impl_->core.store.CloseWatches(); }

void ApiServer::DropWatchHistory() { impl_->core.store.ForgetHistory(); }

absl::Status ApiServer::LoadCrd(const Value& crd) {
  const absl::StatusOr<Value> created = Create(crd);
  if (!absl::IsAlreadyExists(created.status())) return created.status();
  HEKLA_ASSIGN_OR_RETURN(Value present, Get("apiextensions.k8s.io/v1", "CustomResourceDefinition",
                                            "", crd.At("metadata").GetString("name")));
  Value changed = crd;
  changed["metadata"].Set("resourceVersion", present.At("metadata").At("resourceVersion"));
  changed["metadata"].Set("finalizers", present.At("metadata").At("finalizers"));
  return Update(changed).status();
}

absl::StatusOr<Value> ApiServer::Create(const Value& object) {
  HEKLA_ASSIGN_OR_RETURN(ResourcePtr resource,
                         impl_->Find(object.GetString("apiVersion"), object.GetString("kind")));
  HEKLA_ASSIGN_OR_RETURN(Value decoded, DecodeObject(*resource, RawBody{object, {}},
                                                     FieldValidation::kIgnore, nullptr));
  WriteParams params;
  params.field_manager = kUserAgent;
  const std::string ns = NamespaceOf(*resource, decoded);
  absl::StatusOr<Written> written = impl_->writer.Create(*resource, ns, std::move(decoded), params);
  impl_->collector.Run();
  if (!written.ok()) return written.status();
  return ToView(*resource, std::move(written->object));
}

absl::StatusOr<Value> ApiServer::Update(const Value& object) { return impl_->Put(object, ""); }

absl::StatusOr<Value> ApiServer::UpdateStatus(const Value& object) {
  return impl_->Put(object, "status");
}

absl::StatusOr<Value> ApiServer::Get(absl::string_view api_version, absl::string_view kind,
                                     absl::string_view ns, absl::string_view name) {
  HEKLA_ASSIGN_OR_RETURN(ResourcePtr resource, impl_->Find(api_version, kind));
  const storage::ObjectPtr object =
      impl_->core.store.Get(*resource->table, KeyOf(*resource, ns, name));
  if (object == nullptr) return NotFound(resource->group_resource(), name);
  return ToView(*resource, object->Parse());
}

absl::StatusOr<std::vector<Value>> ApiServer::List(absl::string_view api_version,
                                                   absl::string_view kind, absl::string_view ns) {
  HEKLA_ASSIGN_OR_RETURN(ResourcePtr resource, impl_->Find(api_version, kind));
  storage::ListQuery query;
  if (resource->namespaced) query.filter.ns = std::string(ns);
  HEKLA_ASSIGN_OR_RETURN(storage::ListResult list, impl_->core.store.List(*resource->table, query));
  std::vector<Value> out;
  out.reserve(list.objects.size());
  for (const storage::ObjectPtr& object : list.objects) {
    out.push_back(ToView(*resource, object->Parse()));
  }
  return out;
}

absl::Status ApiServer::Delete(absl::string_view api_version, absl::string_view kind,
                               absl::string_view ns, absl::string_view name) {
  HEKLA_ASSIGN_OR_RETURN(ResourcePtr resource, impl_->Find(api_version, kind));
  const absl::Status status = impl_->deleter.Delete(*resource, ns, name, DeleteParams()).status();
  impl_->collector.Run();
  return status;
}

absl::StatusOr<Value> ApiServer::Import(const Value& object) {
  absl::StatusOr<Value> imported = impl_->importer.Import(object);
  impl_->collector.Run();
  return imported;
}

int64_t ApiServer::resource_version() const { return impl_->core.store.version(); }

size_t ApiServer::watch_count() const { return impl_->core.store.watch_count(); }

}  // namespace hekla::apiserver
