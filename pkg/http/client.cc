#include "pkg/http/client.h"

#include <utility>

#include "absl/synchronization/notification.h"

namespace hekla::http {

absl::StatusOr<Response> SendAndWait(Transport& transport, Request request,
                                     absl::Duration timeout) {
  struct Shared {
    absl::Notification done;
    absl::StatusOr<Response> result = absl::UnknownError("not answered");
  };
  auto shared = std::make_shared<Shared>();
  transport.Send(std::move(request), timeout, [shared](absl::StatusOr<Response> result) {
    shared->result = std::move(result);
    shared->done.Notify();
  });
  shared->done.WaitForNotification();
  return std::move(shared->result);
}

}  // namespace hekla::http
