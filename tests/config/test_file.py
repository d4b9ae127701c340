"""`repurpose.toml`: where it is found, what it gives, and what is said of what is wrong in it."""

from __future__ import annotations

import os
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repurpose.config import (
    ConfigFile,
    Settings,
    faults_in,
    file_in_force,
    find_file,
    from_environment,
    read_file,
    read_settings,
)
from repurpose.config._file import checked
from repurpose.errors import UsageError


def written(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "repurpose.toml"
    path.write_text(text, encoding="utf-8")
    return path


def settings_from(folder: Path, text: str, environment: dict[str, str] | None = None) -> Settings:
    return from_environment(environment or {}, file=read_file(written(folder, text)))


# --- where it is found ---------------------------------------------------------------------------


def test_the_nearest_file_upwards_is_found(tmp_path: Path) -> None:
    outer, inner = written(tmp_path, ""), written(tmp_path / "a", "")
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    assert find_file(deep, None) == inner
    inner.unlink()
    assert find_file(deep, None) == outer


def test_the_home_directory_is_the_last_folder_looked_into(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "home" / "work"
    work.mkdir(parents=True, exist_ok=True)
    written(tmp_path, "")
    assert find_file(work, home) is None
    assert find_file(work, home / "elsewhere") == tmp_path / "repurpose.toml"
    assert find_file(work, home) is None
    in_home = written(home, "")
    assert find_file(work, home) == in_home


def test_a_folder_of_that_name_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "repurpose.toml").mkdir()
    assert find_file(tmp_path, tmp_path) is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owner here")
def test_a_file_that_somebody_else_put_into_a_public_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "")
    if os.getuid() == 0:
        os.chown(path, 12345, -1)
    else:
        stranger = os.getuid() + 1
        monkeypatch.setattr(os, "getuid", lambda: stranger)
    tmp_path.chmod(0o755)
    assert find_file(tmp_path, tmp_path) is not None
    tmp_path.chmod(0o777)
    with pytest.raises(UsageError, match="another user") as told:
        find_file(tmp_path, tmp_path)
    assert "--config" in (told.value.hint or "")


def test_the_file_that_is_named_counts_then_that_of_the_variable_then_the_one_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = written(tmp_path / "here", "timeout = 1")
    variable = written(tmp_path / "variable", "timeout = 2")
    named = written(tmp_path / "named", "timeout = 3")
    monkeypatch.chdir(tmp_path / "here")
    environment = {"REPURPOSE_CONFIG": str(variable)}
    assert read_settings({}).timeout == 1
    assert read_settings(environment).timeout == 2
    assert read_settings(environment, config=named).timeout == 3
    assert read_settings(environment, search=False).timeout == 120
    assert file_in_force({}) == read_file(found)


def test_a_named_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent\.toml cannot be read"):
        read_settings({}, config=tmp_path / "absent.toml")


# --- what it gives -------------------------------------------------------------------------------


def test_relative_paths_begin_in_the_files_folder(tmp_path: Path) -> None:
    chosen = settings_from(tmp_path, 'database = "runs/all.db"\nformats_dir = "../formats"')
    assert chosen.database == tmp_path / "runs" / "all.db"
    assert chosen.formats_dir == tmp_path / ".." / "formats"
    absolute = tmp_path.anchor + "x.db"
    assert settings_from(tmp_path, f"database = '{absolute}'").database == Path(absolute)


