// Work that several processes of MPI share. Where the program was built without, these say so: make
// mpi, then make test runs them.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "apps/program.h"

#ifndef ROUTH_MPIEXEC
#define ROUTH_MPIEXEC ""
#endif

namespace {

using namespace routh::test;

struct Processes : Program {
  void SetUp() override {
    if (std::string(ROUTH_MPIEXEC).empty())
      GTEST_SKIP() << "built without MPI: make mpi, then make test";
    Program::SetUp();
  }
};

std::string on(int count, const std::string& arguments) {
  return "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 " ROUTH_MPIEXEC
         " --oversubscribe -n " +
         std::to_string(count) + " " ROUTH_PROGRAM " " + arguments;
}

const std::string kMap =
    "map compass-gait --vary friction=0.2:5:50 --vary rate=0.1:1:30 --samples 64 --measure "
    "outcomes,spread,steps ";
const std::string kRuns = "ensemble compass-gait --runs 300 --end 0.4 --seed 5 ";
const std::string kSamples = "impact compass-gait --law set --samples 30000 --keep 3000 --seed 2 ";
/// Pieces that take long enough to be killed in the middle.
const std::string kSlow = "impact disk-stack --law set --samples 2^15 --keep 100 ";

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}
/// JSON without what may differ: how long it took, and where things went.
std::string timeless(const std::string& path) {
  nlohmann::json j = nlohmann::json::parse(content(path));
  j["summary"].erase("seconds");
  j["summary"].erase("samples_per_second");
  j.erase("command");
  j["options"].erase("threads");
  return j.dump();
}

TEST_F(Processes, GiveTheSameBitsWhateverTheirNumber) {
  const Result one = run_plainly(kMap + "--csv - -q");
  ASSERT_EQ(one.code, 0);
  for (const int count : {1, 2, 3, 4}) {
    const Result r = shell(on(count, kMap + "--csv - -q 2>/dev/null"));
    EXPECT_EQ(r.code, 0) << count;
    EXPECT_EQ(r.out, one.out) << count;
  }
}

TEST_F(Processes, ShareRunsAndSamplesAsOneWouldMakeThem) {
  const std::string json = folder_ + "/r.json", modes = folder_ + "/m.svg",
                    csv = folder_ + "/t.csv";
  const std::string where = "--json " + json + " --csv " + csv + " -q ";
  for (const std::string& what : {kRuns + where + "--modes " + modes, kSamples + where}) {
    ASSERT_EQ(run(what).code, 0);
    const std::string whole = timeless(json), table = content(csv), graph = content(modes);
    for (const int count : {2, 3, 4}) {
      const Result r = shell(on(count, what + " --threads " + std::to_string(count - 1) + " 2>&1"));
      EXPECT_EQ(r.code, 0) << r.out;
      EXPECT_EQ(timeless(json), whole) << what << count;
      EXPECT_EQ(content(csv), table) << what << count;
      EXPECT_EQ(content(modes), graph) << what << count;
    }
  }
}

TEST_F(Processes, GoOnWhereKilledOnesWere) {
  for (const std::string& what : {kMap, kSlow}) {
    const std::string kept =
        what + "--checkpoint " + folder_ + "/kept" + std::to_string(what.size()) + " ";
    const Result whole = run_plainly(what + "--csv - -q");
    // one of them, then all of them
    const Result killed =
        shell(on(3, kept + "-q 2>&1 & ") +
              "sleep 1; M=$(pgrep -P $!); kill -9 $(pgrep -P $M | tail -1); wait $!");
    EXPECT_NE(killed.code, 124);  // it does not wait for the dead
    shell(on(2, kept + "-q 2>/dev/null & ") +
          "sleep 1; M=$(pgrep -P $!); kill -9 $(pgrep -P $M) $M; wait $! 2>/dev/null; true");
    const Result r = shell(on(4, kept + "--csv - -q 2>/dev/null"));
    EXPECT_EQ(r.code, 0);
    EXPECT_EQ(r.out, whole.out);
    // all is there now: no process has to do anything
    EXPECT_EQ(run_plainly(kept + "--csv - -q").out, whole.out);
  }
}

TEST_F(Processes, AreRefusedByOneOfThem) {
  const Result bad = shell(on(3, "map compass-gait --vary frction=0:1:3 2>&1"));
  EXPECT_NE(bad.code, 0);
  EXPECT_EQ(bad.out.find("did you mean"), bad.out.rfind("did you mean")) << bad.out;
  EXPECT_TRUE(says(bad, "did you mean 'friction'")) << bad.out;
  for (const std::string command :
       {"impact compass-gait", "check compass-gait", "ensemble compass-gait --branch 2"}) {
    const Result other = shell(on(2, command + " 2>&1"));
    EXPECT_TRUE(says(other, "not for several processes")) << other.out;
  }
}

TEST_F(Processes, EndTogetherWhereOneCannotGoOn) {
  // the first cannot keep its pieces: the folder is gone in the middle
  const std::string kept = folder_ + "/gone";
  const Result r = shell(on(3, kSlow + "--checkpoint " + kept + " 2>&1 & ") + "sleep 0.7; rm -rf " +
                         kept + "; wait $!");
  EXPECT_EQ(r.code, 3) << r.out;
  EXPECT_TRUE(says(r, "routh: ")) << r.out;
}

}  // namespace
