#include "pkg/apiserver/storage/journal.h"

#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/apiserver/storage/store.h"
#include "pkg/util/testing/temp_folder.h"

namespace hekla::apiserver::storage {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kBoot[] = "boot-a";

EncodedObject Object(absl::string_view name, absl::string_view text) {
  return Encode(*apis::json::Parse(
                    absl::StrCat(R"({"apiVersion":"v1","kind":"Note","metadata":{"name":")", name,
                                 R"(","uid":"u-)", name, R"("},"text":")", text, R"("})")),
                {});
}

class JournalTest : public ::testing::Test {
 protected:
  struct Opened {
    std::unique_ptr<Journal> journal;
    std::unique_ptr<Store> store;
    TablePtr notes;
  };
  absl::StatusOr<Opened> TryOpen(const std::string& folder, const std::string& boot = kBoot,
                                 uint64_t compact_bytes = 1 << 30) {
    auto journal =
        Journal::Open({.folder = folder, .min_compact_bytes = compact_bytes, .boot = boot});
    if (!journal.ok()) return journal.status();
    Opened out;
    out.journal = *std::move(journal);
    out.store = std::make_unique<Store>(100, out.journal.get());
    out.notes = out.store->AddTable("notes", false, {});
    return out;
  }
  Opened Open(const std::string& boot = kBoot, uint64_t compact_bytes = 1 << 30) {
    auto out = TryOpen(folder_, boot, compact_bytes);
    EXPECT_TRUE(out.ok()) << out.status();
    return *std::move(out);
  }
  static void Put(Opened& at, absl::string_view name, absl::string_view text) {
    const ObjectPtr old = at.store->Get(*at.notes, name);
    const absl::Time now = absl::FromUnixSeconds(1000);
    const auto written = old == nullptr ? at.store->Create(*at.notes, Object(name, text), now)
                                        : at.store->Update(*at.notes, Object(name, text),
                                                           old->resource_version(), now);
    EXPECT_TRUE(written.ok()) << written.status();
  }
  static void Remove(Opened& at, absl::string_view name) {
    const int64_t version = at.store->Get(*at.notes, name)->resource_version();
    EXPECT_TRUE(at.store->Delete(*at.notes, name, version).ok());
  }
  // "name=text@version" of all objects.
  static std::vector<std::string> Notes(const Opened& at) {
    std::vector<std::string> out;
    const auto list = at.store->List(*at.notes, ListQuery());
    for (const ObjectPtr& object : list->objects) {
      out.push_back(absl::StrCat(object->name(), "=", object->Parse().GetString("text"), "@",
                                 object->resource_version()));
    }
    return out;
  }
  // What a process leaves that is killed now.
  std::string Killed() {
    const std::string copy = absl::StrCat(root_, "/killed-", copies_++);
    fs::copy(folder_, copy);
    return copy;
  }
  std::vector<std::string> Files(const std::string& folder) {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder)) {
      out.push_back(entry.path().filename().string());
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  static std::string Text(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  static void Write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }

  const util::testing::TempFolder temp_;
  const std::string& root_ = temp_.path();
  const std::string folder_ = root_ + "/data";
  int copies_ = 0;
};

TEST_F(JournalTest, LinesAreReadAsTheyWereWritten) {
  const JournalRecord put{.kind = JournalRecord::Kind::kPut,
                          .version = 7,
                          .write_time_seconds = 9,
                          .table = "roles.rbac",
                          .key = "a \"b\" \\",
                          .content = R"({"x":"y z"})"};
  std::string line = JournalLine(put);
  EXPECT_THAT(line, HasSubstr(R"( put 7 9 roles.rbac "a \"b\" \\" {"x":"y z"})"));
  ASSERT_EQ(line.back(), '\n');
  line.pop_back();
  const auto read = ParseJournalLine(line);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->version, 7);
  EXPECT_EQ(read->write_time_seconds, 9);
  EXPECT_EQ(read->table, "roles.rbac");
  EXPECT_EQ(read->key, put.key);
  EXPECT_EQ(read->content, put.content);
  for (size_t i = 0; i < line.size(); ++i) {
    std::string changed = line;
    changed[i] ^= 1;
    EXPECT_FALSE(ParseJournalLine(changed).has_value()) << i;
    EXPECT_FALSE(ParseJournalLine(line.substr(0, i)).has_value()) << i;
  }
}

