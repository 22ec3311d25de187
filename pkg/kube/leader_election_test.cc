#include "pkg/kube/leader_election.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/apis/json/value.h"
#include "pkg/http/loopback_transport.h"
#include "pkg/kube/write_fence.h"
#include "pkg/util/clock.h"
#include "pkg/util/manual_executor.h"

namespace hekla::kube {
namespace {

using apis::json::Value;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Keeps one Lease as an API server would: conflicts by resource version, 404 until it is made.
class LeaseServer final : public http::Handler {
 public:
  void Handle(http::Request request, const http::Peer&,
              std::shared_ptr<http::Responder> responder) override {
    if (silent) {
      held.push_back(std::move(responder));
      return;
    }
    http::Response response;
    response.status = Serve(request, response.body);
    if (late) {
      answers.push_back([responder, response] { responder->Respond(response); });
    } else {
      responder->Respond(std::move(response));
    }
  }
  std::string Holder() const { return std::string(lease.At("spec").GetString("holderIdentity")); }

  Value lease;
  bool silent = false;  // takes requests and never answers
  bool late = false;    // does what is asked, and keeps the answers
  std::vector<std::function<void()>> answers;
  int puts = 0;
  std::vector<std::shared_ptr<http::Responder>> held;

 private:
  static std::string Failure(int code, const std::string& reason) {
    return "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"" + reason +
           "\",\"code\":" + std::to_string(code) + "}";
  }
  int Serve(const http::Request& request, std::string& body) {
    if (request.method != "POST" && lease.is_null()) {
      body = Failure(404, "NotFound");
      return 404;
    }
    if (request.method == "GET") {
      body = apis::json::Dump(lease);
      return 200;
    }
    Value next = *apis::json::Parse(request.body);
    if (request.method == "POST" && !lease.is_null()) {
      body = Failure(409, "AlreadyExists");
      return 409;
    }
    if (request.method == "PUT") {
      ++puts;
      if (next.At("metadata").GetString("resourceVersion") !=
          lease.At("metadata").GetString("resourceVersion")) {
        body = Failure(409, "Conflict");
        return 409;
      }
    }
    next.Ensure({"metadata"}).Set("resourceVersion", std::to_string(++version_));
    lease = std::move(next);
    body = apis::json::Dump(lease);
    return request.method == "POST" ? 201 : 200;
  }
  int version_ = 0;
};

class LeaderElectionTest : public ::testing::Test {
 protected:
  LeaderElectionTest()
      : client_({.transport = &transport_, .executor = &executor_}, RestClient::Options{.qps = 0}) {
  }
  std::unique_ptr<LeaderElector> Make(const std::string& identity, bool release = true) {
    LeaderElector::Options options;
    options.ns = "volcano-system";
    options.name = "volcano";
    options.identity = identity;
    options.release_on_cancel = release;
    LeaderElector::Callbacks callbacks;
    callbacks.on_started_leading = [this, identity] { log_.push_back(identity + " leads"); };
    callbacks.on_stopped_leading = [this, identity] { log_.push_back(identity + " stopped"); };
    return std::make_unique<LeaderElector>(&client_, &executor_, nullptr, options, callbacks);
  }
  std::vector<std::string> Take() { return std::exchange(log_, {}); }

