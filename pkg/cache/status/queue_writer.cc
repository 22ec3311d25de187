#include "pkg/cache/status/queue_writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/apis/scheduling/queue.h"
#include "pkg/kube/api_status.h"

namespace hekla::cache {
namespace {

using apis::json::Value;

constexpr int kConflictTries = 5;
constexpr int kCreateTries = 60;

const kube::Resource& QueueResource() {
  static const auto* const r =
      new kube::Resource{"scheduling.volcano.sh", "v1beta1", "queues", "Queue", false};
  return *r;
}

// Equal as amounts, whatever the notation.
bool SameAmounts(const std::vector<std::pair<std::string, std::string>>& a,
                 const std::vector<std::pair<std::string, std::string>>& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, text] : a) {
    const auto other =
        std::find_if(b.begin(), b.end(), [&](const auto& entry) { return entry.first == name; });
    if (other == b.end()) return false;
    const absl::StatusOr<apis::meta::Quantity> x = apis::meta::Quantity::Parse(text);
    const absl::StatusOr<apis::meta::Quantity> y = apis::meta::Quantity::Parse(other->second);
    if (!x.ok() || !y.ok() || *x != *y) return false;
  }
  return true;
}

}  // namespace

WriteChannel::Call QueueWriter::CallOf(const ItemPtr& item) {
  return [this, item](WriteChannel::Done done) { Begin(item, std::move(done)); };
}

void QueueWriter::Write(ports::QueueStatus status) {
  auto item = std::make_shared<Item>();
  item->status = std::move(status);
  item->serial = writes_.Next(item->status.name);
  writes_.Submit(item->status.name, CallOf(item));
}

void QueueWriter::Begin(const ItemPtr& item, WriteChannel::Done done) {
  const std::string& name = item->status.name;
  const QueueStore::Entry* entry = context_->stores->queues().Find(name);
  if (entry == nullptr || (SameAmounts(entry->spec->status_allocated, item->status.allocated) &&
                           !writes_.uncertain.IsSo(name, entry->version))) {
    writes_.Settled(name, item->serial);
    done(absl::OkStatus());
    return;
  }
  absl::StatusOr<Value> queue = apis::json::Parse(entry->raw);
  CHECK(queue.ok()) << queue.status();
  Put(item, *std::move(queue), std::move(done));
}

void QueueWriter::Put(const ItemPtr& item, Value queue, WriteChannel::Done done) {
  Value allocated = Value::MakeObject();
  for (const auto& [resource, text] : item->status.allocated) allocated.Set(resource, text);
  queue.Ensure({"status"}).Set("allocated", std::move(allocated));
  const int64_t version = ParseResourceVersion(queue.At("metadata").GetString("resourceVersion"));
  const kube::ResourceClient queues(context_->client, QueueResource());
  queues.Update(
      {"", item->status.name, "status"}, queue,
      context_->OnIo<absl::StatusOr<Value>>(
          [this, item, version, done](const absl::StatusOr<Value>& answer) {
            const std::string& name = item->status.name;
            if (answer.ok()) {
              writes_.uncertain.Forget(name);
              writes_.Settled(name, item->serial);
              context_->stores->queues().ObserveQuietly(*answer);
            } else if (kube::IsConflict(answer.status()) && ++item->conflicts < kConflictTries) {
              ReadAgain(item, done);
              return;
            } else {
              if (IsOverload(answer.status())) writes_.uncertain.Lost(name, version);
              Failed(item, answer.status());
            }
            done(answer.status());
          }));
}

void QueueWriter::ReadAgain(const ItemPtr& item, WriteChannel::Done done) {
  const kube::ResourceClient queues(context_->client, QueueResource());
  queues.Get({"", item->status.name, ""},
             context_->OnIo<absl::StatusOr<Value>>([this, item, done](absl::StatusOr<Value> fresh) {
               if (fresh.ok()) {
                 Put(item, *std::move(fresh), done);
               } else {
                 Failed(item, fresh.status());
                 done(fresh.status());
               }
             }));
}

void QueueWriter::Failed(const ItemPtr& item, const absl::Status& status) {
  LOG_IF(ERROR, !IsOrdinaryFailure(status))
      << "queue status not written queue=" << item->status.name << " error=" << status.message();
  if (!MayBeTakenLater(status)) {
    writes_.Settled(item->status.name, item->serial);
    return;
  }
  item->conflicts = 0;
  writes_.Again(item->status.name, item->serial, item->tries++, CallOf(item));
}

void QueueWriter::CreateMissing(const std::string& default_queue) {
  Create("root", /*reclaimable=*/false, kCreateTries, [this, default_queue] {
    Create(default_queue, /*reclaimable=*/true, kCreateTries, [] {});
  });
}

void QueueWriter::Create(const std::string& name, bool reclaimable, int tries,
                         std::function<void()> next) {
  const kube::ResourceClient queues(context_->client, QueueResource());
  const auto create = [this, name, reclaimable, tries, next] {
    apis::scheduling::Queue queue;
    queue.metadata.name = name;
    queue.spec.weight = 1;
    queue.spec.reclaimable = reclaimable;
    Value body = apis::scheduling::EncodeQueue(queue);
    body.Remove("status");
    const kube::ResourceClient client(context_->client, QueueResource());
    client.Create("", body,
                  context_->OnIo<absl::StatusOr<Value>>(
                      [this, name, reclaimable, tries, next](const absl::StatusOr<Value>& made) {
                        if (made.ok() || kube::IsAlreadyExists(made.status())) {
                          next();
                          return;
                        }
                        LOG(ERROR) << "queue not created queue=" << name
                                   << " error=" << made.status().message();
                        if (tries <= 1) return;
                        context_->After(absl::Seconds(1), [this, name, reclaimable, tries, next] {
                          Create(name, reclaimable, tries - 1, next);
                        });
                      }));
  };
  queues.Get({"", name, ""}, context_->OnIo<absl::StatusOr<Value>>(
                                 [create, next](const absl::StatusOr<Value>& found) {
                                   if (found.ok()) {
                                     next();
                                   } else {
                                     create();
                                   }
                                 }));
}

}  // namespace hekla::cache
