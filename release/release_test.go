package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"
)

// example is a release with a binary that nobody runs.
func example(t *testing.T) *release {
	t.Helper()
	src := &source{dir: "..", version: "0.2.0", commit: "0123456789012345678901234567890123456789",
		time: time.Unix(1_700_000_000, 0).UTC()}
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "example.com/module", Version: "v1.2.3", Sum: "h1:XbzkgYJHdqh/8m2Uu0W/dQv8nktxx4BFHp1M0gROTXA="}}}
	return &release{source: src, licences: []byte("all rights are given\n"),
		binaries: []binary{{os: "linux", arch: "amd64", data: []byte("\x7fELF, almost"), info: info}}}
}

// one returns the only file that pack makes, written to a folder of the test.
func one(t *testing.T, pack func() ([]file, error)) string {
	t.Helper()
	files, err := pack()
	require.NoError(t, err)
	require.Len(t, files, 1)
	path := filepath.Join(t.TempDir(), files[0].name)
	require.NoError(t, os.WriteFile(path, files[0].data, 0o644))
	return path
}

func TestEntriesOfATarAreSortedAndBelongToRoot(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	data, err := tarred([]entry{plain("b", []byte("text")), {path: "c", link: "b", mode: 0o777}, folder("a/")}, at)
	require.NoError(t, err)
	var names []string
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		names = append(names, h.Name)
		require.Equal(t, "root", h.Uname)
		require.Zero(t, h.Uid)
		require.True(t, h.ModTime.Equal(at))
	}
	require.Equal(t, []string{"a/", "b", "c"}, names)
}

func TestAZipIsTheSameInEveryTimeZone(t *testing.T) {
	entries := []entry{program("bin/x", []byte("x")), plain("a", []byte("y"))}
	at := time.Unix(1_700_000_000, 0)
	utc, err := zipped(entries, at.UTC())
	require.NoError(t, err)
	tokyo, err := zipped(entries, at.In(time.FixedZone("Tokyo", 9*3600)))
	require.NoError(t, err)
	require.Equal(t, utc, tokyo)

	r, err := zip.NewReader(bytes.NewReader(utc), int64(len(utc)))
	require.NoError(t, err)
	require.Equal(t, "bin/x", r.File[0].Name, "the order stays")
	require.EqualValues(t, 0o755, r.File[0].Mode())
}

func TestTheArchiveHasTheLicences(t *testing.T) {
	path := one(t, example(t).archives)
	require.Equal(t, "miniredisd-0.2.0-linux-amd64.tar.gz", filepath.Base(path))
	listed := runs(t, "tar", "-tzf", path)
	require.Contains(t, listed, "miniredisd-0.2.0-linux-amd64/miniredisd\n")
	require.Contains(t, listed, "miniredisd-0.2.0-linux-amd64/THIRD-PARTY-LICENSES\n")
}

func TestDpkgReadsThePackage(t *testing.T) {
	path := one(t, example(t).debs)
	info := runs(t, "dpkg-deb", "--info", path)
	require.Contains(t, info, "Package: miniredisd\n Version: 0.2.0\n Architecture: amd64\n")
	require.NotContains(t, info, "Provides", "it is no redis-server to Debian")
	contents := runs(t, "dpkg-deb", "--contents", path)
	require.Regexp(t, `-rwxr-xr-x root/root +12 2023-11-14 .* ./usr/bin/miniredisd\n`, contents)
	require.NotContains(t, contents, "redis-server")
}

// runs returns the standard output of a command. The test skips where the command is missing.
func runs(t *testing.T, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		require.Empty(t, os.Getenv("CI"), "%s is missing", name)
		t.Skip(name + " is missing")
	}
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC")
	out, err := cmd.Output()
	require.NoError(t, err)
	return string(out)
}

