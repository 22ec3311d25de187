#include "pkg/http/loopback_transport.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "pkg/util/manual_executor.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::http {
namespace {

using util::testing::StatusIs;

// Answers at once, keeps the responder, or opens a stream, by path.
class FakeHandler : public Handler {
 public:
  void Handle(Request request, const Peer&, std::shared_ptr<Responder> responder) override {
    ++requests;
    if (request.target == "/keep") {
      kept = std::move(responder);
    } else if (request.target == "/stream") {
      writer = responder->StartStream(200, {});
      writer->SetOnClosed([this] { ++closed; });
    } else if (request.target != "/drop") {
      responder->Respond(Response{.status = 200, .headers = {}, .body = request.body + "!"});
    }
  }
  int requests = 0;
  int closed = 0;
  std::shared_ptr<Responder> kept;
  std::shared_ptr<StreamWriter> writer;
};

class Recorder : public StreamObserver {
 public:
  void OnHeaders(int status, const Headers&) override { log.push_back(absl::StrCat(status)); }
  void OnData(absl::string_view bytes) override { log.push_back(std::string(bytes)); }
  void OnEnd(const absl::Status& status) override { end = status; }
  std::vector<std::string> log;
  std::optional<absl::Status> end;
};

class LoopbackTransportTest : public ::testing::Test {
 protected:
  void Send(const std::string& target, absl::Duration timeout = absl::InfiniteDuration()) {
    transport->Send(Request{.method = "POST", .target = target, .headers = {}, .body = "hi"},
                    timeout,
                    [this](absl::StatusOr<Response> r) { results.push_back(std::move(r)); });
  }
  util::FakeClock clock;
  util::ManualExecutor executor{&clock};
  FakeHandler handler;
  std::unique_ptr<LoopbackTransport> transport =
      std::make_unique<LoopbackTransport>(&handler, &executor);
  std::vector<absl::StatusOr<Response>> results;
};

TEST_F(LoopbackTransportTest, NothingHappensInsideTheCall) {
  Send("/echo");
  EXPECT_EQ(handler.requests, 0);
  executor.RunReady();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0]->body, "hi!");
  EXPECT_EQ(results[0]->status, 200);
}

TEST_F(LoopbackTransportTest, TimeOutsFollowTheExecutorsClockAndLateAnswersAreDropped) {
  Send("/keep", absl::Seconds(10));
  executor.Advance(absl::Seconds(9));
  EXPECT_TRUE(results.empty());
  executor.Advance(absl::Seconds(1));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(results[0], StatusIs(absl::StatusCode::kDeadlineExceeded, ""));
  handler.kept->Respond(Response{.status = 200, .headers = {}, .body = ""});
  executor.RunReady();
  EXPECT_EQ(results.size(), 1u);
}

TEST_F(LoopbackTransportTest, AForgottenResponderAnswers500) {
  Send("/drop");
  executor.RunReady();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0]->status, 500);
}

TEST_F(LoopbackTransportTest, APlainRequestCollectsAStreamedAnswer) {
  Send("/stream");
  executor.RunReady();
  EXPECT_TRUE(handler.writer->Write(std::make_shared<const std::string>("a")));
  EXPECT_TRUE(handler.writer->Write(std::make_shared<const std::string>("b")));
  handler.writer->Close();
  executor.RunReady();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0]->body, "ab");
}

TEST_F(LoopbackTransportTest, StreamsDeliverInOrderAndEndInOrder) {
  Recorder recorder;
  auto stream = transport->OpenStream(Request{.method = "GET", .target = "/stream"},
                                      absl::InfiniteDuration(), &recorder);
  executor.RunReady();
  handler.writer->Write(std::make_shared<const std::string>("one"));
  EXPECT_EQ(handler.writer->queued_bytes(), 3u);
  handler.writer->Write(std::make_shared<const std::string>("two"));
  handler.writer->Close();
  EXPECT_FALSE(handler.writer->Write(std::make_shared<const std::string>("three")));
  executor.RunReady();
  EXPECT_EQ(recorder.log, (std::vector<std::string>{"200", "one", "two"}));
  ASSERT_TRUE(recorder.end.has_value());
  HEKLA_EXPECT_OK(*recorder.end);
  EXPECT_EQ(handler.closed, 1);
  EXPECT_EQ(handler.writer->queued_bytes(), 0u);
}

TEST_F(LoopbackTransportTest, DestroyingAStreamSilencesItAndTellsTheServer) {
  Recorder recorder;
  auto stream = transport->OpenStream(Request{.method = "GET", .target = "/stream"},
                                      absl::InfiniteDuration(), &recorder);
  executor.RunReady();
  handler.writer->Write(std::make_shared<const std::string>("late"));
  stream.reset();
  EXPECT_FALSE(handler.writer->Write(std::make_shared<const std::string>("x")));
  executor.RunReady();
  EXPECT_EQ(recorder.log, (std::vector<std::string>{"200"}));
  EXPECT_FALSE(recorder.end.has_value());
  EXPECT_EQ(handler.closed, 1);
}

TEST_F(LoopbackTransportTest, SilentStreamsEndAfterTheIdleTimeOut) {
  Recorder recorder;
  auto stream = transport->OpenStream(Request{.method = "GET", .target = "/stream"},
                                      absl::Seconds(30), &recorder);
  executor.Advance(absl::Seconds(29));
  handler.writer->Write(std::make_shared<const std::string>("x"));
  executor.Advance(absl::Seconds(29));
  EXPECT_FALSE(recorder.end.has_value());
  executor.Advance(absl::Seconds(1));
  ASSERT_TRUE(recorder.end.has_value());
  EXPECT_THAT(*recorder.end, StatusIs(absl::StatusCode::kDeadlineExceeded, ""));
  EXPECT_EQ(handler.closed, 1);
}

TEST_F(LoopbackTransportTest, LostConnectionsEndWhatIsOpen) {
  Recorder recorder;
  auto stream = transport->OpenStream(Request{.method = "GET", .target = "/stream"},
                                      absl::InfiniteDuration(), &recorder);
  Send("/keep");
  executor.RunReady();
  transport->DropConnections();
  executor.RunReady();
  ASSERT_TRUE(recorder.end.has_value());
  EXPECT_THAT(*recorder.end, StatusIs(absl::StatusCode::kUnavailable, ""));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(results[0], StatusIs(absl::StatusCode::kUnavailable, ""));
  EXPECT_EQ(handler.closed, 1);
}

TEST_F(LoopbackTransportTest, ShutDownCancelsRequestsAndTheHandlerIsLeftAlone) {
  Send("/keep");
  executor.RunReady();
  Send("/echo");
  transport.reset();
  executor.RunReady();
  EXPECT_EQ(handler.requests, 1);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(results[0], StatusIs(absl::StatusCode::kCancelled, ""));
  EXPECT_THAT(results[1], StatusIs(absl::StatusCode::kCancelled, ""));
}

}  // namespace
}  // namespace hekla::http
