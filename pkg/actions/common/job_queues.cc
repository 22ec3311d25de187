#include "pkg/actions/common/job_queues.h"

#include "absl/strings/str_cat.h"

namespace hekla::actions {

std::string NotOpenText(const framework::Session& session, model::QueueId queue) {
  const model::QueueTable& queues = session.tables().queues;
  absl::string_view state = "Unknown";
  switch (queues.spec[queue]->state) {
    case model::QueueState::kClosed:
      state = "Closed";
      break;
    case model::QueueState::kClosing:
      state = "Closing";
      break;
    default:
      break;
  }
  return absl::StrCat("queue \"", queues.name[queue], "\" is not open (state ", state, ")");
}

}  // namespace hekla::actions
