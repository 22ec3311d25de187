#include "pkg/cache/status/pod_condition_writer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/apis/core/pod.h"
#include "pkg/kube/api_status.h"

namespace hekla::cache {
namespace {

using apis::json::Value;

constexpr int kConflictTries = 5;

std::string KeyOf(const ports::PodConditionWrite& write) {
  return absl::StrCat(write.namespace_name, "/", write.name);
}

bool SameCondition(const model::TaskSpec& task, const ports::PodConditionWrite& write) {
  const auto& old = task.scheduled_condition;
  return old && old->status == "False" && old->reason == write.reason &&
         old->message == write.message;
}

bool Nominates(const model::TaskSpec& task, const ports::PodConditionWrite& write) {
  return !write.nominated_node.empty() && write.nominated_node != task.nominated_node;
}

}  // namespace

struct PodConditionWriter::Item {
  ports::PodConditionWrite write;
  int conflicts = 0;
  int tries = 0;
  bool told = false;  // the event is out
  LatestWrites::Serial serial = 0;
};

bool PodConditionWriter::Changes(const ports::PodConditionWrite& write) {
  const std::string key = KeyOf(write);
  const PodStore::Entry* entry = context_->stores->pods().Find(key);
  if (entry == nullptr || entry->spec->uid != write.uid || !entry->spec->node.empty()) return false;
  const model::TaskSpec& task = *entry->spec;
  return !SameCondition(task, write) || Nominates(task, write) ||
         writes_.uncertain.IsSo(key, entry->version);
}

void PodConditionWriter::Write(ports::PodConditionWrite write) {
  const std::string key = KeyOf(write);
  // What is stored now may be about to change by an earlier write.
  if (!writes_.Has(key) && !Changes(write)) return;
  auto item = std::make_shared<Item>();
  item->write = std::move(write);
  item->serial = writes_.Next(key);
  writes_.Submit(key, CallOf(item));
}

void PodConditionWriter::Tell(Item& item) {
  if (std::exchange(item.told, true)) return;
  const ports::PodConditionWrite& w = item.write;
  context_->Event(PodReference(w.namespace_name, w.name, w.uid), /*warning=*/true,
                  "FailedScheduling", w.message);
}

WriteChannel::Call PodConditionWriter::CallOf(const ItemPtr& item) {
  return [this, item](WriteChannel::Done done) { Begin(item, std::move(done)); };
}

void PodConditionWriter::Settled(const ItemPtr& item) {
  writes_.Settled(KeyOf(item->write), item->serial);
}

void PodConditionWriter::Begin(const ItemPtr& item, WriteChannel::Done done) {
  if (!Changes(item->write)) {
    Settled(item);
    done(absl::OkStatus());
    return;
  }
  Read(item, std::move(done));
}

void PodConditionWriter::Read(const ItemPtr& item, WriteChannel::Done done) {
  const kube::ResourceClient pods(context_->client, PodResource());
  pods.Get({item->write.namespace_name, item->write.name, ""},
           context_->OnIo<absl::StatusOr<Value>>([this, item, done](absl::StatusOr<Value> pod) {
             if (!pod.ok()) {
               Failed(item, pod.status());
               done(pod.status());
             } else if (pod->At("metadata").GetString("uid") != item->write.uid ||
                        !pod->At("spec").GetString("nodeName").empty()) {
               Settled(item);  // another pod, or bound meanwhile
               done(absl::OkStatus());
             } else {
               Update(item, *std::move(pod), done);
             }
           }));
}

void PodConditionWriter::Update(const ItemPtr& item, Value pod, WriteChannel::Done done) {
  const ports::PodConditionWrite& w = item->write;
  bool changed = apis::core::SetPodCondition(pod, {"PodScheduled", "False", w.reason, w.message},
                                             context_->io->Now());
  if (!w.nominated_node.empty() &&
      pod.At("status").GetString("nominatedNodeName") != w.nominated_node) {
    pod.Ensure({"status"}).Set("nominatedNodeName", w.nominated_node);
    changed = true;
  }
  if (!changed) {
    Settled(item);
    done(absl::OkStatus());
    return;
  }
  Tell(*item);
  const int64_t version = ParseResourceVersion(pod.At("metadata").GetString("resourceVersion"));
  const kube::ResourceClient pods(context_->client, PodResource());
  pods.Update(
      {w.namespace_name, w.name, "status"}, pod,
      context_->OnIo<absl::StatusOr<Value>>(
          [this, item, version, done](const absl::StatusOr<Value>& answer) {
            const std::string key = KeyOf(item->write);
            if (IsOverload(answer.status())) writes_.uncertain.Lost(key, version);
            if (answer.ok()) {
              writes_.uncertain.Forget(key);
              context_->stores->pods().ObserveQuietly(*answer);
              Settled(item);
            } else if (kube::IsConflict(answer.status()) && ++item->conflicts < kConflictTries) {
              Read(item, done);
              return;
            } else {
              Failed(item, answer.status());
            }
            done(answer.status());
          }));
}

// Whoever decided on the condition does not say it twice, so a write that could not be made is made
// later, unless a newer one takes its place.
void PodConditionWriter::Failed(const ItemPtr& item, const absl::Status& status) {
  const std::string key = KeyOf(item->write);
  LOG_IF(ERROR, !IsOrdinaryFailure(status))
      << "pod condition not written pod=" << key << " error=" << status.message();
  if (!MayBeTakenLater(status)) {
    Settled(item);
    return;
  }
  item->conflicts = 0;
  writes_.Again(key, item->serial, item->tries++, CallOf(item));
}

}  // namespace hekla::cache
