#!/usr/bin/env python3
"""The checks on small trees, good and bad."""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


class CheckTest(unittest.TestCase):
    def run_check(self, check, files, *arguments):
        """Exit code and output of a check on a tree of {path: text}."""
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                full = os.path.join(root, path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "w", encoding="utf-8") as f:
                    f.write(text)
            done = subprocess.run([sys.executable, os.path.join(HERE, check), root, *arguments],
                                  capture_output=True, check=False)
            return done.returncode, done.stdout.decode() + done.stderr.decode()

    def good(self, check, files):
        code, out = self.run_check(check, files)
        self.assertEqual(code, 0, out)

    def bad(self, check, files, *expected):
        code, out = self.run_check(check, files)
        self.assertEqual(code, 1, out)
        for text in expected:
            self.assertIn(text, out)


class IncludesTest(CheckTest):
    def test_allowed_edges_pass(self):
        self.good("check_includes.py", {
            "pkg/cache/a.cc": '#include "pkg/kube/x.h"\n#include "pkg/model/x.h"\n#include "pkg/util/id.h"\n',
            "pkg/yaml/a.cc": '#include <yaml-cpp/yaml.h>\n#include "pkg/apis/json/value.h"\n',
            "pkg/plugins/gang/a.cc": '#include "pkg/plugins/common/x.h"\n#include "pkg/framework/s.h"\n',
            "pkg/plugins/registry.cc": '#include "pkg/plugins/gang/a.h"\n',
            "pkg/kube/config/a.cc": '#include "pkg/yaml/x.h"\n',
            "pkg/apis/core/a.h": '#include "pkg/apis/meta/x.h"\n',
            "pkg/assembly/a.cc": '#include "pkg/cache/x.h"\n#include "pkg/plugins/registry.h"\n',
            "pkg/sim/a.cc": '#include "pkg/apiserver/server.h"\n#include "pkg/assembly/a.h"\n',
            "cmd/scheduler/wiring.cc": '#include "pkg/cache/x.h"\n',
        })

    def test_forbidden_edges_are_named(self):
        for path, target in [
                ("pkg/util/a.h", "pkg/model/x.h"), ("pkg/model/a.h", "pkg/apis/core/pod.h"),
                ("pkg/framework/a.cc", "pkg/kube/x.h"), ("pkg/plugins/gang/a.cc", "pkg/plugins/drf/x.h"),
                ("pkg/plugins/gang/a.cc", "pkg/actions/allocate/x.h"), ("pkg/kube/a.cc", "pkg/apiserver/x.h"),
                ("pkg/plugins/gang/a.cc", "pkg/plugins/registry.h"), ("pkg/apiserver/a.cc", "pkg/kube/x.h"),
                ("pkg/assembly/a.cc", "pkg/sim/x.h"), ("pkg/ray/a.cc", "pkg/cache/x.h"),
                ("pkg/kube/a.cc", "pkg/yaml/x.h"), ("pkg/unheard_of/a.cc", "pkg/kube/x.h")]:
            self.bad("check_includes.py", {path: f'#include "{target}"\n'}, f"{path}:1:", target)

    def test_pkg_never_includes_cmd_and_only_wiring_joins(self):
        self.bad("check_includes.py", {"pkg/sim/a_test.cc": '#include "cmd/scheduler/options.h"\n'},
                 "pkg never includes cmd")
        self.bad("check_includes.py", {"cmd/scheduler/main.cc": '#include "pkg/cache/x.h"\n'}, "wiring")
        self.bad("check_includes.py", {"cmd/scheduler/wiring.cc": '#include "pkg/apiserver/server.h"\n'},
                 "pkg/apiserver")

    def test_tests_may_include_any_library(self):
        self.good("check_includes.py", {"pkg/kube/a_test.cc": '#include "pkg/apiserver/server.h"\n'})

    def test_third_party_headers_are_confined(self):
        for path, target in [("pkg/conf/a.cc", "yaml-cpp/yaml.h"), ("pkg/apis/core/a.cc", "rapidjson/reader.h"),
                             ("pkg/http/a.h", "cpprest/http_client.h"), ("pkg/kube/a_test.cc", "boost/asio.hpp"),
                             ("cmd/scheduler/main.cc", "gflags/gflags.h"), ("pkg/yaml/a.h", "yaml-cpp/yaml.h")]:
            self.bad("check_includes.py", {path: f"#include <{target}>\n"}, f"{path}:1: {target}")

    def test_flags_below_cmd_and_relative_paths_are_found(self):
        self.bad("check_includes.py", {"pkg/cache/a.cc": "int x = FLAGS_port;\n"}, "options struct")
        self.bad("check_includes.py", {"pkg/cache/a.cc": '#include "../kube/x.h"\n'}, "root of the repository")