func TestTheImageIsReadInBothFormats(t *testing.T) {
	path := one(t, example(t).images)
	older, err := tarball.ImageFromPath(path, nil)
	require.NoError(t, err)
	require.NoError(t, validate.Image(older))

	dir := t.TempDir()
	runs(t, "tar", "-xf", path, "-C", dir)
	index, err := layout.ImageIndexFromPath(dir)
	require.NoError(t, err)
	require.NoError(t, validate.Index(index))
	manifest, err := index.IndexManifest()
	require.NoError(t, err)
	require.Len(t, manifest.Manifests, 1)
	require.Equal(t, "linux/amd64", manifest.Manifests[0].Platform.String())
	newer, err := index.Image(manifest.Manifests[0].Digest)
	require.NoError(t, err)

	for _, img := range []interface{ RawConfigFile() ([]byte, error) }{older, newer} {
		raw, err := img.RawConfigFile()
		require.NoError(t, err)
		var config struct {
			OS, Architecture string
			Config           struct {
				User        string
				Cmd         []string
				Healthcheck struct{ Test []string }
			}
		}
		require.NoError(t, json.Unmarshal(raw, &config))
		require.Equal(t, "linux amd64", config.OS+" "+config.Architecture)
		require.Equal(t, "65532:65532", config.Config.User)
		require.Equal(t, "redis-server", config.Config.Cmd[0])
		require.Equal(t, []string{"CMD", "miniredisd", "health"}, config.Config.Healthcheck.Test)
	}
}

func TestTheWheelRecordsItsFiles(t *testing.T) {
	path := one(t, example(t).wheels)
	const tag = "py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64"
	require.Equal(t, "pytest_miniredisd-0.2.0-"+tag+".whl", filepath.Base(path))
	entries, err := unzipped(path)
	require.NoError(t, err)
	text := map[string]string{}
	for _, e := range entries {
		text[e.path] = string(e.data)
	}
	const info = "pytest_miniredisd-0.2.0.dist-info/"
	require.Equal(t, info+"RECORD", entries[len(entries)-1].path, "the specification wants it last")
	require.Contains(t, text[info+"METADATA"], "\nName: pytest-miniredisd\nVersion: 0.2.0\n")
	require.Contains(t, text[info+"entry_points.txt"], "[pytest11]\nminiredisd = pytest_miniredisd.plugin\n")
	require.Contains(t, text[info+"WHEEL"], "\nTag: py3-none-musllinux_1_1_x86_64\n")
	for _, line := range strings.Split(strings.TrimSpace(text[info+"RECORD"]), "\n") {
		fields := strings.Split(line, ",")
		require.Contains(t, text, fields[0])
		if fields[0] != info+"RECORD" {
			require.Equal(t, strconv.Itoa(len(text[fields[0]])), fields[2], fields[0])
		}
	}
	require.Len(t, strings.Split(strings.TrimSpace(text[info+"RECORD"]), "\n"), len(entries))
}

func TestAKeyThatTheWheelWouldLoseIsAnError(t *testing.T) {
	s := &source{dir: t.TempDir(), version: "0.2.0"}
	text := "[project]\nname = \"x\"\nversion = \"0.2.0\"\n[project.gui-scripts]\nx = \"x:main\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "pyproject.toml"), []byte(text), 0o644))
	_, err := s.project(".")
	require.ErrorContains(t, err, "project.gui-scripts would not be in the wheel")
}

// npm refuses the package on another platform. The first match in "exports" counts, so the order stays.
func TestTheNPMPackageNamesItsPlatform(t *testing.T) {
	path := one(t, example(t).npms)
	require.Equal(t, "miniredisd-npm-0.2.0-linux-x64.tgz", filepath.Base(path))
	require.Regexp(t, `-rwxr-xr-x .* package/bin/miniredisd\n`, runs(t, "tar", "-tvzf", path))

	text := runs(t, "tar", "-xzOf", path, "package/package.json")
	var manifest struct{ OS, CPU []string }
	require.NoError(t, json.Unmarshal([]byte(text), &manifest))
	require.Equal(t, []string{"linux", "x64"}, append(manifest.OS, manifest.CPU...))
	require.Regexp(t, `"types".*"default"`, text)
}

