#include "pkg/cache/status/pod_group_writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/apis/scheduling/pod_group.h"
#include "pkg/kube/api_status.h"

namespace hekla::cache {
namespace {

using apis::json::Value;

// From then on a refused version is sent again although nothing newer has come.
constexpr int kTriesWithoutNews = 8;

const kube::Resource& PodGroupResource() {
  static const auto* const r =
      new kube::Resource{"scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup", true};
  return *r;
}

std::string KeyOf(const ports::PodGroupStatus& status) {
  return absl::StrCat(status.namespace_name, "/", status.name);
}

apis::scheduling::PodGroupStatus ToWire(const ports::PodGroupStatus& status) {
  apis::scheduling::PodGroupStatus out;
  out.phase = std::string(model::PhaseName(status.phase));
  out.running = status.running;
  out.succeeded = status.succeeded;
  out.failed = status.failed;
  for (const model::ConditionRow& c : status.conditions) {
    out.conditions.push_back(
        {c.type, c.status, c.transition_id, c.last_transition, c.reason, c.message});
  }
  return out;
}

}  // namespace

bool StatusDiffers(const model::JobSpec& have, const ports::PodGroupStatus& want) {
  if (have.phase != want.phase || have.running != want.running ||
      have.succeeded != want.succeeded || have.failed != want.failed ||
      have.conditions.size() != want.conditions.size()) {
    return true;
  }
  for (size_t i = 0; i < have.conditions.size(); ++i) {
    const model::ConditionRow& a = have.conditions[i];
    const model::ConditionRow& b = want.conditions[i];
    if (a.type != b.type || a.status != b.status || a.reason != b.reason ||
        a.message != b.message) {
      return true;
    }
  }
  return false;
}

bool PodGroupWriter::IsOwnWrite(const model::JobSpec& group) const {
  const auto it = wanted_.find(absl::StrCat(group.namespace_name, "/", group.name));
  return it != wanted_.end() && !StatusDiffers(group, it->second);
}

void PodGroupWriter::Write(ports::PodGroupStatus status) {
  const std::string key = KeyOf(status);
  if (auto it = deferred_.find(key); it != deferred_.end()) {
    if (status.message_only) {
      it->second = std::move(status);
      return;
    }
    deferred_.erase(it);  // the new one goes at once; the timer finds nothing
  }
  const absl::Duration delay = throttle_.Delay(key, status.message_only, context_->io->Uptime());
  auto item = std::make_shared<Item>();
  if (delay <= absl::ZeroDuration()) {
    item->status = std::move(status);
    Submit(item);
    return;
  }
  deferred_[key] = std::move(status);
  context_->After(delay, [this, key, item] {
    auto it = deferred_.find(key);
    if (it == deferred_.end()) return;
    item->status = std::move(it->second);
    deferred_.erase(it);
    Submit(item);
  });
}

WriteChannel::Call PodGroupWriter::CallOf(const ItemPtr& item) {
  return [this, item](WriteChannel::Done done) { Begin(item, std::move(done)); };
}

void PodGroupWriter::Submit(const ItemPtr& item) {
  const std::string key = KeyOf(item->status);
  item->serial = writes_.Next(key);
  writes_.Submit(key, CallOf(item));
}

void PodGroupWriter::Begin(const ItemPtr& item, WriteChannel::Done done) {
  const std::string key = KeyOf(item->status);
  const PodGroupStore::Entry* entry = context_->stores->pod_groups().Find(key);
  const bool same_object = entry != nullptr && entry->spec->uid == item->status.uid;
  if (!same_object || (!StatusDiffers(*entry->spec, item->status) &&
                       !writes_.uncertain.IsSo(key, entry->version))) {
    writes_.Settled(KeyOf(item->status), item->serial);
    done(absl::OkStatus());
    return;
  }
  if (entry->version <= item->refused_version && item->tries < kTriesWithoutNews) {
    // Still the version that was refused: what the server has has not reached us yet.
    Answered(item, absl::AbortedError("the watch has not caught up"));
    done(absl::OkStatus());
    return;
  }
  absl::StatusOr<Value> object = apis::json::Parse(entry->raw);
  CHECK(object.ok()) << object.status();
  apis::scheduling::WritePodGroupStatus(ToWire(item->status), *object);
  wanted_[key] = item->status;
  const int64_t version = entry->version;
  const kube::ResourceClient groups(context_->client, PodGroupResource());
  groups.Update({item->status.namespace_name, item->status.name, ""}, *object,
                context_->OnIo<absl::StatusOr<Value>>(
                    [this, item, key, version, done](const absl::StatusOr<Value>& answer) {
                      if (kube::IsConflict(answer.status())) item->refused_version = version;
                      if (IsOverload(answer.status())) writes_.uncertain.Lost(key, version);
                      if (answer.ok()) writes_.uncertain.Forget(key);
                      Answered(item, answer);
                      done(answer.status());
                    }));
}

void PodGroupWriter::Answered(const ItemPtr& item, const absl::StatusOr<Value>& answer) {
  if (answer.ok()) {
    context_->stores->pod_groups().ObserveQuietly(*answer);
    writes_.Settled(KeyOf(item->status), item->serial);
    return;
  }
  // The session takes a status for sent once it was handed over, so this does not give up.
  LOG_IF(ERROR, !IsOrdinaryFailure(answer.status()))
      << "Failed to update job <" << KeyOf(item->status) << ">: " << answer.status().message();
  if (!MayBeTakenLater(answer.status())) {
    writes_.Settled(KeyOf(item->status), item->serial);
    return;
  }
  writes_.Again(KeyOf(item->status), item->serial, item->tries++, CallOf(item));
}

}  // namespace hekla::cache
