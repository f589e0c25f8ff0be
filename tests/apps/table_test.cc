// Tables that may be larger than memory: CSV as it comes, and HDF5.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "apps/program.h"

#ifdef ROUTH_HDF5_LIBRARY
#include <hdf5.h>
#endif

namespace {

using namespace routh::test;
namespace fs = std::filesystem;
using Tables = Program;

/// Rows of cells; words in quotes are one.
std::vector<std::vector<std::string>> rows_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"')
        quoted = !quoted;
      else if (c == ',' && !quoted)
        cells.emplace_back();
      else
        cells.back() += c;
    }
    rows.push_back(cells);
  }
  return rows;
}

#ifdef ROUTH_HDF5_LIBRARY
/// What other readers of HDF5 see: every dataset of the root, as text.
struct Hdf5 {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::string>> columns;
  bool complete = false;
};

std::vector<std::string> words_of(hid_t read_from, bool attribute) {
  const hid_t space = attribute ? H5Aget_space(read_from) : H5Dget_space(read_from);
  std::vector<char*> words(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  EXPECT_GE(attribute ? H5Aread(read_from, type, words.data())
                      : H5Dread(read_from, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, words.data()),
            0);
  std::vector<std::string> all;
  for (char* word : words) {
    all.emplace_back(word);
    H5free_memory(word);
  }
  H5Tclose(type), H5Sclose(space);
  return all;
}

std::vector<std::string> words_of_attribute(hid_t object, const char* name) {
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  std::vector<std::string> words = words_of(attribute, true);
  H5Aclose(attribute);
  return words;
}

Hdf5 opened(const std::string& path) {
  Hdf5 h;
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  EXPECT_GE(file, 0) << path;
  if (file < 0) return h;
  h.names = words_of_attribute(file, "columns");
  unsigned char complete = 2;
  const hid_t said = H5Aopen(file, "complete", H5P_DEFAULT);
  H5Aread(said, H5T_NATIVE_UINT8, &complete);
  H5Aclose(said);
  h.complete = complete == 1;
  for (const std::string& name : h.names) {
    const hid_t set = H5Dopen2(file, name.c_str(), H5P_DEFAULT), type = H5Dget_type(set),
                space = H5Dget_space(set);
    std::vector<std::string>& column = h.columns[name];
    const auto count = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space));
    if (H5Tget_class(type) == H5T_STRING) {
      column = words_of(set, false);
    } else {
      std::vector<double> numbers(count);
      EXPECT_GE(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()), 0);
      const bool codes = H5Aexists(set, "labels") > 0;
      const std::vector<std::string> labels =
          codes ? words_of_attribute(set, "labels") : std::vector<std::string>();
      for (const double x : numbers) {
        std::ostringstream text;
        text.precision(17);
        if (codes)
          text << labels.at(static_cast<std::size_t>(x));
        else if (!std::isnan(x))
          text << x;
        column.push_back(text.str());
      }
    }
    H5Sclose(space), H5Tclose(type), H5Dclose(set);
  }
  H5Fclose(file);
  return h;
}

TEST_F(Tables, OfHdf5HaveTheCellsOfCsv) {
  const std::string csv = folder_ + "/t.csv", h5 = folder_ + "/t.h5";
  for (const std::string what :
       {"impact ramone --law set --samples 40000 --keep 33000 --seed 3",
        "impact compass-gait --law set --samples 100 --draws extremes",
        "map rocking-block --vary friction=-0.5:1:40 --samples 32 --measure outcomes,spread,steps",
        "ensemble compass-gait --runs 70 --end 0.3"}) {
    ASSERT_EQ(run(what + " --csv " + csv + " --hdf5 " + h5 + " -q").code, 0) << what;
    auto rows = rows_of(csv);
    const Hdf5 h = opened(h5);
    for (std::string& name : rows[0]) std::replace(name.begin(), name.end(), '/', '_');
    EXPECT_TRUE(h.complete);
    ASSERT_EQ(h.names, rows[0]) << what;
    for (std::size_t i = 0; i < rows[0].size(); ++i) {
      const std::vector<std::string>& column = h.columns.at(rows[0][i]);
      ASSERT_EQ(column.size() + 1, rows.size()) << what << rows[0][i];
      for (std::size_t k = 1; k < rows.size(); k += 1 + rows.size() / 500) {
        const std::string &a = column[k - 1], &b = rows[k][i];
        // the shortest text of a number is not that of 17 digits
        const bool number = !a.empty() && a.find_first_not_of("0123456789+-.e") == a.npos;
        if (number)
          ASSERT_EQ(std::stod(a), std::stod(b)) << rows[0][i];
        else
          ASSERT_EQ(a, b) << rows[0][i];
      }
    }
  }
}
#else
TEST_F(Tables, OfHdf5AreRefusedWithThePackageToInstall) {
  const Result r = run("map pushing --vary friction=0.5:1:2 --hdf5 " + folder_ + "/t.h5");
  EXPECT_EQ(r.code, 2);
  EXPECT_TRUE(says(r, "libhdf5-dev")) << r.out;
  EXPECT_TRUE(left().empty());
}
#endif

