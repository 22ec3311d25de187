#include "pkg/sim/faults/fault_transport.h"

#include <gtest/gtest.h>

#include <vector>

#include "pkg/http/loopback_transport.h"
#include "pkg/http/server.h"
#include "pkg/util/clock.h"
#include "pkg/util/manual_executor.h"

namespace hekla::sim {
namespace {

// Answers 200 and counts; a watch brings three chunks and ends.
class Server final : public http::Handler {
 public:
  void Handle(http::Request request, const http::Peer&,
              std::shared_ptr<http::Responder> responder) override {
    ++requests;
    if (request.target == "/open?watch=true") {
      stream = responder->StartStream(200, http::Headers());
      return;
    }
    if (request.target != "/watch") {
      http::Response response;
      response.status = 200;
      responder->Respond(std::move(response));
      return;
    }
    auto stream = responder->StartStream(200, http::Headers());
    for (const char* text : {"1", "2", "3"})
      stream->Write(std::make_shared<const std::string>(text));
    stream->Close();
  }
  int requests = 0;
  std::shared_ptr<http::StreamWriter> stream;
};

class Reader final : public http::StreamObserver {
 public:
  void OnHeaders(int s, const http::Headers&) override { status = s; }
  void OnData(absl::string_view bytes) override { text.append(bytes.data(), bytes.size()); }
  void OnEnd(const absl::Status& s) override {
    ++ends;
    end = s;
  }
  int status = 0, ends = 0;
  std::string text;
  absl::Status end;
};

class FaultTransportTest : public testing::Test {
 protected:
  void Make(FaultPlan plan, uint64_t seed = 1) {
    transport_ = std::make_unique<FaultTransport>(&loopback_, &executor_, seed, plan);
  }
  absl::StatusOr<http::Response> Call(const std::string& method) {
    absl::StatusOr<http::Response> answer = absl::UnknownError("no answer");
    http::Request request;
    request.method = method;
    request.target = "/x";
    transport_->Send(std::move(request), absl::Minutes(1),
                     [&answer](absl::StatusOr<http::Response> r) { answer = std::move(r); });
    executor_.Advance(absl::Seconds(30));
    return answer;
  }
  Reader Watch() {
    Reader reader;
    http::Request request;
    request.method = "GET";
    request.target = "/watch";
    auto stream = transport_->OpenStream(std::move(request), absl::InfiniteDuration(), &reader);
    executor_.Advance(absl::Seconds(30));
    return reader;
  }