def test_each_setting_reaches_its_field(tmp_path: Path) -> None:
    chosen = settings_from(
        tmp_path,
        """
        model = "gpt-4.1-mini"
        base_url = "http://localhost:1/v1"
        profile = "vllm"
        engine = "openai"
        temperature = 0
        timeout = 5
        max_output_tokens = 900
        context_tokens = 4096
        language = "de"
        audience = "CFOs"
        tone = "dry"
        brief = false
        segmenter = "nltk"
        concurrency = 2
        run = {formats = ["faq"], platforms = ["x=premium"], thread = true, variants = 3}
        loading = {follow = true, limit = 7, allow_private = true, proxy = "http://p:1"}
        [retry]
        max_retries = 2
        on_parse = false
        on_failure = "abort"
        [platforms.mastodon]
        limit = 1000
        [prices."gpt-4.1-mini"]
        input = 1
        output = 2.5
        [formats.meta]
        prompt = "Write."
        [endpoints.agent]
        base_url = "http://localhost:2"
        [composites.page]
        version = 1
        """,
    )
    assert (chosen.model, chosen.base_url) == ("gpt-4.1-mini", "http://localhost:1/v1")
    assert (chosen.profile, chosen.engine) == ("vllm", "openai")
    assert (chosen.temperature, chosen.timeout) == (0, 5)
    assert (chosen.output_tokens, chosen.context_tokens) == (900, 4096)
    assert (chosen.language, chosen.audience, chosen.tone) == ("de", "CFOs", "dry")
    assert (chosen.no_brief, chosen.segmenter, chosen.concurrency) == (True, "nltk", 2)
    assert (chosen.formats, chosen.platforms) == (("faq",), ("x=premium",))
    assert (chosen.thread, chosen.variants) == (True, 3)
    assert (chosen.follow, chosen.entries, chosen.allow_private) == (True, 7, True)
    assert chosen.proxy == "http://p:1"
    assert (chosen.retry.max_attempts, chosen.retry.on_parse) == (3, False)
    assert (chosen.on_failure, chosen.max_attempts) == ("abort", None)
    assert chosen.limits == {"mastodon": {"limit": 1000}}
    price = chosen.prices["gpt-4.1-mini"]
    assert (price.input, price.output, price.cached) == (1, 2.5, None)
    assert chosen.declared == {"meta": {"prompt": "Write."}}
    assert chosen.endpoints == {"agent": {"base_url": "http://localhost:2"}}
    assert chosen.composites == {"page": {"version": 1}}
    assert chosen.folder == tmp_path


def test_a_key_never_goes_to_an_address_of_a_file_unless_it_is_meant_for_one(
    tmp_path: Path,
) -> None:
    keys = {"OPENAI_API_KEY": "sk-openai", "OPENAI_BASE_URL": "http://other/v1"}
    text = 'model = "m"\nbase_url = "http://localhost:1/v1"'
    assert settings_from(tmp_path, text, keys).api_key is None
    assert settings_from(tmp_path, text, keys).base_url == "http://localhost:1/v1"
    assert settings_from(tmp_path, text, keys | {"REPURPOSE_API_KEY": "own"}).api_key == "own"


# --- what is wrong -------------------------------------------------------------------------------

