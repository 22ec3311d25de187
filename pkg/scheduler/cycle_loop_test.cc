#include "pkg/scheduler/cycle_loop.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/util/clock.h"
#include "pkg/util/manual_executor.h"

namespace hekla::scheduler {
namespace {

using ::testing::ElementsAre;

class CycleLoopTest : public ::testing::Test {
 protected:
  CycleLoopTest()
      : executor_(&clock_),
        start_(clock_.Now()),
        loop_(std::make_unique<CycleLoop>(&executor_, CycleLoop::Options(), [this] {
          starts_.push_back(absl::ToInt64Milliseconds(clock_.Now() - start_));
          clock_.Advance(cycle_time_);
          if (on_cycle_) on_cycle_();
        })) {}

  util::FakeClock clock_;
  util::ManualExecutor executor_;
  absl::Time start_;
  absl::Duration cycle_time_ = absl::ZeroDuration();
  std::function<void()> on_cycle_;
  std::vector<int64_t> starts_;
  std::unique_ptr<CycleLoop> loop_;
};

TEST_F(CycleLoopTest, WithoutEventsACycleRunsOncePerPeriodAfterTheLastEnd) {
  cycle_time_ = absl::Milliseconds(200);
  loop_->Start();
  executor_.Advance(absl::Milliseconds(2500));
  EXPECT_THAT(starts_, ElementsAre(0, 1200, 2400));
}

TEST_F(CycleLoopTest, AnEventStartsACycleAtOnceWhenTheGapHasPassed) {
  loop_->Start();
  executor_.Advance(absl::Milliseconds(500));
  loop_->Wake();
  executor_.Advance(absl::Milliseconds(600));
  EXPECT_THAT(starts_, ElementsAre(0, 500));
}

TEST_F(CycleLoopTest, ManyEventsKeepTheGap) {
  loop_->Start();
  executor_.RunReady();
  for (int i = 0; i < 25; ++i) {
    loop_->Wake();
    loop_->Wake();
    executor_.Advance(absl::Milliseconds(1));
  }
  EXPECT_THAT(starts_, ElementsAre(0, 10, 20));
}

TEST_F(CycleLoopTest, AnEventDuringACycleLeadsToOneMore) {
  on_cycle_ = [this] {
    if (starts_.size() == 1) loop_->Wake();
  };
  loop_->Start();
  executor_.Advance(absl::Milliseconds(100));
  EXPECT_THAT(starts_, ElementsAre(0, 10));
}

TEST_F(CycleLoopTest, ALongCycleIsFollowedAtOnceWhenSomethingHappenedMeanwhile) {
  cycle_time_ = absl::Milliseconds(50);
  on_cycle_ = [this] {
    if (starts_.size() == 1) loop_->Wake();
  };
  loop_->Start();
  executor_.Advance(absl::Milliseconds(200));
  EXPECT_THAT(starts_, ElementsAre(0, 50));
}

TEST_F(CycleLoopTest, NothingRunsAfterStopOrDestruction) {
  loop_->Start();
  executor_.RunReady();
  loop_->Stop();
  loop_->Wake();
  executor_.Advance(absl::Seconds(5));
  EXPECT_THAT(starts_, ElementsAre(0));
  loop_.reset();
  executor_.Advance(absl::Seconds(5));
  EXPECT_THAT(starts_, ElementsAre(0));
}

}  // namespace
}  // namespace hekla::scheduler
