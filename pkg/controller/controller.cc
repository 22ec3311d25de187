#include "pkg/controller/controller.h"

#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/kube/api_status.h"

namespace hekla::controller {

// The controller's series, made at the start so that they exist at 0.
struct Controller::Series {
  Series(ControllerMetrics& families, const std::string& name)
      : error(families.reconcile_total.With({name, "error"})),
        requeue(families.reconcile_total.With({name, "requeue"})),
        requeue_after(families.reconcile_total.With({name, "requeue_after"})),
        success(families.reconcile_total.With({name, "success"})),
        errors(families.reconcile_errors.With({name})),
        terminal(families.terminal_errors.With({name})),
        panics(families.panics.With({name})),
        timeouts(families.timeouts.With({name})),
        time(families.reconcile_time.With({name})),
        active(families.active_workers.With({name})),
        concurrent(families.max_concurrent.With({name})) {}

  std::shared_ptr<metrics::Counter> error, requeue, requeue_after, success;
  std::shared_ptr<metrics::Counter> errors, terminal, panics, timeouts;
  std::shared_ptr<metrics::Histogram> time;
  std::shared_ptr<metrics::Gauge> active, concurrent;
};

Controller::Controller(Deps deps, Options options)
    : deps_(std::move(deps)),
      options_(std::move(options)),
      series_(std::make_unique<Series>(*deps_.metrics, options_.name)),
      limiter_(options_.limiter),
      queue_metrics_(deps_.metrics, options_.name),
      queue_(std::make_unique<PriorityQueue>(PriorityQueue::Deps{.executor = deps_.executor,
                                                                 .limiter = &limiter_,
                                                                 .metrics = &queue_metrics_,
                                                                 .on_dispatch = deps_.on_dispatch,
                                                                 .on_done = deps_.on_done})),
      unsynced_(std::make_shared<std::atomic<int>>(0)) {
  series_->concurrent->Set(options_.max_concurrent);
}

Controller::~Controller() = default;

void Controller::Watch(Source source) { sources_.push_back(std::move(source)); }

void Controller::Start(Cache& cache) {
  *unsynced_ += static_cast<int>(sources_.size());
  for (const Source& source : sources_) {
    kube::Handler<apis::json::Value> handler =
        SourceHandler(source, options_.low_priority_initial, queue_.get());
    handler.on_synced = [unsynced = unsynced_] { --*unsynced; };
    cache.AddHandler(source.resource, std::move(handler));
  }
  started_ = true;
}

bool Controller::Synced() const { return started_ && *unsynced_ == 0; }

void Controller::Work() {
  while (std::optional<PriorityQueue::Item> item = queue_->AskAndWait()) Run(*item);
}

bool Controller::ProcessNext() {
  const std::optional<PriorityQueue::Item> item = queue_->TryTake();
  if (!item.has_value()) return false;
  Run(*item);
  queue_->Organise();  // takes in what the reconcile said
  return true;
}

void Controller::Run(const PriorityQueue::Item& item) {
  series_->active->Add(1);
  const absl::Duration start = deps_.executor->Uptime();
  const absl::StatusOr<Result> result = Reconcile(item.key);
  series_->time->Observe(absl::ToDoubleSeconds(deps_.executor->Uptime() - start));
  Settle(item, result);
  queue_->Done(item.key);
  series_->active->Add(-1);
}

absl::StatusOr<Result> Controller::Reconcile(const Request& request) {
  std::string thrown;
  try {
    return deps_.reconciler->Reconcile(request);
  } catch (const std::exception& e) {
    thrown = e.what();
  } catch (...) {
    thrown = "unknown exception";
  }
  series_->panics->Add();
  return absl::InternalError(absl::StrCat("panic: ", thrown, " [recovered]"));
}

void Controller::Settle(const PriorityQueue::Item& item, const absl::StatusOr<Result>& result) {
  AddOptions again;
  again.priority = item.priority;
  if (!result.ok()) {
    const bool terminal = IsTerminal(result.status());
    series_->error->Add();
    series_->errors->Add();
    if (kube::IsConflict(result.status())) {
      LOG(INFO) << "object changed meanwhile controller=" << options_.name
                << " key=" << item.key.Key() << " detail=" << result.status().message();
    } else {
      LOG(ERROR) << "Reconciler error controller=" << options_.name << " namespace=" << item.key.ns
                 << " name=" << item.key.name << " error=" << result.status().message();
    }
    if (terminal) {
      series_->terminal->Add();
      return queue_->Forget(item.key);
    }
    again.rate_limited = true;
    return queue_->Add(item.key, again);
  }
  if (result->priority.has_value()) again.priority = result->priority;
  if (result->requeue_after > absl::ZeroDuration()) {
    series_->requeue_after->Add();
    queue_->Forget(item.key);
    again.after = result->requeue_after;
    queue_->Add(item.key, again);
  } else if (result->requeue) {
    series_->requeue->Add();
    again.rate_limited = true;
    queue_->Add(item.key, again);
  } else {
    series_->success->Add();
    queue_->Forget(item.key);
  }
}

}  // namespace hekla::controller