// A crate that is a workspace of its own cannot lie in the workspace of a user: cargo finds two roots.
func TestTheCrateHasWhatCargoReadsAndIsNoWorkspace(t *testing.T) {
	path := one(t, example(t).crates)
	require.Equal(t, "miniredisd-test-0.2.0.crate", filepath.Base(path))
	const top = "miniredisd-test-0.2.0/"
	listed := strings.Fields(runs(t, "tar", "-tzf", path))
	require.Equal(t, []string{top + "Cargo.toml", top + "LICENSE", top + "README.md"}, listed[:3])
	require.Contains(t, listed, top+"src/lib.rs")
	for _, name := range listed[3:] {
		require.True(t, strings.HasPrefix(name, top+"src/"), name)
	}
	require.NotContains(t, runs(t, "tar", "-xzOf", path, top+"Cargo.toml"), "[workspace]")
}

func TestAFixtureHasTheVersionOfTheProgramInside(t *testing.T) {
	r := example(t)
	r.version = "0.3.0"
	_, err := r.npms()
	require.ErrorContains(t, err, `clients/fixtures/node has version "0.2.0", and miniredisd has 0.3.0`)
	_, err = r.crates()
	require.ErrorContains(t, err, `clients/fixtures/rust has version "0.2.0", and miniredisd has 0.3.0`)
}

func TestTheSBOMNamesEveryModule(t *testing.T) {
	text, err := os.ReadFile(one(t, example(t).sbom))
	require.NoError(t, err)
	for _, name := range []string{
		`"purl": "pkg:golang/github.com/miniredisd/miniredisd@v0.2.0"`,
		`"purl": "pkg:golang/std@1.26.8"`,
		`"purl": "pkg:golang/example.com/module@v1.2.3"`,
		`"content": "5dbce481824776a87ff26d94bb45bf750bfc9e4b71c780451e9d4cd2044e4d70"`,
	} {
		require.Contains(t, string(text), name)
	}
}

func TestChecksumsAreThoseOfTheFiles(t *testing.T) {
	out := filepath.Join(t.TempDir(), "dist")
	require.NoError(t, os.MkdirAll(out, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(out, "of an older release"), nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(out, "SHA256SUMS"), nil, 0o644))
	require.NoError(t, write(out, []file{{"b", []byte("2")}, {"a", []byte("1")}}))
	t.Chdir(out)
	require.Equal(t, "a: OK\nb: OK\n", runs(t, "sha256sum", "--check", "SHA256SUMS"))
	require.NoFileExists(t, "of an older release")
}

// release/check runs the ways. So each line of the tables for users runs in CI.
func TestTheLinesOfTheDocumentsAreThoseThatTheWaysRun(t *testing.T) {
	for _, c := range []struct {
		way, page string
		lines     []string
	}{
		{"jar", "junit.md", []string{"mvn org.apache.maven.plugins:maven-install-plugin:3.1.4:install-file " +
			"-Dfile=miniredisd-junit-0.2.0.jar"}},
		{"crate", "rust.md", []string{"tar xzf miniredisd-test-0.2.0.crate",
			"cargo add --dev --path miniredisd-test-0.2.0"}},
	} {
		script, err := os.ReadFile(filepath.Join("ways", c.way, "run"))
		require.NoError(t, err)
		for _, line := range c.lines {
			require.Regexp(t, `(?m)^(again )?`+regexp.QuoteMeta(line)+`$`, string(script))
		}
		for _, page := range []string{"docs/install.md", "docs/fixtures/" + c.page} {
			text, err := os.ReadFile(filepath.Join("..", page))
			require.NoError(t, err)
			require.True(t, strings.Contains(string(text), "`"+strings.Join(c.lines, " && ")+"`"), "%s: %s", page, c.way)
		}
	}
}

func TestAFolderWithOtherFilesIsLeftAlone(t *testing.T) {
	out := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(out, "work of a week"), nil, 0o644))
	require.ErrorContains(t, write(out, []file{{"a", []byte("1")}}), "not a release")
	require.FileExists(t, filepath.Join(out, "work of a week"))
}
