// Maps by several processes of MPI.

#include <gtest/gtest.h>

#include <filesystem>

#include "apps/program.h"

namespace {

using namespace routh::test;
using Processes = Program;

std::string on(int count, const std::string& arguments) {
  return "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " ROUTH_MPIEXEC
         " --oversubscribe -n " +
         std::to_string(count) + " " ROUTH_PROGRAM " " + arguments;
}

const std::string kWhat =
    "map compass-gait --vary friction=0.2:5:50 --vary rate=0.1:1:30 --samples 64 --measure "
    "outcomes,spread,steps ";

TEST_F(Processes, GiveTheSameBitsWhateverTheirNumber) {
  const Result one = run_plainly(kWhat + "--csv - -q");
  ASSERT_EQ(one.code, 0);
  for (const int count : {1, 2, 3, 4}) {
    const Result r = shell(on(count, kWhat + "--csv - -q 2>/dev/null"));
    EXPECT_EQ(r.code, 0) << count;
    EXPECT_EQ(r.out, one.out) << count;
  }
}

TEST_F(Processes, GoOnWhereKilledOnesWere) {
  const std::string kept = kWhat + "--checkpoint " + folder_ + "/kept ";
  const Result whole = run_plainly(kWhat + "--csv - -q");
  // one of them, then all of them
  const Result killed = shell("timeout 60 " + on(3, kept + "-q 2>&1 & ") +
                              "M=$!; sleep 1; L=$(pgrep -P $M); kill -9 $(pgrep -P $L | tail -1); "
                              "wait $M");
  EXPECT_NE(killed.code, 124);  // it does not wait for the dead
  shell(on(2, kept + "-q 2>/dev/null & ") +
        "M=$!; sleep 1; kill -9 $(pgrep -P $M) $M; wait $M 2>/dev/null; true");
  const Result r = shell(on(4, kept + "--csv - -q 2>/dev/null"));
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.out, whole.out);
}

TEST_F(Processes, AreRefusedByOneOfThem) {
  const Result bad = shell(on(3, "map compass-gait --vary frction=0:1:3 2>&1"));
  EXPECT_NE(bad.code, 0);
  EXPECT_EQ(bad.out.find("did you mean"), bad.out.rfind("did you mean")) << bad.out;
  EXPECT_TRUE(says(bad, "did you mean 'friction'")) << bad.out;
  const Result other = shell(on(2, "impact compass-gait 2>&1"));
  EXPECT_TRUE(says(other, "not for several processes")) << other.out;
}

}  // namespace
