#include "pkg/http/beast_transport.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "pkg/http/client_pool.h"
#include "pkg/http/observer_gate.h"
#include "pkg/http/url.h"
#include "pkg/util/status_macros.h"

namespace hekla::http {
namespace {

using CallPtr = std::shared_ptr<ClientCall>;

std::string ToWire(const Request& request, absl::string_view authority) {
  std::string wire =
      absl::StrCat(request.method, " ", request.target, " HTTP/1.1\r\nHost: ", authority, "\r\n");
  for (const auto& [name, value] : request.headers.all()) {
    if (absl::EqualsIgnoreCase(name, "Host") || absl::EqualsIgnoreCase(name, "Content-Length")) {
      continue;
    }
    absl::StrAppend(&wire, name, ": ", value, "\r\n");
  }
  const bool has_body = !request.body.empty() || request.method == "POST" ||
                        request.method == "PUT" || request.method == "PATCH";
  if (has_body) absl::StrAppend(&wire, "Content-Length: ", request.body.size(), "\r\n");
  absl::StrAppend(&wire, "\r\n", request.body);
  return wire;
}

CallPtr MakeCall(const Request& request, absl::string_view authority) {
  auto call = std::make_shared<ClientCall>();
  call->wire = ToWire(request, authority);
  call->head = request.method == "HEAD";
  call->repeatable = call->head || request.method == "GET";
  return call;
}

// The way onto the pool's thread. Outlives the transport, because streams may.
class Mailbox {
 public:
  explicit Mailbox(ClientPool* pool) : pool_(pool) {}

  void Submit(CallPtr call) { Add({std::move(call), false}); }
  void Cancel(CallPtr call) { Add({std::move(call), true}); }
  // Nothing reaches the pool any more; what came before does.
  void Close() {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
  }
  void Deliver() {
    std::vector<Item> items;
    {
      absl::MutexLock lock(&mutex_);
      items.swap(items_);
    }
    for (Item& item : items) {
      if (item.cancel) {
        pool_->Cancel(item.call);
      } else {
        pool_->Submit(std::move(item.call));
      }
    }
  }

 private:
  struct Item {
    CallPtr call;
    bool cancel;
  };

  void Add(Item item) {
    absl::MutexLock lock(&mutex_);
    if (closed_) return;
    items_.push_back(std::move(item));
    if (items_.size() == 1) pool_->Post([this] { Deliver(); });  // Stop runs what was posted
  }

  ClientPool* const pool_;
  absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<Item> items_ ABSL_GUARDED_BY(mutex_);
};

class BeastStream final : public Stream {
 public:
  BeastStream(std::shared_ptr<Mailbox> mailbox, CallPtr call)
      : mailbox_(std::move(mailbox)), call_(std::move(call)), gate_(call_->gate) {}
  ~BeastStream() override {
    gate_->Close();
    mailbox_->Cancel(std::move(call_));
  }

 private:
  const std::shared_ptr<Mailbox> mailbox_;
  CallPtr call_;
  const std::shared_ptr<ObserverGate> gate_;
};

}  // namespace

class BeastTransport::Impl {
 public:
  Impl(Options options, const Url& url)
      : authority(url.Authority()),
        pool(std::move(options), url),
        mailbox(std::make_shared<Mailbox>(&pool)) {}
  ~Impl() {
    mailbox->Close();
    pool.Stop();
  }

  const std::string authority;
  ClientPool pool;
  const std::shared_ptr<Mailbox> mailbox;
};

absl::StatusOr<std::unique_ptr<BeastTransport>> BeastTransport::Create(Options options) {
  HEKLA_ASSIGN_OR_RETURN(const Url url, ParseUrl(options.url));
  SslCtx ctx;
  if (url.tls()) {
    HEKLA_ASSIGN_OR_RETURN(ctx, MakeClientContext(options.tls));
  }
  auto impl = std::make_unique<Impl>(std::move(options), url);
  if (ctx != nullptr) impl->pool.SetContext(std::move(ctx));  // the thread does not run yet
  impl->pool.Start();
  return std::unique_ptr<BeastTransport>(new BeastTransport(std::move(impl)));
}

BeastTransport::BeastTransport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BeastTransport::~BeastTransport() = default;

void BeastTransport::Send(Request request, absl::Duration timeout, ResponseCallback done) {
  CallPtr call = MakeCall(request, impl_->authority);
  call->done = std::move(done);
  if (timeout != absl::InfiniteDuration()) {
    call->deadline_ms = ClientPool::NowMs() + absl::ToInt64Milliseconds(timeout);
  }
  impl_->mailbox->Submit(std::move(call));
}

std::unique_ptr<Stream> BeastTransport::OpenStream(Request request, absl::Duration idle_timeout,
                                                   StreamObserver* observer) {
  CallPtr call = MakeCall(request, impl_->authority);
  call->gate = std::make_shared<ObserverGate>(observer);
  if (idle_timeout != absl::InfiniteDuration()) {
    call->idle_ms = absl::ToInt64Milliseconds(idle_timeout);
  }
  auto stream = std::make_unique<BeastStream>(impl_->mailbox, call);
  impl_->mailbox->Submit(std::move(call));
  return stream;
}

absl::Status BeastTransport::SetTls(const ClientTls& tls) {
  HEKLA_ASSIGN_OR_RETURN(SslCtx ctx, MakeClientContext(tls));
  auto shared = std::make_shared<SslCtx>(std::move(ctx));
  impl_->pool.Post([pool = &impl_->pool, shared] { pool->SetContext(std::move(*shared)); });
  return absl::OkStatus();
}

BeastTransport::Stats BeastTransport::stats() const { return impl_->pool.stats(); }

}  // namespace hekla::http