FAULTS = {
    "max_attemps = 3": "max_attemps is not known; did you mean retry.max_attempts?",
    "modle = 'x'": "modle is not known; did you mean model?",
    "thread = true": "thread is not known; did you mean run.thread?",
    "[retry]\nmax_atempts = 3": "retry.max_atempts is not known; did you mean retry.max_attempts?",
    "[voics.acme]\ntone = 'x'": "voics is not known; did you mean voices?",
    "[voices.acme]\nbannd = ['x']": "voices.acme.bannd is not known; did you mean banned?",
    "qqqqq = 1": "qqqqq is not known",
    "timeout = '5'": "timeout must be a number above 0, not a text",
    "timeout = 0": "timeout must be a number above 0",
    "timeout = inf": "timeout must be a number above 0, not infinity or not a number",
    "timeout = true": "timeout must be a number above 0, not true or false",
    "concurrency = 2.0": "concurrency must be a whole number from 1 up, not a number",
    "model = 4": "model must be a text, not a whole number",
    "model = 2026-11-01": "model must be a text, not a date or time",
    "brief = 'no'": "brief must be true or false, not a text",
    "language = 'German'": "language must be a language code such as de, pt-BR or zh-Hans",
    "[run]\nvariants = 6": "run.variants must be a whole number from 1 to 5",
    "[run]\nformats = 'faq'": "run.formats must be a list of texts, not a text",
    "[run]\nformats = ['a', 1]": ("run.formats must be a list of texts; entry 2 is a whole number"),
    "formats = ['faq']": (
        "formats must hold tables, as [formats.NAME], not a list;"
        " which formats are made is said by run.formats"
    ),
    "retry = 3": "retry must be a table, not a whole number",
    "[retry]\nmax_attempts = 6": "retry.max_attempts must be a whole number from 1 to 5",
    "[retry]\nmax_attempts = 0": "retry.max_attempts must be a whole number from 1 to 5",
    "[retry]\nmax_attempts = 2\nmax_retries = 1": (
        "retry.max_attempts and retry.max_retries say the same; give one"
    ),
    "[retry]\non_failure = 'stop'": 'retry.on_failure must be "skip" or "abort"',
    "[platforms.mastodn]\nlimit = 1000": (
        "platforms.mastodn is no platform; did you mean mastodon?"
    ),
    "[platforms.x]\nlimit = 3": "platforms.x.limit must be a whole number from 20 up",
    "[platforms.x]\nmax_tags = 3": "platforms.x.max_tags is not known",
    "[prices.m]\ninput = 1": "prices.m lacks output, in US dollars per million tokens",
    "[prices.m]\ninput = -1\noutput = 1": "prices.m.input must be a number from 0 up",
    "[endpoints]\nagent = 'x'": "endpoints.agent must be a table, not a text",
    "[endpoints.a]\nbase_url = 'ftp://a'": "endpoints.a.base_url must be",
    "[endpoints.a]\nbase_url = 'http://a'\ncompletion = {mode = 'pol'}": (
        "endpoints.a.completion: mode must be one of"
    ),
    "[endpoints.a]\nbase_url = 'http://a'\nresult_path = 'x'\n"
    "completion = {mode = 'trace', source = {kind = 'jaeger'}}": (
        "endpoints.a.completion.source.kind must be mlflow or otlp"
    ),
    "[endpoints.a]\nbase_url = 'http://a'\nresult_pth = 'x'": (
        "endpoints.a: unknown key 'result_pth'; did you mean result_path?"
    ),
    "[composites]\npage = 1": "composites.page must be a table, not a whole number",
    "[voices.a]\nbanned = ['']": "voices.a.banned must be a list of texts; entry 1 is empty",
}


@pytest.mark.parametrize("text", FAULTS)
def test_what_is_wrong_is_one_line_with_file_and_key(text: str, tmp_path: Path) -> None:
    (fault,) = faults_in(written(tmp_path, text))
    name, colon, said = fault.partition("repurpose.toml: ")
    assert colon
    assert name in ("", f"{tmp_path}/")
    assert said.startswith(FAULTS[text])
    assert "\n" not in fault


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = \n", "line 1"),
        ("\n\n[retry\n", "line 3"),
        ("model = 'x'\nmodel = 'y'\n", "line 2"),
        ("x = " + "[" * 5000, "nested too deeply"),
        ("x = " + "9" * 5000, "integer string"),
    ],
)
def test_what_is_no_toml_is_one_line_with_file_and_line(
    text: str, said: str, tmp_path: Path
) -> None:
    (fault,) = faults_in(written(tmp_path, text))
    assert "repurpose.toml" in fault
    assert said in fault


def test_a_file_that_is_no_text_or_too_large_is_told(tmp_path: Path) -> None:
    path = tmp_path / "repurpose.toml"
    path.write_bytes(b"model = '\xff'")
    assert faults_in(path)[0].endswith("is not UTF-8 text")
    path.write_bytes(b"#" * 1_000_001)
    assert "larger than" in faults_in(path)[0]


def test_all_faults_are_listed_and_the_error_tells_the_first_and_how_many_more(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, "modle = 'x'\ntimeout = 'x'\n[retry]\nmax_attempts = 9")
    assert len(faults_in(path)) == 3
    with pytest.raises(UsageError, match="modle is not known") as told:
        read_file(path)
    assert told.value.hint == "2 more: repurpose check lists all"