TEST_F(Tables, AreTheSameAsTheyComeAndAtOnce) {
  const std::string what = "impact compass-gait --law set --samples 9000 --keep 5000 --seed 1 -q ";
  const std::string a = folder_ + "/a.csv", b = folder_ + "/b.csv";
  // with JSON all is held in memory too
  ASSERT_EQ(run(what + "--csv " + a + " --json " + folder_ + "/a.json").code, 0);
  ASSERT_EQ(run(what + "--csv " + b + " --threads 1").code, 0);
  const auto rows = rows_of(a);
  EXPECT_EQ(rows, rows_of(b));
  const nlohmann::json j = nlohmann::json::parse(std::ifstream(folder_ + "/a.json"));
  ASSERT_EQ(rows.size(), 1 + j["outcomes"].size());
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}, std::size_t{700}, rows.size() - 2}) {
    EXPECT_EQ(rows[k + 1][0], std::to_string(k));
    EXPECT_EQ(rows[k + 1][1], "set");
    EXPECT_EQ(std::stod(rows[k + 1][3]), j["outcomes"][k]["energy"].get<double>());
    EXPECT_EQ(std::stod(rows[k + 1][5]), j["outcomes"][k]["velocity"][0].get<double>());
  }
}

TEST_F(Tables, OfRobotsNameEveryColumn) {
  const std::string csv = folder_ + "/t.csv";
  const Result r = run("ensemble biped --runs 2 --end 0.01 --csv " + csv + " -q");
  if (says(r, "libmujoco")) GTEST_SKIP() << "built without MuJoCo";
  const auto rows = rows_of(csv);
  ASSERT_EQ(rows.size(), 3u);
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
}

TEST_F(Tables, LeaveNothingBehindWhenTheDiskIsFull) {
  std::vector<std::string> files{"--csv " + folder_ + "/t.csv"};
#ifdef ROUTH_HDF5_LIBRARY
  files.push_back("--hdf5 " + folder_ + "/t.h5");
#endif
  for (const std::string& file : files) {
    for (const std::string what :
         {"impact compass-gait --law set --samples 20000 --keep 20000 ",
          "map compass-gait --vary friction=0.2:5:300 --vary rate=0.1:1:50 --samples 1 "}) {
      const Result r =
          shell("ulimit -f 300; trap '' XFSZ; " ROUTH_PROGRAM " " + what + file + " -q 2>&1");
      EXPECT_EQ(r.code, 3) << what << r.out;
      EXPECT_TRUE(says(r, "cannot write")) << r.out;
      EXPECT_TRUE(left().empty()) << what << file << left().front();
    }
  }
}

TEST_F(Tables, ThatNoDiskHoldsAreRefusedBeforeTheWork) {
  const std::string csv = " --csv " + folder_ + "/t.csv";
  const std::string large = "impact compass-gait --law set --samples 1e12 --keep 1e12";
  for (const auto& [what, words] : std::vector<std::pair<std::string, std::string>>{
           {large + csv, "there is room for"},
           {"map compass-gait --vary friction=0.2:5:1e6 --vary rate=0.1:1:1e6" + csv, "room for"},
           {large + " --json " + folder_ + "/t.json" + csv, "more go into --csv"},
           {large, "more go into --csv"},
           {"impact compass-gait --hdf5 " + folder_ + "/t.h5", "--hdf5 belongs to --law set"},
           {"ensemble compass-gait --runs 2 --branch 1 --hdf5 x.h5", "belongs"},
           {"map pushing --vary friction=0.5:1:2 --hdf5 -", "HDF5"},
           {"map pushing --vary friction=0.5:1:2 --hdf5 /dev/null", "HDF5"}}) {
    const Result r = run(what);
    EXPECT_EQ(r.code, 2) << what << r.out;
    EXPECT_TRUE(says(r, words) || says(r, "such a file")) << what << r.out;
    EXPECT_TRUE(left().empty()) << what;
  }
}

}  // namespace