TEST_F(JournalTest, ARestartKeepsObjectsAndVersions) {
  {
    Opened first = Open();
    Put(first, "a", "1");
    Put(first, "b", "1");
    Put(first, "a", "2");
    Put(first, "c", "1");
    Remove(first, "b");
  }
  Opened second = Open();
  EXPECT_THAT(Notes(second), ElementsAre("a=2@3", "c=1@4"));
  EXPECT_EQ(second.store->version(), 5);
  EXPECT_EQ(second.store->Get(*second.notes, "a")->write_time_seconds(), 1000);
  EXPECT_EQ(second.store->Get(*second.notes, "a")->uid(), "u-a");
  Put(second, "d", "1");
  EXPECT_THAT(Notes(second), ElementsAre("a=2@3", "c=1@4", "d=1@6"));
}

TEST_F(JournalTest, AKilledProcessLosesNothing) {
  Opened first = Open();
  Put(first, "a", "1");
  Put(first, "b", "1");
  auto second = TryOpen(Killed());
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_THAT(Notes(*second), ElementsAre("a=1@1", "b=1@2"));
  EXPECT_EQ(second->store->version(), 2);
}

TEST_F(JournalTest, AfterTheMachinesEndVersionsGoOnBehindAGap) {
  Opened first = Open();
  Put(first, "a", "1");
  auto second = TryOpen(Killed(), "boot-b");
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->store->version(), 1000001);
  // In order, no gap is needed.
  first = Opened();
  EXPECT_EQ(Open("boot-b").store->version(), 1);
}

TEST_F(JournalTest, ARecordThatWasCutOffIsDropped) {
  Opened first = Open();
  Put(first, "a", "1");
  const size_t whole = Text(folder_ + "/log-0000000001").size();
  Put(first, "b", "1");
  const std::string text = Text(folder_ + "/log-0000000001");
  for (size_t size = whole; size < text.size(); size += 7) {
    const std::string killed = Killed();
    Write(killed + "/log-0000000001", text.substr(0, size));
    {
      auto second = TryOpen(killed);
      ASSERT_TRUE(second.ok()) << size << ": " << second.status();
      EXPECT_EQ(second->journal->dropped_bytes(), size - whole);
      EXPECT_THAT(Notes(*second), ElementsAre("a=1@1"));
      Put(*second, "c", "1");
    }
    auto third = TryOpen(killed);
    ASSERT_TRUE(third.ok()) << size << ": " << third.status();
    EXPECT_THAT(Notes(*third), ElementsAre("a=1@1", "c=1@2"));
    fs::remove_all(killed);
  }
}

TEST_F(JournalTest, DamageInTheMiddleIsAnErrorThatNamesThePlace) {
  {
    Opened first = Open();
    Put(first, "a", "1");
    Put(first, "b", "1");
  }
  const std::string path = folder_ + "/log-0000000001";
  std::string text = Text(path);
  const size_t at = text.find(" put 1 ") - 8;
  text[at + 20] ^= 1;
  Write(path, text);
  const absl::Status status = TryOpen(folder_).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat("log-0000000001 is damaged at byte ", at)));
}

TEST_F(JournalTest, OneProcessAtATime) {
  Opened first = Open();
  EXPECT_TRUE(absl::IsFailedPrecondition(TryOpen(folder_).status()));
}

TEST_F(JournalTest, CompactionKeepsTheStateAndShortensTheLogs) {
  Opened first = Open(kBoot, 4000);
  for (int i = 0; i < 200; ++i) Put(first, absl::StrCat("n", i % 5), absl::StrCat(i));
  EXPECT_TRUE(first.journal->WantsCompaction());
  first.store->Compact();
  EXPECT_FALSE(first.journal->WantsCompaction());
  EXPECT_THAT(Files(folder_), ElementsAre("lock", "log-0000000002", "snapshot-0000000002"));
  Put(first, "n1", "last");
  const std::vector<std::string> notes = Notes(first);
  auto second = TryOpen(Killed());
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(Notes(*second), notes);
  EXPECT_EQ(second->store->version(), 201);
  uint64_t most = 0;
  for (int i = 0; i < 3000; ++i) {
    Put(first, absl::StrCat("n", i % 5), absl::StrCat(i));
    first.store->Compact();
    uint64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) bytes += fs::file_size(entry);
    most = std::max(most, bytes);
  }
  EXPECT_LT(most, 6000u);  // the log before it is compacted, and a snapshot of five objects
}

