#include "pkg/scheduler/scheduler.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/framework/scheduler_metrics.h"
#include "pkg/metrics/registry.h"

namespace hekla::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FakeSource final : public ports::SnapshotSource {
 public:
  FakeSource() : cluster_(std::make_shared<model::Dictionary>(), {}) {}
  bool Synced() const override { return synced; }
  model::Cluster& Snapshot() override {
    ++snapshots;
    return cluster_;
  }

  bool synced = true;
  int snapshots = 0;

 private:
  model::Cluster cluster_;
};

class NoSink final : public ports::DecisionSink {
 public:
  void Bind(std::vector<ports::BindRequest>) override {}
  void Evict(std::vector<ports::EvictRequest>) override {}
  void WritePodGroup(ports::PodGroupStatus) override {}
  void WriteQueue(ports::QueueStatus) override {}
  void WritePodCondition(ports::PodConditionWrite) override {}
  void Emit(ports::EventWrite) override {}
  void RemoveGate(ports::GateRemoval) override {}
};

// Writes down what happens.
using Log = std::vector<std::string>;

class LoggingAction final : public framework::Action {
 public:
  LoggingAction(std::string name, Log* log) : name_(std::move(name)), log_(log) {}
  absl::string_view name() const override { return name_; }
  void Execute(framework::Session&, const framework::Arguments& arguments) override {
    int64_t depth = -1;
    arguments.GetInt("depth", depth);
    log_->push_back(name_ + (depth >= 0 ? " depth " + std::to_string(depth) : ""));
  }

 private:
  const std::string name_;
  Log* const log_;
};

class LoggingPlugin final : public framework::Plugin {
 public:
  LoggingPlugin(std::string name, Log* log) : name_(std::move(name)), log_(log) {}
  ~LoggingPlugin() override { log_->push_back("drop " + name_); }
  void OnSessionOpen(framework::SessionBuilder&) override { log_->push_back("open " + name_); }
  void OnSessionClose(framework::Session&) override { log_->push_back("close " + name_); }

 private:
  const std::string name_;
  Log* const log_;
};

class SchedulerTest : public ::testing::Test {
 protected:
  SchedulerTest() : metrics_(registry_) {
    for (const char* name : {"first", "second"}) {
      actions_.push_back(
          {name, [this, name] { return std::make_unique<LoggingAction>(name, &log_); }});
      plugins_.push_back(
          {name, [this, name](const framework::PluginOption&, const framework::PluginDeps&) {
             log_.push_back(std::string("make ") + name);
             return std::make_unique<LoggingPlugin>(name, &log_);
           }});
    }
    Scheduler::Deps deps;
    deps.source = &source_;
    deps.sink = &sink_;
    deps.clock = &clock_;
    deps.plugins = &plugins_;
    deps.actions = &actions_;
    deps.metrics = &metrics_;
    scheduler_ = std::make_unique<Scheduler>(std::move(deps));
  }
  void Configure(absl::string_view text) {
    absl::StatusOr<conf::Config> config = conf::ParseConfig(text, "c", scheduler_->known());
    ASSERT_TRUE(config.ok()) << config.status();
    scheduler_->SetConfig(*std::move(config));
  }
  Log Take() { return std::exchange(log_, {}); }

  Log log_;
  FakeSource source_;
  NoSink sink_;
  util::FakeClock clock_;
  metrics::Registry registry_;
  framework::SchedulerMetrics metrics_;
  framework::ActionRegistry actions_;
  framework::PluginRegistry plugins_;
  std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(SchedulerTest, KnowsTheNamesOfItsRegistries) {
  EXPECT_THAT(scheduler_->known().actions, ElementsAre("first", "second"));
  EXPECT_THAT(scheduler_->known().plugins, ElementsAre("first", "second"));
}

TEST_F(SchedulerTest, NothingIsDecidedBeforeTheListsAreComplete) {
  Configure("actions: first\n");
  source_.synced = false;
  EXPECT_FALSE(scheduler_->RunOnce());
  EXPECT_EQ(source_.snapshots, 0);
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_EQ(scheduler_->stats().cycles, 0u);
  source_.synced = true;
  EXPECT_TRUE(scheduler_->RunOnce());
  EXPECT_EQ(scheduler_->stats().cycles, 1u);
}

TEST_F(SchedulerTest, ActionsRunInTheirOrderBetweenTheHooksOfPlugins) {
  Configure("actions: \"second, first, second\"\ntiers:\n- plugins: [{name: second}]\n");
  ASSERT_TRUE(scheduler_->RunOnce());
  EXPECT_THAT(Take(), ElementsAre("make second", "open second", "second", "first", "second",
                                  "close second"));
}

TEST_F(SchedulerTest, PluginsAreKeptOverCyclesAndMadeAnewForANewConfiguration) {
  Configure("actions: first\ntiers:\n- plugins: [{name: first}]\n");
  ASSERT_TRUE(scheduler_->RunOnce());
  ASSERT_TRUE(scheduler_->RunOnce());
  EXPECT_THAT(Take(), ElementsAre("make first", "open first", "first", "close first", "open first",
                                  "first", "close first"));
  Configure("actions: second\ntiers:\n- plugins: [{name: second}]\n");
  EXPECT_THAT(Take(), IsEmpty());  // from the next cycle on
  ASSERT_TRUE(scheduler_->RunOnce());
  EXPECT_THAT(Take(),
              ElementsAre("drop first", "make second", "open second", "second", "close second"));
}

TEST_F(SchedulerTest, AnActionGetsItsArguments) {
  Configure(
      "actions: \"first, second\"\nconfigurations:\n- name: second\n  arguments: {depth: 3}\n");
  ASSERT_TRUE(scheduler_->RunOnce());
  EXPECT_THAT(Take(), ElementsAre("first", "second depth 3"));
}

TEST_F(SchedulerTest, CyclesAndActionsAreMeasured) {
  Configure("actions: first\n");
  ASSERT_TRUE(scheduler_->RunOnce());
  const std::string text = registry_.Expose();
  EXPECT_THAT(text, HasSubstr("volcano_e2e_scheduling_latency_milliseconds_count 1\n"));
  EXPECT_THAT(text, HasSubstr("volcano_open_session_duration_milliseconds_count 1\n"));
  EXPECT_THAT(
      text,
      HasSubstr("volcano_action_scheduling_latency_milliseconds_count{action=\"first\"} 1\n"));
}

}  // namespace
}  // namespace hekla::scheduler