  util::FakeClock clock_;
  util::ManualExecutor executor_{&clock_};
  Server server_;
  http::LoopbackTransport loopback_{&server_, &executor_};
  std::unique_ptr<FaultTransport> transport_;
};

TEST_F(FaultTransportTest, WithoutFaultsEverythingPasses) {
  Make({});
  EXPECT_EQ(Call("POST")->status, 200);
  EXPECT_EQ(Watch().text, "123");
  EXPECT_EQ(transport_->faults(), 0);
}

TEST_F(FaultTransportTest, RefusedNeverReachesTheServerAndALostAnswerDoes) {
  Make({.refused = 1000});
  EXPECT_EQ(Call("POST").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(server_.requests, 0);
  Make({.lost_answer = 1000});
  EXPECT_EQ(Call("POST").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(server_.requests, 1);
  EXPECT_EQ(Call("GET")->status, 200);  // reads have no effect to lose
}

TEST_F(FaultTransportTest, ErrorsOfTheServerHaveNoEffect) {
  Make({.too_many = 1000});
  auto answer = Call("POST");
  EXPECT_EQ(answer->status, 429);
  EXPECT_EQ(answer->headers.Get("Retry-After"), "1");
  Make({.conflict = 1000});
  EXPECT_EQ(Call("PUT")->status, 409);
  EXPECT_EQ(Call("GET")->status, 200);
  EXPECT_EQ(server_.requests, 1);
}

TEST_F(FaultTransportTest, WatchesBreakLagAndExpire) {
  Make({.stream_broken = 1000});
  Reader broken = Watch();
  EXPECT_EQ(broken.text, "");
  EXPECT_EQ(broken.ends, 1);
  EXPECT_EQ(broken.end.code(), absl::StatusCode::kUnavailable);
  Make({.stream_gone = 1000});
  EXPECT_EQ(Watch().status, 410);
  Make({.stream_lag = 1000});
  Reader late = Watch();
  EXPECT_EQ(late.text, "123");
  EXPECT_EQ(late.ends, 1);
}

TEST_F(FaultTransportTest, TheSameSeedMeetsTheSameFaults) {
  const FaultPlan plan{.slow = 100, .refused = 200, .too_many = 200, .server_error = 200};
  const auto outcomes = [&](uint64_t seed) {
    Make(plan, seed);
    std::vector<int> all;
    for (int i = 0; i < 100; ++i) {
      auto answer = Call("POST");
      all.push_back(answer.ok() ? answer->status : -1);
    }
    return all;
  };
  EXPECT_EQ(outcomes(5), outcomes(5));
  EXPECT_NE(outcomes(5), outcomes(6));
}

TEST_F(FaultTransportTest, AKilledProcessHearsNothingMore) {
  Make({.kill = 10000});
  EXPECT_EQ(Call("GET")->status, 200);  // dies at writes alone
  EXPECT_EQ(Call("POST").status().message(), "no answer");
  EXPECT_TRUE(transport_->killed());
  EXPECT_EQ(Call("GET").status().message(), "no answer");
}

TEST_F(FaultTransportTest, WhatIsUnderWayIsNotKnown) {
  Make({.stream_lag = 1000, .max_delay = absl::Seconds(10)});
  EXPECT_EQ(transport_->KnownUntil("/open"), absl::InfinitePast());
  Reader reader;
  http::Request request;
  request.method = "GET";
  request.target = "/open?watch=true";
  auto stream = transport_->OpenStream(std::move(request), absl::InfiniteDuration(), &reader);
  executor_.Advance(absl::Seconds(20));
  EXPECT_EQ(transport_->KnownUntil("/open"), executor_.Now());
  EXPECT_FALSE(transport_->Complete("/open"));
  const absl::Time sent = executor_.Now();
  server_.stream->Write(std::make_shared<const std::string>("k8s.io/initial-events-end"));
  executor_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(transport_->KnownUntil("/open"), sent);
  executor_.Advance(absl::Seconds(10));
  EXPECT_EQ(transport_->KnownUntil("/open"), executor_.Now());
  EXPECT_TRUE(transport_->Complete("/open"));
  const absl::Time closed = executor_.Now();
  stream.reset();
  executor_.Advance(absl::Seconds(10));
  EXPECT_EQ(transport_->KnownUntil("/open"), closed);
}

TEST_F(FaultTransportTest, NotedFaultsPlayInTheirPlaces) {
  const FaultPlan plan{.refused = 300, .server_error = 300};
  const auto outcomes = [&](FaultPlan with, FaultBook* book) {
    Make(with);
    transport_->SetBook(book);
    std::vector<int> all;
    for (int i = 0; i < 30; ++i) {
      auto answer = Call("POST");
      all.push_back(answer.ok() ? answer->status : -1);
    }
    return all;
  };
  FaultBook noted;
  const std::vector<int> drawn = outcomes(plan, &noted);
  ASSERT_FALSE(noted.noted().empty());
  std::vector<PlacedFault> read;
  for (const PlacedFault& fault : noted.noted()) read.push_back(*ParsePlacedFault(ToJson(fault)));
  FaultBook played(read);
  EXPECT_EQ(outcomes(FaultPlan(), &played), drawn);
}

TEST_F(FaultTransportTest, SwitchedOffItIsAPlainNetwork) {
  Make({.refused = 1000});
  transport_->SetFaults(false);
  EXPECT_EQ(Call("POST")->status, 200);
}

}  // namespace
}  // namespace hekla::sim
