// Times of Pinocchio's tree algorithms on the models of a text file; see trees.py, which writes the file and builds this.
// Output lines: model,algorithm,nanoseconds (the smallest over many short batches, one thread).
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>
namespace pin = pinocchio;
using Eigen::Matrix3d; using Eigen::MatrixXd; using Eigen::Vector3d; using Eigen::VectorXd;

static const char* only = nullptr; // one algorithm, called a fixed number of times, for instruction counts
static long calls = 0;

template <class F> static void measure(const std::string& model, const char* algorithm, F f) {
  using clock = std::chrono::steady_clock;
  if (only) { if (!std::strcmp(only, algorithm)) for (long i = 0; i < calls; ++i) f(i); return; }
  long n = 1;
  for (;;) {
    auto start = clock::now(); for (long i = 0; i < n; ++i) f(i);
    if (std::chrono::duration<double>(clock::now() - start).count() > 2e-4) break;
    n *= 2;
  }
  double best = 1e300;
  for (int batch = 0; batch < 300; ++batch) {
    auto start = clock::now(); for (long i = 0; i < n; ++i) f(i);
    best = std::min(best, std::chrono::duration<double>(clock::now() - start).count() / n);
  }
  std::printf("%s,%s,%.1f\n", model.c_str(), algorithm, best * 1e9); std::fflush(stdout);
}

static void race(const std::string& name, const pin::Model& m) {
  pin::Data d(m); const int K = 64;
  std::vector<VectorXd> q(K), v(K), a(K), tau(K);
  VectorXd lo = -VectorXd::Ones(m.nq), hi = VectorXd::Ones(m.nq);
  for (int i = 0; i < K; ++i) {
    q[i] = pin::randomConfiguration(m, lo, hi); v[i] = VectorXd::Random(m.nv); a[i] = VectorXd::Random(m.nv); tau[i] = VectorXd::Random(m.nv);
  }
  measure(name, "rnea", [&](long i) { pin::rnea(m, d, q[i % K], v[i % K], a[i % K]); });
  measure(name, "crba", [&](long i) { pin::crba(m, d, q[i % K], pin::Convention::LOCAL); });
  measure(name, "crba_world", [&](long i) { pin::crba(m, d, q[i % K], pin::Convention::WORLD); });
  measure(name, "aba", [&](long i) { pin::aba(m, d, q[i % K], v[i % K], tau[i % K], pin::Convention::LOCAL); });
  measure(name, "aba_world", [&](long i) { pin::aba(m, d, q[i % K], v[i % K], tau[i % K], pin::Convention::WORLD); });
  MatrixXd dq = MatrixXd::Zero(m.nv, m.nv), dv = dq, da = dq;
  measure(name, "rnea_derivatives", [&](long i) { pin::computeRNEADerivatives(m, d, q[i % K], v[i % K], a[i % K], dq, dv, da); });
  measure(name, "aba_derivatives", [&](long i) { pin::computeABADerivatives(m, d, q[i % K], v[i % K], tau[i % K], dq, dv, da); });
}

// usage: trees MODELS [MODEL ALGORITHM CALLS]
int main(int argc, char** argv) {
  std::ifstream file(argv[1]); std::string word, name; int n;
  const char* chosen = argc > 4 ? argv[2] : nullptr;
  if (chosen) { only = argv[3]; calls = std::atol(argv[4]); }
  while (file >> word >> name >> n) {
    pin::Model m;
    for (int j = 0; j < n; ++j) {
      int parent; std::string t; file >> parent >> t; double x[25]; for (double& y : x) file >> y;
      Matrix3d R, I; for (int k = 0; k < 9; ++k) R(k / 3, k % 3) = x[3 + k];
      I << x[19], x[20], x[21], x[20], x[22], x[23], x[21], x[23], x[24];
      pin::SE3 M(R, Vector3d(x[12], x[13], x[14])); std::string joint = "j" + std::to_string(j); pin::JointIndex id;
      Vector3d axis(x[0], x[1], x[2]);
      if (t == "FF") id = m.addJoint(parent, pin::JointModelFreeFlyer(), M, joint);
      else if (t == "RX") id = m.addJoint(parent, pin::JointModelRX(), M, joint);
      else if (t == "RY") id = m.addJoint(parent, pin::JointModelRY(), M, joint);
      else if (t == "RZ") id = m.addJoint(parent, pin::JointModelRZ(), M, joint);
      else if (t == "PX") id = m.addJoint(parent, pin::JointModelPX(), M, joint);
      else if (t == "PY") id = m.addJoint(parent, pin::JointModelPY(), M, joint);
      else if (t == "PZ") id = m.addJoint(parent, pin::JointModelPZ(), M, joint);
      else if (t == "RU") id = m.addJoint(parent, pin::JointModelRevoluteUnaligned(axis), M, joint);
      else if (t == "PU") id = m.addJoint(parent, pin::JointModelPrismaticUnaligned(axis), M, joint);
      else { std::fprintf(stderr, "unknown joint %s\n", t.c_str()); return 1; }
      m.appendBodyToJoint(id, pin::Inertia(x[15], Vector3d(x[16], x[17], x[18]), I), pin::SE3::Identity());
    }
    if (!chosen || name == chosen) race(name, m);
  }
}