TEST_F(JournalTest, AnEndInAnyStepOfACompactionLosesNothing) {
  Opened first = Open(kBoot, 4000);
  for (int i = 0; i < 50; ++i) Put(first, absl::StrCat("n", i % 5), absl::StrCat(i));
  const std::string before = Killed();
  first.store->Compact();
  Put(first, "n0", "new");
  const std::vector<std::string> notes = Notes(first);
  const std::string after = Killed();
  // The new log is there, the snapshot not yet, or only a part of it.
  const std::string snapshot = "/snapshot-0000000002";
  fs::copy(after + "/log-0000000002", before + "/log-0000000002");
  Write(before + snapshot + ".tmp", Text(after + snapshot).substr(0, 100));
  {
    auto second = TryOpen(before);
    ASSERT_TRUE(second.ok()) << second.status();
    EXPECT_EQ(Notes(*second), notes);
    EXPECT_THAT(Files(before), ElementsAre("lock", "log-0000000001", "log-0000000002"));
  }
  // The snapshot is there, the old log not yet gone.
  fs::copy(before + "/log-0000000001", after + "/log-0000000001");
  auto third = TryOpen(after);
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_EQ(Notes(*third), notes);
  EXPECT_THAT(Files(after), ElementsAre("lock", "log-0000000002", "snapshot-0000000002"));
}

TEST_F(JournalTest, MissingAndIncompleteFilesAreErrors) {
  {
    Opened first = Open(kBoot, 100);
    Put(first, "a", "1");
    first.store->Compact();
  }
  const std::string snapshot = folder_ + "/snapshot-0000000002";
  const std::string text = Text(snapshot);
  Write(snapshot, text.substr(0, text.find(" end ") - 8));
  EXPECT_TRUE(absl::IsDataLoss(TryOpen(folder_).status()));
  Write(snapshot, text);
  EXPECT_TRUE(TryOpen(folder_).ok());
  fs::remove(folder_ + "/log-0000000002");
  EXPECT_TRUE(absl::IsDataLoss(TryOpen(folder_).status()));
}

TEST_F(JournalTest, AWriteThatTheFileSystemRefusesDoesNotHappen) {
  Opened first = Open();
  Put(first, "a", "1");
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  rlimit limit = old_limit;
  limit.rlim_cur = Text(folder_ + "/log-0000000001").size() + 10;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const absl::Time now = absl::FromUnixSeconds(1000);
  EXPECT_TRUE(absl::IsDataLoss(first.store->Create(*first.notes, Object("b", "1"), now).status()));
  EXPECT_TRUE(
      absl::IsDataLoss(first.store->Update(*first.notes, Object("a", "2"), 1, now).status()));
  EXPECT_TRUE(absl::IsDataLoss(first.store->Delete(*first.notes, "a", 1).status()));
  EXPECT_THAT(Notes(first), ElementsAre("a=1@1"));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old_limit), 0);
  ::signal(SIGXFSZ, old_handler);
  Put(first, "c", "1");
  auto second = TryOpen(Killed());
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->journal->dropped_bytes(), 0u);
  EXPECT_THAT(Notes(*second), ElementsAre("a=1@1", "c=1@2"));
}

TEST_F(JournalTest, ObjectsOfUnknownTablesSurvive) {
  {
    Opened first = Open();
    const TablePtr things = first.store->AddTable("things", false, {});
    ASSERT_TRUE(first.store->Create(*things, Object("t", "1"), absl::UnixEpoch()).ok());
  }
  {
    Opened second = Open(kBoot, 10);
    second.store->Compact();
  }
  Opened third = Open();
  const TablePtr things = third.store->AddTable("things", false, {});
  EXPECT_EQ(third.store->List(*things, ListQuery())->objects.size(), 1u);
  third.store->DropTable(things);
  EXPECT_THAT(third.store->List(*third.store->AddTable("things", false, {}), ListQuery())->objects,
              IsEmpty());
  third = Opened();
  Opened fourth = Open();
  EXPECT_THAT(
      fourth.store->List(*fourth.store->AddTable("things", false, {}), ListQuery())->objects,
      IsEmpty());
}

TEST_F(JournalTest, WritersShareASyncAndCompactionRunsBesideThem) {
  auto journal = Journal::Open(
      {.folder = folder_, .sync_interval = {}, .min_compact_bytes = 20000, .boot = kBoot});
  ASSERT_TRUE(journal.ok());
  {
    Store store(100, journal->get());
    const TablePtr notes = store.AddTable("notes", false, {});
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&store, &notes, t] {
        for (int i = 0; i < 100; ++i) {
          EXPECT_TRUE(
              store.Create(*notes, Object(absl::StrCat("n", t, "-", i), "x"), absl::UnixEpoch())
                  .ok());
          if (t == 0) store.Compact();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  auto second = TryOpen(Killed());
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(Notes(*second).size(), 400u);
  EXPECT_EQ(second->store->version(), 400);
}

}  // namespace
}  // namespace hekla::apiserver::storage