class SizesTest(CheckTest):
    def test_file_limits(self):
        self.good("check_sizes.py", {"pkg/a/a.h": "\n" * 300, "pkg/a/a.cc": "\n" * 600,
                                     "pkg/a/a_test.cc": "\n" * 1000})
        self.bad("check_sizes.py", {"pkg/a/a.h": "\n" * 301}, "301 lines, 300 allowed")
        self.bad("check_sizes.py", {"pkg/a/a.cc": "\n" * 601}, "601 lines, 600 allowed")
        self.bad("check_sizes.py", {"pkg/a/a_test.cc": "\n" * 1001}, "1001 lines, 1000 allowed")

    def test_generated_and_data_files_are_exempt_when_they_say_why(self):
        self.good("check_sizes.py", {"pkg/a/a.cc": "// Data: one row per kind.\n" + "\n" * 2000,
                                     "pkg/a/b.cc": "// Generated: by tools/x.py\n" + "\n" * 2000})
        self.bad("check_sizes.py", {"pkg/a/a.cc": "// Data: \n" + "\n" * 2000}, "allowed")

    def test_function_lengths(self):
        body = "  x();\n"
        self.good("check_sizes.py", {"pkg/a/a.cc": "void F() {\n" + body * 78 + "}\n"})
        for head in ["void F() {\n", "int A::B::F(int a) const {\n", "A::A(int x)\n    : x_(x), y_{x} {\n",
                     "auto F() -> std::vector<int> {\n", "template <typename T>\nT F(T a) noexcept {\n",
                     "class A {\n public:\n  void F() override {\n", "bool operator==(A a, A b) {\n",
                     "namespace {\nvoid F(std::function<void(int, int)> f = [] {}) {\n", "TEST(A, B) {\n",
                     "absl::StatusOr<std::map<int, int>> F() ABSL_EXCLUSIVE_LOCKS_REQUIRED(m_) {\n"]:
            end = "}\n};\n" if head.startswith("class") else "}\n}\n" if head.startswith("namespace") else "}\n"
            self.bad("check_sizes.py", {"pkg/a/a.cc": head + body * 80 + end}, "lines, 80 allowed")

    def test_long_tables_and_classes_are_no_functions(self):
        self.good("check_sizes.py", {"pkg/a/a.cc": "const Row kRows[] = {\n" + '  {"a", F(1)},\n' * 200 + "};\n",
                                     "pkg/a/b.cc": "class A {\n" + "  int x;\n" * 200 + "};\n",
                                     "pkg/a/c.cc": "enum class E {\n" + "  kA,\n" * 200 + "};\n",
                                     "pkg/a/d.cc": "namespace a {\n" + "int x();\n" * 200 + "}\n"})

    def test_parameters(self):
        six = "std::map<int, int> a, int b, int c, int d, int e, F<int, int> f"
        self.good("check_sizes.py", {"pkg/a/a.cc": f"void F({six});\nconst int x = F(1, 2, 3, 4, 5, 6, 7);\n"})
        self.bad("check_sizes.py", {"pkg/a/a.cc": f"void F({six}, int g);\n"}, "F has 7 parameters, 6 allowed")
        self.bad("check_sizes.py", {"pkg/a/a.cc": f"A::A({six}, int g) : x_(a) {{}}\n"}, "7 parameters")
        self.good("check_sizes.py", {"pkg/a/a.cc": "void F() {\n  G(1, 2, 3, 4, 5, 6, 7);\n}\n"})

    def test_public_methods(self):
        def methods(n):
            return "".join(f"  void M{i}();\n" for i in range(n))
        self.good("check_sizes.py", {"pkg/a/a.h": "class A {\n public:\n  A();\n  ~A();\n" + methods(20) +
                                     "  int count() const;\n  void M0(int overload);\n private:\n" +
                                     methods(30).replace("M", "P") + "};\n"})
        self.bad("check_sizes.py", {"pkg/a/a.h": "class A final : public B {\n public:\n" + methods(21) + "};\n"},
                 "A has 21 public methods, 20 allowed")

    def test_braces_in_text_do_not_count(self):
        self.good("check_sizes.py", {"pkg/a/a.cc": 'void F() {\n  G("{", \'{\', R"({{)");  // {\n}\n' + "int x;\n" * 90})


class HeadersTest(CheckTest):
    def test_header_that_compiles_alone(self):
        self.good("check_headers.py", {"pkg/a/a.h": "#pragma once\n#include <string>\nstd::string F();\n"})

    def test_header_that_needs_another_first(self):
        self.bad("check_headers.py", {"pkg/a/a.h": "#pragma once\nstd::string F();\n"}, "does not compile alone")

    def test_pragma_once_and_first_include(self):
        self.bad("check_headers.py", {"pkg/a/a.h": "int F();\n"}, "no #pragma once")
        self.bad("check_headers.py", {"pkg/a/a.h": "#pragma once\n", "pkg/a/a.cc": "#include <map>\n"},
                 "the first include is pkg/a/a.h")


class TextTest(CheckTest):
    def test_open_tasks_carry_an_issue(self):
        task = "TO" + "DO"
        self.good("check_text.py", {"pkg/a/a.cc": f"// {task}(#12): finish.\n"})
        self.bad("check_text.py", {"pkg/a/a.cc": f"// {task}: finish.\n"}, "pkg/a/a.cc:1:")
        self.bad("check_text.py", {"scripts/a.sh": "# FIX" + "ME later\n"}, "scripts/a.sh:1:")

    def test_machine_paths(self):
        for path in ["/ro" + "ot/x", "/wo" + "rk/main", "/ho" + "me/me/x"]:
            self.bad("check_text.py", {"docs/a.md": f"see {path}\n"}, "path of one machine")
        self.good("check_text.py", {"docs/a.md": "see https://host/home/x and /home/ray/x and pkg/work/x\n"})

    def test_layout(self):
        self.bad("check_text.py", {"a/b.cc": "int x; \n"}, "white space")
        self.bad("check_text.py", {"a/b.cc": "int x;"}, "no newline")
        self.bad("check_text.py", {"a/b.cc": "// " + "x" * 98 + "\n"}, "101 columns")


class FormatTest(CheckTest):
    def test_format(self):
        code, out = self.run_check("check_format.py", {"a/b.cc": "int  x ;\n", "a/c.cc": "int x;\n"})
        if "not installed" in out:
            self.skipTest(out)
        self.assertEqual(code, 1, out)
        self.assertIn("a/b.cc:1:", out)
        self.assertNotIn("a/c.cc", out)


if __name__ == "__main__":
    unittest.main()