  util::FakeClock clock_;
  util::SkewedClock wall_{&clock_};
  util::ManualExecutor executor_{&clock_, &wall_};
  LeaseServer server_;
  http::LoopbackTransport transport_{&server_, &executor_};
  RestClient client_;
  std::vector<std::string> log_;
};

TEST_F(LeaderElectionTest, TheFirstMakesTheLeaseAndRenewsIt) {
  const auto a = Make("a");
  a->Start();
  executor_.Advance(absl::Milliseconds(10));
  EXPECT_THAT(Take(), ElementsAre("a leads"));
  EXPECT_TRUE(a->IsLeader());
  EXPECT_EQ(server_.lease.At("spec").GetInt("leaseDurationSeconds"), 15);
  EXPECT_EQ(server_.lease.At("spec").GetInt("leaseTransitions"), 0);
  executor_.Advance(absl::Seconds(20));
  EXPECT_EQ(server_.puts, 10);  // every 2 s
  EXPECT_TRUE(a->IsLeader());
  EXPECT_TRUE(a->Check(absl::ZeroDuration()).ok());
}

TEST_F(LeaderElectionTest, AProcessThatStoodStillDoesNotBelieveToLead) {
  const auto a = Make("a");
  a->Start();
  executor_.Advance(absl::Seconds(1));
  clock_.Advance(absl::Seconds(9) - absl::Nanoseconds(1));  // no timer has run yet
  EXPECT_TRUE(a->IsLeader());
  clock_.Advance(absl::Nanoseconds(1));  // one renew deadline after the record was made
  EXPECT_FALSE(a->IsLeader());
}

TEST_F(LeaderElectionTest, ARenewalThatComesAfterAllOpensTheFenceAgain) {
  const auto a = Make("a");
  a->Start();
  executor_.Advance(absl::Seconds(1));
  server_.silent = true;
  executor_.Advance(absl::Seconds(9));
  EXPECT_FALSE(a->IsLeader()) << "others may go faster";
  server_.silent = false;
  server_.held.clear();  // the connection breaks, and it tries again
  executor_.Advance(absl::Milliseconds(1900));
  EXPECT_TRUE(a->IsLeader());
  EXPECT_THAT(Take(), ElementsAre("a leads"));
}

class SteppedClockTest : public LeaderElectionTest,
                         public ::testing::WithParamInterface<absl::Duration> {};

TEST_P(SteppedClockTest, NeitherLosesTheLeaseNorProlongsIt) {
  const auto a = Make("a");
  const auto b = Make("b");
  a->Start();
  executor_.Advance(absl::Seconds(1));
  b->Start();
  executor_.Advance(absl::Milliseconds(500));
  wall_.Step(GetParam());
  EXPECT_TRUE(a->IsLeader());
  EXPECT_TRUE(a->Check(absl::ZeroDuration()).ok());
  executor_.Advance(absl::Seconds(30) + absl::Milliseconds(600));
  EXPECT_EQ(server_.puts, 16) << "at 2, 4, ... 32 s";
  EXPECT_THAT(Take(), ElementsAre("a leads"));
  EXPECT_FALSE(b->IsLeader());

  server_.silent = true;
  wall_.Step(-2 * GetParam());
  executor_.Advance(absl::Milliseconds(9900) - absl::Nanoseconds(1));
  EXPECT_TRUE(a->IsLeader()) << "last renewed at 32 s";
  executor_.Advance(absl::Nanoseconds(1));
  EXPECT_FALSE(a->IsLeader());
}

TEST_P(SteppedClockTest, AStandbyWaitsForTheWholeLeaseAndNotLonger) {
  auto a = Make("a");
  const auto b = Make("b");
  a->Start();
  executor_.Advance(absl::Seconds(1));
  b->Start();
  executor_.Advance(absl::Seconds(8));  // renewed at 8 s
  a.reset();
  wall_.Step(GetParam());
  executor_.Advance(absl::Seconds(13));
  EXPECT_FALSE(b->IsLeader());
  executor_.Advance(absl::Milliseconds(9800));  // seen 4.4 s late and tried 4.4 s late at most
  EXPECT_TRUE(b->IsLeader());
}

INSTANTIATE_TEST_SUITE_P(Steps, SteppedClockTest,
                         ::testing::Values(absl::Hours(1), -absl::Hours(1), absl::Seconds(20),
                                           -absl::Seconds(20)));

TEST_F(LeaderElectionTest, EveryRenewalChangesTheRecord) {
  const auto a = Make("a");
  a->Start();
  executor_.Advance(absl::Seconds(3));
  const std::string renewed(server_.lease.At("spec").GetString("renewTime"));
  wall_.Step(-absl::Seconds(2));  // so that the next renewal, 2 s later, hits the same time
  executor_.Advance(absl::Seconds(2));
  EXPECT_EQ(server_.puts, 2);
  EXPECT_NE(server_.lease.At("spec").GetString("renewTime"), renewed);
}

TEST_F(LeaderElectionTest, TheRecordNamesNoLessThanTheLease) {
  LeaderElector::Options options;
  options.ns = options.name = options.identity = "x";
  options.lease_duration = absl::Milliseconds(15001);
  LeaderElector elector(&client_, &executor_, nullptr, options, {});
  elector.Start();
  executor_.Advance(absl::Seconds(1));
  EXPECT_EQ(server_.lease.At("spec").GetInt("leaseDurationSeconds"), 16);
}

// One process on a machine of its own.
struct Candidate {
  Candidate(util::FakeClock* clock, int64_t rate_permille, http::Handler* server,
            const std::string& identity)
      : own(clock, rate_permille), executor(clock, &own), transport(server, &executor) {
    LeaderElector::Options options;
    options.ns = options.name = "lease";
    options.identity = identity;
    elector = std::make_unique<LeaderElector>(&client, &executor, nullptr, options,
                                              LeaderElector::Callbacks());
    elector->Start();
  }
  util::SkewedClock own;
  util::ManualExecutor executor;
  http::LoopbackTransport transport;
  RestClient client{{.transport = &transport, .executor = &executor},
                    RestClient::Options{.qps = 0}};
  std::unique_ptr<LeaderElector> elector;
};

TEST(LeaderElectionRatesTest, ClocksMayDifferByLessThanLeaseToRenewDeadline) {
  util::FakeClock clock;
  LeaseServer server;
  Candidate slow(&clock, 830, &server, "slow");
  const auto run = [&](std::initializer_list<Candidate*> all, absl::Duration d) {
    for (const absl::Time end = clock.Now() + d; clock.Now() < end;) {
      absl::Time next = end;
      for (Candidate* c : all) next = std::min(next, c->executor.NextDue());
      if (next > clock.Now()) clock.Set(next);
      for (Candidate* c : all) c->executor.RunReady();
    }
  };
  run({&slow}, absl::Seconds(1));
  Candidate fast(&clock, 1240, &server, "fast");  // 1240 : 830 is a little less than 15 : 10
  run({&slow, &fast}, absl::Seconds(60));
  ASSERT_TRUE(slow.elector->IsLeader());
  // It stands still from now on, and only its fence is asked.
  while (!fast.elector->IsLeader()) {
    run({&fast}, absl::Milliseconds(1));
    ASSERT_FALSE(slow.elector->IsLeader() && fast.elector->IsLeader());
  }
}

TEST_F(LeaderElectionTest, AStandbyWaitsForTheWholeLeaseAndThenTakesOver) {
  auto a = Make("a");
  a->Start();
  executor_.Advance(absl::Seconds(1));
  const auto b = Make("b");
  b->Start();
  executor_.Advance(absl::Seconds(30));
  EXPECT_THAT(Take(), ElementsAre("a leads"));
  a.reset();  // as a crash: nothing is given back
  executor_.Advance(absl::Seconds(14));
  EXPECT_FALSE(b->IsLeader());
  executor_.Advance(absl::Seconds(8));
  EXPECT_TRUE(b->IsLeader());
  EXPECT_EQ(server_.Holder(), "b");
  EXPECT_EQ(server_.lease.At("spec").GetInt("leaseTransitions"), 1);
}

TEST_F(LeaderElectionTest, AnOrderlyStopGivesTheLeaseBack) {
  const auto a = Make("a");
  const auto b = Make("b");
  a->Start();
  executor_.Advance(absl::Seconds(1));
  b->Start();
  executor_.Advance(absl::Seconds(5));
  Take();
  bool done = false;
  a->Stop([&] { done = true; });
  executor_.RunReady();
  EXPECT_TRUE(done);
  EXPECT_THAT(Take(), ElementsAre("a stopped"));
  EXPECT_EQ(server_.Holder(), "");
  EXPECT_EQ(server_.lease.At("spec").GetInt("leaseDurationSeconds"), 1);
  executor_.Advance(absl::Seconds(5));  // b tries every 2 to 4.4 s
  EXPECT_THAT(Take(), ElementsAre("b leads"));
}

TEST_F(LeaderElectionTest, ALeaderThatCannotRenewStopsBeforeTheLeaseEnds) {
  const auto a = Make("a");
  a->Start();
  executor_.Advance(absl::Seconds(1));
  Take();
  server_.silent = true;
  executor_.Advance(absl::Milliseconds(10500));  // next renewal after 2 s, given up 10 s later
  EXPECT_THAT(Take(), IsEmpty());
  executor_.Advance(absl::Seconds(1));
  EXPECT_THAT(Take(), ElementsAre("a stopped"));
  EXPECT_FALSE(a->IsLeader());
}

TEST_F(LeaderElectionTest, ALateAnswerDoesNotProlongTheLease) {
  const auto a = Make("a");
  a->Start();
  executor_.Advance(absl::Seconds(1));
  Take();
  server_.late = true;
  executor_.Advance(absl::Milliseconds(1500));  // at 2 s the server takes the renewal
  ASSERT_EQ(server_.puts, 1);
  executor_.Advance(absl::Milliseconds(4500));
  server_.answers.at(0)();  // and at 7 s it says so
  server_.silent = true;
  executor_.Advance(absl::Seconds(7));
  EXPECT_THAT(Take(), IsEmpty());
  executor_.Advance(absl::Seconds(2));  // at 15 s; others may lead from 17 s on
  EXPECT_THAT(Take(), ElementsAre("a stopped"));
}

TEST_F(LeaderElectionTest, ALeaseTakenByAnotherIsNotGivenBack) {
  const auto a = Make("a");
  a->Start();
  executor_.Advance(absl::Seconds(1));
  server_.lease.Ensure({"spec"}).Set("holderIdentity", "other");
  server_.lease.Ensure({"metadata"}).Set("resourceVersion", "99");
  bool done = false;
  a->Stop([&] { done = true; });
  executor_.RunReady();
  EXPECT_TRUE(done);
  EXPECT_EQ(server_.Holder(), "other");
}

TEST_F(LeaderElectionTest, StoppingAStandbyTellsItOnce) {
  const auto a = Make("a");
  const auto b = Make("b");
  a->Start();
  executor_.Advance(absl::Seconds(1));
  b->Start();
  executor_.Advance(absl::Seconds(1));
  Take();
  int done = 0;
  b->Stop([&] { ++done; });
  b->Stop([&] { ++done; });
  executor_.Advance(absl::Seconds(30));
  EXPECT_EQ(done, 2);
  EXPECT_THAT(Take(), ElementsAre("b stopped"));
  EXPECT_EQ(server_.Holder(), "a");
}

TEST_F(LeaderElectionTest, TimesMustFitTogether) {
  LeaderElector::Options options;
  options.ns = options.name = options.identity = "x";
  EXPECT_TRUE(LeaderElector::Validate(options).ok());
  options.renew_deadline = absl::Seconds(15);
  EXPECT_FALSE(LeaderElector::Validate(options).ok());
  options.renew_deadline = absl::Seconds(2);
  EXPECT_FALSE(LeaderElector::Validate(options).ok());
  options.renew_deadline = absl::Seconds(10);
  options.name = "";
  EXPECT_FALSE(LeaderElector::Validate(options).ok());
}

TEST(WriteFenceTest, AnswersAsItIsToldAndNoWithoutAnybody) {
  WriteFence fence;
  EXPECT_FALSE(fence.MayWrite());
  bool leads = true;
  fence.Set([&leads] { return leads; });
  EXPECT_TRUE(fence.MayWrite());
  leads = false;
  EXPECT_FALSE(fence.MayWrite());
  leads = true;
  fence.Set(nullptr);
  EXPECT_FALSE(fence.MayWrite());
}

}  // namespace
}  // namespace hekla::kube
