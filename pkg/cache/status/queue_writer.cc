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

void QueueWriter::Write(ports::QueueStatus status) {
  auto item = std::make_shared<Item>();
  item->status = std::move(status);
  context_->channel->SubmitLatest(
      Lane::kStatus, absl::StrCat("queue/", item->status.name),
      [this, item](WriteChannel::Done done) { Begin(item, std::move(done)); });
}

void QueueWriter::Begin(const ItemPtr& item, WriteChannel::Done done) {
  const QueueStore::Entry* entry = context_->stores->queues().Find(item->status.name);
  if (entry == nullptr || SameAmounts(entry->spec->status_allocated, item->status.allocated)) {
    done(absl::OkStatus());
    return;
  }
  absl::StatusOr<Value> queue = apis::json::Parse(entry->raw);
  CHECK(queue.ok()) << queue.status();
  Put(item, *std::move(queue), std::move(done));
}

void QueueWriter::Put(const ItemPtr& item, Value queue, WriteChannel::Done done) {
  Value allocated = Value::MakeObject();
  for (const auto& [name, text] : item->status.allocated) allocated.Set(name, text);
  queue.Ensure({"status"}).Set("allocated", std::move(allocated));
  const kube::ResourceClient queues(context_->client, QueueResource());
  queues.Update({"", item->status.name, "status"}, queue,
                context_->OnIo<absl::StatusOr<Value>>([this, item,
                                                       done](const absl::StatusOr<Value>& answer) {
                  if (answer.ok()) context_->stores->queues().ObserveQuietly(*answer);
                  if (!kube::IsConflict(answer.status()) || ++item->conflicts >= kConflictTries) {
                    LOG_IF(ERROR, !answer.ok() && !kube::IsNotFound(answer.status()))
                        << "queue status not written queue=" << item->status.name
                        << " error=" << answer.status().message();
                    done(answer.status());
                    return;
                  }
                  const kube::ResourceClient again(context_->client, QueueResource());
                  again.Get({"", item->status.name, ""},
                            context_->OnIo<absl::StatusOr<Value>>(
                                [this, item, done](absl::StatusOr<Value> fresh) {
                                  if (fresh.ok()) {
                                    Put(item, *std::move(fresh), done);
                                  } else {
                                    done(fresh.status());
                                  }
                                }));
                }));
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
