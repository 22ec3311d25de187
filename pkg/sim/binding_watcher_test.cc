#include "pkg/sim/binding_watcher.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace hekla::sim {
namespace {

class BindingWatcherTest : public testing::Test {
 protected:
  BindingWatcherTest() {
    mirror_.Observe("ADDED",
                    *apis::json::Parse(R"({"kind":"Node","metadata":{"name":"n"},)"
                                       R"("status":{"allocatable":{"cpu":9,"pods":9}}})"),
                    now_);
    mirror_.Observe(
        "ADDED",
        *apis::json::Parse(R"({"kind":"Pod","metadata":{"namespace":"ns","name":"p","uid":"u"}})"),
        now_);
    decisions_.Decided("u", "n", {now_, now_, now_, now_}, now_);
  }
  static http::Request Binding() {
    http::Request request;
    request.method = "POST";
    request.target = "/api/v1/namespaces/ns/pods/p/binding";
    request.body = R"({"metadata":{"name":"p","uid":"u"},"target":{"name":"n"}})";
    return request;
  }
  static http::Request Read() {
    http::Request request;
    request.method = "GET";
    request.target = "/api/v1/namespaces/ns/pods/p";
    return request;
  }
  void Bind(int status) {
    watcher_.OnSent(Binding());
    watcher_.OnAnswered(Binding(), http::Response{.status = status, .headers = {}, .body = ""});
  }
  std::string Rules() const {
    std::string rules;
    for (const Violation& v : watcher_.violations()) absl::StrAppend(&rules, v.rule, " ");
    return rules;
  }

  ClusterMirror mirror_{"default"};
  DecisionAuditor decisions_{&mirror_};
  absl::Time now_ = absl::FromUnixSeconds(0);
  bool leads_ = true;
  BindingWatcher watcher_{
      {&decisions_, &mirror_, [this] { return now_; }, [this] { return leads_; }}};
};

TEST_F(BindingWatcherTest, OneBindingIsFine) {
  Bind(201);
  EXPECT_EQ(Rules(), "");
}

TEST_F(BindingWatcherTest, ASecondOneIsNot) {
  watcher_.OnSent(Binding());
  watcher_.OnSent(Binding());
  EXPECT_EQ(Rules(), "bound-twice ");
}

TEST_F(BindingWatcherTest, TooManyRequestsMeansThatNothingHappened) {
  Bind(429);
  Bind(201);
  EXPECT_EQ(Rules(), "");
}

TEST_F(BindingWatcherTest, AfterAFailureThePodIsRead) {
  Bind(503);
  Bind(201);
  EXPECT_EQ(Rules(), "not-read-again ");
}

TEST_F(BindingWatcherTest, OnceReadItMayBeBoundAgain) {
  Bind(503);
  EXPECT_TRUE(watcher_.OnSent(Read()));
  watcher_.OnAnswered(Read(), http::Response{.status = 200, .headers = {}, .body = ""});
  EXPECT_FALSE(decisions_.InFlight("u", "n"));
  decisions_.Decided("u", "n", {now_, now_, now_, now_}, now_);
  Bind(201);
  EXPECT_EQ(Rules(), "");
}

TEST_F(BindingWatcherTest, OnlyWhoHoldsTheLeaseBinds) {
  leads_ = false;
  watcher_.OnSent(Binding());
  EXPECT_EQ(Rules(), "two-leaders ");
}

TEST_F(BindingWatcherTest, OnlyWhatWasDecidedIsBound) {
  decisions_.Settled("u", now_);
  watcher_.OnSent(Binding());
  EXPECT_EQ(Rules(), "undecided ");
}

}  // namespace
}  // namespace hekla::sim
