#include "pkg/cache/bind/volume_binder.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/well_known.h"
#include "pkg/kube/api_status.h"

namespace hekla::cache {
namespace {

using apis::json::Value;

constexpr absl::Duration kPollInterval = absl::Seconds(1);
constexpr int kConflictTries = 3;

const kube::Resource& VolumeResource() {
  static const auto* const r =
      new kube::Resource{"", "v1", "persistentvolumes", "PersistentVolume", false};
  return *r;
}
const kube::Resource& ClaimResource() {
  static const auto* const r =
      new kube::Resource{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true};
  return *r;
}

}  // namespace

struct VolumeBinder::Work {
  ports::VolumeWrites writes;
  std::string node;
  Done done;
  size_t bound = 0;                                         // bind_volumes done so far
  size_t selected = 0;                                      // select_nodes done so far
  size_t checked = 0;                                       // claims seen bound in this round
  absl::Duration deadline;                                  // in uptime
  std::vector<std::pair<std::string, std::string>> claims;  // namespace, name
};

void VolumeBinder::Bind(const ports::BindRequest& request, Done done) {
  auto work = std::make_shared<Work>();
  work->writes = request.volumes;
  work->node = request.node;
  work->done = std::move(done);
  work->deadline = context_->io->Uptime() + request.volumes.timeout;
  for (const auto& b : work->writes.bind_volumes) {
    work->claims.emplace_back(b.claim_namespace, b.claim_name);
  }
  for (const auto& s : work->writes.select_nodes) {
    work->claims.emplace_back(s.claim_namespace, s.claim_name);
  }
  Step(work);
}

void VolumeBinder::Step(const std::shared_ptr<Work>& work) {
  if (work->bound < work->writes.bind_volumes.size()) {
    BindOne(work);
  } else if (work->selected < work->writes.select_nodes.size()) {
    SelectOne(work);
  } else if (work->checked < work->claims.size()) {
    CheckOne(work);
  } else {
    End(work, absl::OkStatus());
  }
}

void VolumeBinder::End(const std::shared_ptr<Work>& work, const absl::Status& status) {
  if (status.ok()) {
    work->done(status);
  } else {
    work->done(absl::Status(status.code(), absl::StrCat("binding volumes: ", status.message())));
  }
}

void VolumeBinder::BindOne(const std::shared_ptr<Work>& work) {
  const ports::VolumeWrites::BindVolume& bind = work->writes.bind_volumes[work->bound];
  const auto change = [bind](Value& volume) -> absl::StatusOr<bool> {
    const Value& old = volume.At("spec").At("claimRef");
    if (old.GetString("uid") == bind.claim_uid) return false;
    const bool same_claim = old.GetString("namespace") == bind.claim_namespace &&
                            old.GetString("name") == bind.claim_name;
    if (!old.is_null() && !(same_claim && old.GetString("uid").empty())) {
      return absl::FailedPreconditionError(
          absl::StrCat("volume \"", bind.volume, "\" already bound to a different claim"));
    }
    volume.Ensure({"spec"}).Set("claimRef", Value::MakeObject({{"kind", "PersistentVolumeClaim"},
                                                               {"apiVersion", "v1"},
                                                               {"namespace", bind.claim_namespace},
                                                               {"name", bind.claim_name},
                                                               {"uid", bind.claim_uid}}));
    return true;
  };
  Modify(VolumeResource(), "", bind.volume, change, kConflictTries,
         [this, work](const absl::Status& status) {
           if (!status.ok()) return End(work, status);
           ++work->bound;
           Step(work);
         });
}

void VolumeBinder::SelectOne(const std::shared_ptr<Work>& work) {
  const ports::VolumeWrites::SelectNode& select = work->writes.select_nodes[work->selected];
  const auto change = [node = work->node](Value& claim) -> absl::StatusOr<bool> {
    Value& annotations = claim.Ensure({"metadata", "annotations"});
    if (annotations.GetString(apis::meta::kSelectedNodeAnnotation) == node) return false;
    annotations.Set(apis::meta::kSelectedNodeAnnotation, node);
    return true;
  };
  Modify(ClaimResource(), select.claim_namespace, select.claim_name, change, kConflictTries,
         [this, work](const absl::Status& status) {
           if (!status.ok()) return End(work, status);
           ++work->selected;
           Step(work);
         });
}

void VolumeBinder::CheckOne(const std::shared_ptr<Work>& work) {
  const auto& [ns, name] = work->claims[work->checked];
  Read(ClaimResource(), ns, name, [this, work, ns, name](absl::StatusOr<Value> claim) {
    if (!claim.ok() && !IsOverload(claim.status())) return End(work, claim.status());
    if (claim.ok()) {
      const Value& annotations = claim->At("metadata").At("annotations");
      if (!claim->At("spec").GetString("volumeName").empty() &&
          annotations.Has(apis::meta::kBindCompletedAnnotation)) {
        ++work->checked;
        return Step(work);
      }
      // The provisioner takes the node back when it cannot serve it.
      const bool selected = work->checked >= work->writes.bind_volumes.size();
      if (selected && !annotations.Has(apis::meta::kSelectedNodeAnnotation)) {
        return End(work, absl::FailedPreconditionError(
                             absl::StrCat("provisioning failed for PVC \"", name, "\"")));
      }
    }
    if (context_->io->Uptime() + kPollInterval > work->deadline) {
      return End(work, absl::DeadlineExceededError("context deadline exceeded"));
    }
    context_->After(kPollInterval, [this, work] { Step(work); });
  });
}

void VolumeBinder::Read(const kube::Resource& resource, const std::string& ns,
                        const std::string& name, std::function<void(absl::StatusOr<Value>)> done) {
  kube::ListOptions options;
  options.field_selector = absl::StrCat("metadata.name=", name);
  const kube::ResourceClient client(context_->client, resource);
  client.List(ns, options,
              context_->OnIo<absl::StatusOr<Value>>(
                  [done = std::move(done), name, resource](absl::StatusOr<Value> list) {
                    if (!list.ok()) return done(list.status());
                    Value* items = list->Find("items");
                    if (items == nullptr || items->size() == 0) {
                      return done(absl::NotFoundError(
                          absl::StrCat(resource.qualified_name(), " \"", name, "\" not found")));
                    }
                    Value object = std::move(items->as_array()[0]);
                    // Items of a list carry neither.
                    object.Set("apiVersion", resource.api_version());
                    object.Set("kind", resource.kind);
                    done(std::move(object));
                  }));
}

void VolumeBinder::Modify(const kube::Resource& resource, const std::string& ns,
                          const std::string& name,
                          std::function<absl::StatusOr<bool>(Value&)> change, int tries,
                          std::function<void(const absl::Status&)> done) {
  Read(resource, ns, name,
       [this, &resource, ns, name, change, tries, done](absl::StatusOr<Value> object) {
         if (!object.ok()) return done(object.status());
         absl::StatusOr<bool> changed = change(*object);
         if (!changed.ok()) return done(changed.status());
         if (!*changed) return done(absl::OkStatus());
         const kube::ResourceClient client(context_->client, resource);
         client.Update(
             {ns, name, ""}, *object,
             context_->OnIo<absl::StatusOr<Value>>([this, &resource, ns, name, change, tries,
                                                    done](const absl::StatusOr<Value>& answer) {
               if (kube::IsConflict(answer.status()) && tries > 1) {
                 Modify(resource, ns, name, change, tries - 1, done);
               } else {
                 done(answer.status());
               }
             }));
       });
}

}  // namespace hekla::cache
