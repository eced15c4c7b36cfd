"""The program does not notice that it is looked after."""

import subprocess

from harness import AGENT, HARNESS

import support

ORDINARY = """
import copy, errno, glob, importlib, inspect, os, pathlib, pickle, pydoc, shutil, sys, tempfile, traceback
out = []
for name in ("stat", "lstat", "access", "readlink"):
    f = getattr(os, name)
    out.append([repr(f), f.__name__, f.__qualname__, f.__module__, str(inspect.signature(f))])
    out.append([f in s for s in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks,
                                 os.supports_effective_ids)])
    out.append([inspect.isbuiltin(f), callable(f), f == f, f != 1, pydoc.render_doc(f)])
    out.append([pickle.loads(pickle.dumps(f)) == f, copy.deepcopy(f) == f, f in {f: 1}])
class Holder:
    look = os.stat
def failing(call):
    try:
        return repr(call())
    except Exception:
        return traceback.format_exc()
out += [failing(call) for call in (
    lambda: Holder().look("missing"),
    lambda: os.stat("missing"), lambda: os.stat("missing", follow_symlinks=False),
    lambda: os.lstat(pathlib.Path("missing")), lambda: os.stat(), lambda: os.stat(1.5),
    lambda: os.stat("a", "b"), lambda: os.stat("nul\\0"), lambda: os.stat(b"missing"),
    lambda: os.path.getsize("missing"), lambda: pathlib.Path("missing").stat(),
    lambda: os.path.exists("nul\\0"), lambda: os.path.exists(0), lambda: os.access("missing", 1),
    lambda: os.access(), lambda: os.readlink("."), lambda: pathlib.Path("missing").resolve(strict=True),
    lambda: open("missing"), lambda: os.listdir("missing"), lambda: os.mkdir("."),
)]
os.makedirs("tree/sub"); pathlib.Path("tree/sub/a.txt").write_text("x"); os.symlink("a.txt", "tree/sub/l")
shutil.copytree("tree", "copy", symlinks=True)
out.append(sorted(glob.glob("copy/**", recursive=True)))
out.append(sorted(map(str, pathlib.Path("copy").rglob("*"))))
out.append([os.path.realpath("copy/sub/l") == os.path.abspath("copy/sub/a.txt"),
            os.path.samefile("copy/sub/l", "copy/sub/a.txt"), shutil.rmtree.avoids_symlink_attacks])
with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as file:
    out.append([os.listdir(folder), file.write(b"x")])
out.append([[sorted(d), sorted(f)] for _, d, f in os.walk("copy")])
out.append([[sorted(d), sorted(f)] for _, d, f, _ in os.fwalk("copy")])
shutil.rmtree("tree"); shutil.move("copy", "moved")
pathlib.Path("made.py").write_text("x = 1")
sys.path.insert(0, os.getcwd()); importlib.invalidate_caches()
out.append([importlib.import_module("made").x, importlib.util.find_spec("nosuch")])
out.append(type(os.stat(".")).__name__)
print(out)
"""


def test_a_program_behaves_the_same(python, tmp_path):
    """repr, help, signature, pickling, tracebacks, pathlib, shutil, tempfile, glob, importlib."""
    results = []
    for name, before in (("plain", ""), ("seen", HARNESS.format(agent=str(AGENT)))):
        home = tmp_path / name
        home.mkdir()
        # Compiled by a fixed name, so that tracebacks are alike.
        source = (
            f"{before}\nexec(compile({ORDINARY!r}, 'program.py', 'exec'), {{'__name__': 'x'}})\n"
        )
        done = subprocess.run(
            [python, "-c", source],
            cwd=home,
            env=support.clean_environment(tmp_path),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        results.append(done.stdout.replace(str(home), "HOME"))
    assert results[0] == results[1]
    assert "FileNotFoundError" in results[0]