# --- secrets -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("api_key = 'sk-hunter2'", "set OPENAI_API_KEY"),
        ("api-key = 'sk-hunter2'", "set OPENAI_API_KEY"),
        ("OPENAI_API_KEY = 'sk-hunter2'", "set OPENAI_API_KEY"),
        ("token = 'sk-hunter2'", "set OPENAI_API_KEY"),
        ("model = 'anthropic/m'\nkey = 'sk-hunter2'", "set ANTHROPIC_API_KEY"),
        ("base_url = 'http://a/v1'\nsecret = 'sk-hunter2'", "set REPURPOSE_API_KEY"),
        ("[retry]\npassword = 'sk-hunter2'", "set OPENAI_API_KEY"),
        ("[formats.a]\nprompt = 'x'\napi_token = 'sk-hunter2'", "set OPENAI_API_KEY"),
        ("[voices.a]\nkey = 'sk-hunter2'", "set OPENAI_API_KEY"),
        ("[composites.a]\nparts = [{password = 'sk-hunter2'}]", "set OPENAI_API_KEY"),
        ("base_url = 'https://me:sk-hunter2@host/v1'", "set REPURPOSE_BASE_URL"),
        ("[loading]\nproxy = 'http://me:sk-hunter2@host:1'", "set REPURPOSE_PROXY"),
        ("[endpoints.a]\nurl = 'https://me:sk-hunter2@host'", "leave it out"),
        ("[endpoints.a.header]\nAuthorization = 'Bearer sk-hunter2'", "env:NAME"),
        ("[endpoints.a.header]\nx-api-key = 'sk-hunter2'", "env:NAME"),
        ("[endpoints.a.header]\nx-api-key = 'sk-hunter2 env:X'", "env:NAME"),
    ],
)
def test_a_secret_is_refused_with_what_to_do_and_never_shown(
    text: str, advice: str, tmp_path: Path
) -> None:
    (fault,) = faults_in(written(tmp_path, text))
    assert advice in fault
    assert "hunter2" not in fault


@pytest.mark.parametrize(
    "text",
    [
        "max_output_tokens = 5\ncontext_tokens = 5",
        "[endpoints.a]\nbase_url='http://a'\nheader.Authorization = 'Bearer env:AGENT_TOKEN'",
        "[endpoints.a]\nbase_url='http://a'\nheader.x-api-key = 'env:AGENT_KEY'",
        "[formats.token]\nprompt = 'x'\noutputs = [{name = 'key', type = 'string'}]",
        "[voices.key]\ntone = 'x'",
        "base_url = 'https://host/v1?a=b@c'",
    ],
)
def test_what_only_looks_like_a_secret_is_let_through(text: str, tmp_path: Path) -> None:
    assert faults_in(written(tmp_path, text)) == []


# --- laws ----------------------------------------------------------------------------------------

_TABLES = ["retry", "run", "voices", "prices", "platforms", "formats", "endpoints", "loading"]
_SINGLE = ["model", "max_attempts", "thread", "key", "acme", "x", "limit", "banned", "brief"]
_NAMES = st.sampled_from([*_TABLES, *_SINGLE]) | st.text(max_size=8)
_PLAIN = st.none().flatmap(
    lambda _: (
        st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=12)
        | st.dates()
        | st.datetimes()
    )
)
_VALUES = st.recursive(
    _PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4)
)


@settings(max_examples=50)
@given(st.dictionaries(_NAMES, _VALUES, max_size=5))
def test_any_mapping_gives_settings_or_a_usage_error(raw: dict[str, object]) -> None:
    file, faults = checked(raw, Path("/somewhere/repurpose.toml"))
    assert all(isinstance(key, str) and said for key, said in faults)
    if not faults:
        with suppress(UsageError):
            assert isinstance(from_environment({}, file=file), Settings)


@given(st.text(alphabet="amodel=\"'[]{}.,#\n 1tru-:", max_size=60))
def test_any_text_gives_settings_or_faults(text: str) -> None:
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    file, _ = checked(raw, Path("/somewhere/repurpose.toml"))
    assert isinstance(file, ConfigFile)
