#include "cmd/heklactl/hosted_cluster.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "cmd/heklactl/kubeconfig.h"
#include "pkg/apiserver/account_tokens.h"
#include "pkg/apiserver/shipped/shipped_crds.h"
#include "pkg/kube/config/environment.h"
#include "pkg/util/status_macros.h"

namespace hekla::cmd::heklactl {
namespace {

using apiserver::storage::Journal;

absl::StatusOr<std::unique_ptr<Journal>> OpenJournal(const HostedCluster::Options& options) {
  if (options.data_dir.empty()) return std::unique_ptr<Journal>();
  return Journal::Open({.folder = options.data_dir, .sync_interval = options.data_sync});
}

// The key that signs tokens, kept beside the objects; made where there is none yet. Whoever reads
// it can make tokens: as the folder, it is for its owner alone.
absl::StatusOr<std::string> TokenKey(const HostedCluster::Options& options, const Journal* owner) {
  if (owner == nullptr) return std::string();
  const std::string path = absl::StrCat(options.data_dir, "/token-key");
  const absl::StatusOr<std::string> hex = kube::ReadFile(path);
  if (absl::IsNotFound(hex.status())) {
    const std::string key = apiserver::AccountTokens::NewKey();
    HEKLA_RETURN_IF_ERROR(WritePrivateFile(path, absl::BytesToHexString(key)));
    return key;
  }
  HEKLA_RETURN_IF_ERROR(hex.status());
  const bool whole = hex->size() == 2 * apiserver::AccountTokens::kKeyBytes &&
                     std::all_of(hex->begin(), hex->end(), absl::ascii_isxdigit);
  if (!whole) {
    return absl::DataLossError(
        absl::StrCat(path,
                     " holds no key; without the file a new one is made, and tokens of "
                     "service accounts have to be asked for again"));
  }
  return absl::HexStringToBytes(*hex);
}

apiserver::Options ServerOptions(const HostedCluster::Options& options, const util::Clock* clock,
                                 Journal* journal, const std::string& token_key) {
  apiserver::Options out;
  out.clock = clock;
  out.journal = journal;
  out.token_key = token_key;
  out.seed = options.seed;
  if (!options.token.empty()) out.tokens = {options.token};
  out.users = options.users;
  out.enforce_rbac = options.enforce_rbac;
  return out;
}

}  // namespace

HostedCluster::HostedCluster(Options options)
    : options_(std::move(options)),
      journal_(OpenJournal(options_)),
      token_key_(TokenKey(options_, journal_.ok() ? journal_->get() : nullptr)),
      server_(ServerOptions(options_, &clock_, journal_.ok() ? journal_->get() : nullptr,
                            token_key_.value_or(""))) {}

HostedCluster::~HostedCluster() { Stop(); }

std::string HostedCluster::url() const { return absl::StrCat("http://127.0.0.1:", port_); }

absl::Status HostedCluster::Start() {
  HEKLA_RETURN_IF_ERROR(journal_.status());
  HEKLA_RETURN_IF_ERROR(token_key_.status());
  HEKLA_RETURN_IF_ERROR(apiserver::shipped::LoadCrds(server_));
  port_ = options_.port;
  HEKLA_RETURN_IF_ERROR(StartListening());
  hollow_ = std::make_unique<apiserver::hollow::HollowCluster>(server_, options_.kubelet);
  background_ = std::make_unique<util::ThreadExecutor>("hollow");
  hollow_->SetWakeUp([this] {
    if (!pump_posted_.exchange(true)) background_->Post([this] { PumpHollow(); });
  });
  background_->Post([this] { PumpHollow(); });
  background_->Post([this] { TickServer(); });
  if (*journal_ != nullptr) {
    journal_keeper_ = std::make_unique<util::ThreadExecutor>("journal");
    TendJournal();
  }
  return absl::OkStatus();
}

void HostedCluster::Stop() {
  if (background_ != nullptr) background_->Stop();
  if (journal_keeper_ != nullptr) journal_keeper_->Stop();
  server_.CloseWatches();
  StopListening();
  hollow_.reset();
  background_.reset();
}

absl::Status HostedCluster::StartListening() {
  http::BeastServer::Options options;
  options.port = port_;
  options.threads = options_.http_threads;
  options.thread_name = "apiserver";
  auto listener = std::make_unique<http::BeastServer>(std::move(options));
  HEKLA_RETURN_IF_ERROR(listener->Start(options_.front != nullptr ? options_.front : &server_));
  listener_ = std::move(listener);
  port_ = listener_->port();
  return absl::OkStatus();
}

void HostedCluster::StopListening() {
  if (listener_ != nullptr) listener_->Stop();
  listener_.reset();
}

absl::Status HostedCluster::AddNodes(apiserver::kubelet::NodeTemplate node,
                                     const std::string& prefix, int count) {
  for (int i = 0; i < count; ++i) {
    node.name = absl::StrCat(prefix, i);
    const absl::Status created =
        server_.Create(apiserver::kubelet::MakeNode(node, nodes_++, clock_.Now())).status();
    const bool kept = *journal_ != nullptr && absl::IsAlreadyExists(created);
    if (!kept) HEKLA_RETURN_IF_ERROR(created);
  }
  return absl::OkStatus();
}

void HostedCluster::PumpHollow() {
  pump_posted_ = false;
  if (pump_timer_ != 0) background_->Cancel(pump_timer_);
  pump_timer_ = 0;
  hollow_->Pump(clock_.Now());
  const absl::Time due = hollow_->NextDue();
  if (due == absl::InfiniteFuture()) return;
  pump_timer_ = background_->PostAfter(due - clock_.Now(), [this] {
    pump_timer_ = 0;
    PumpHollow();
  });
}

void HostedCluster::TendJournal() {
  const bool with_writes = options_.data_sync <= absl::ZeroDuration();
  journal_keeper_->PostAfter(with_writes ? absl::Seconds(1) : options_.data_sync, [this] {
    server_.TendJournal();
    TendJournal();
  });
}

void HostedCluster::TickServer() {
  // A watch that is opened meanwhile may be due earlier than what Tick said; a second is soon
  // enough.
  const absl::Duration wait = std::min(server_.Tick() - clock_.Now(), absl::Seconds(1));
  background_->PostAfter(wait, [this] { TickServer(); });
}

}  // namespace hekla::cmd::heklactl
