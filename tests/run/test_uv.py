"""Where packages come from, and what uv says of them."""

import os

import pytest

import packages
from zeroin.errors import UntestableError
from zeroin.run.uv import UnreachableError, Uv, UvError

A, B, C = (f"http://127.0.0.1:9/{name}/simple" for name in "abc")


@pytest.fixture
def env(zeroin):
    """No settings of this machine."""
    return {**zeroin.env, "PIP_CONFIG_FILE": os.devnull, "UV_HTTP_RETRIES": "0"}


def sources(env, folder):
    return Uv(env, str(folder)).sources()


def test_settings_of_uv_in_variables(env, tmp_path):
    """Each of uv's own variables is honoured."""
    told = {"UV_DEFAULT_INDEX": A, "UV_INDEX": B, "UV_FIND_LINKS": str(tmp_path)}
    found = sources(env | told, tmp_path)
    assert set(found.indexes) == {A, B}
    assert found.links == (str(tmp_path),)


def test_settings_of_uv_in_a_file_win_over_those_of_pip(env, tmp_path):
    """A uv.toml where the command is run says it, whatever pip is told."""
    (tmp_path / "uv.toml").write_text(f'[[index]]\nurl = "{A}"\ndefault = true\n')
    assert sources(env | {"PIP_INDEX_URL": B}, tmp_path).indexes == (A,)


def test_settings_of_pip_in_variables(env, tmp_path):
    """Where nobody has set uv, pip's variables count."""
    told = {"PIP_INDEX_URL": A, "PIP_EXTRA_INDEX_URL": f"{B} {C}"}
    assert set(sources(env | told, tmp_path).indexes) == {A, B, C}


def test_settings_of_pip_in_a_file(env, tmp_path):
    """A pip.conf, with more than one line to a setting."""
    conf = tmp_path / "pip.conf"
    conf.write_text(f"[global]\nindex-url = {A}\nextra-index-url =\n    {B}\n    {C}\n")
    found = sources(env | {"PIP_CONFIG_FILE": str(conf)}, tmp_path)
    assert set(found.indexes) == {A, B, C}


def test_without_settings_there_is_an_index(env, tmp_path):
    """The one that uv knows, and no other."""
    assert len(sources(env, tmp_path).indexes) == 1


def test_an_index_that_does_not_answer(env, tmp_path):
    """That is said, and is no property of the package."""
    uv = Uv(env | {"UV_DEFAULT_INDEX": A}, str(tmp_path))
    made = packages.make_environment(tmp_path / "env", env)
    with pytest.raises(UnreachableError, match="index does not answer") as caught:
        uv.would_change(str(made / "bin" / "python"), ["six==1.16.0"])
    assert caught.value.exit_code == 125


def test_what_would_have_to_change(env, tmp_path):
    """The package, and what is installed in a version that does not go with it; no more."""
    index = packages.Index(tmp_path / "index")
    for version, needs in (("1.0", "base<2"), ("2.0", "base>=2")):
        index.add("shop", version, {"shop.py": ""}, requires=[needs, "other"])
    for version in ("1.0", "1.5", "2.0"):
        index.add("base", version, {"base.py": ""})
    for version in ("1.0", "2.0"):
        index.add("other", version, {"other.py": ""})
    env |= index.env
    made = packages.make_environment(tmp_path / "env", env, "shop==1.0", "base==1.0", "other==1.0")
    uv, python = Uv(env, str(tmp_path)), str(made / "bin" / "python")
    assert uv.would_change(python, ["shop==1.0"]) == {}
    assert uv.would_change(python, ["shop==2.0"]) == {"shop": "2.0", "base": "2.0"}
    with pytest.raises(UvError, match=r"no version of shop==3\.0"):
        uv.would_change(python, ["shop==3.0"])


def test_the_reason_is_one_line(env, tmp_path):
    """Also where uv explains it at length."""
    index = packages.Index(tmp_path / "index")
    index.add("shop", "1.0", {"shop.py": ""}, python=">=3.99")
    env |= index.env
    made = packages.make_environment(tmp_path / "env", env)
    with pytest.raises(UvError) as caught:
        Uv(env, str(tmp_path)).would_change(str(made / "bin" / "python"), ["shop==1.0"])
    assert "Python>=3.99" in caught.value.message
    assert "\n" not in caught.value.message
    assert isinstance(caught.value, UntestableError)
