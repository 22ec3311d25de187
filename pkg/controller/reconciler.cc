#include "pkg/controller/reconciler.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"
#include "glog/logging.h"

namespace hekla::controller {
namespace {

constexpr absl::string_view kTerminalUrl = "hekla.dev/terminal";

}  // namespace

absl::Status TerminalError(absl::Status status) {
  CHECK(!status.ok()) << "a success cannot be a terminal error";
  status.SetPayload(kTerminalUrl, absl::Cord("1"));
  return status;
}

bool IsTerminal(const absl::Status& status) { return status.GetPayload(kTerminalUrl).has_value(); }

}  // namespace hekla::controller
