package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A reader without network has nothing but the files of the archive.
func TestLinksOfThePackedDocumentsLeadToPackedFiles(t *testing.T) {
	for _, program := range []string{"./miniredisd", "miniredisd"} {
		entries, err := example(t).documents(program)
		require.NoError(t, err)
		prose := map[string]string{}
		for _, e := range entries {
			prose[e.path] = string(e.data)
		}
		links, anchors := 0, 0
		for name, text := range prose {
			if path.Ext(name) != ".md" {
				continue
			}
			for _, link := range regexp.MustCompile(`\]\(([^)\s]*)\)`).FindAllStringSubmatch(withoutCode(text), -1) {
				target, anchor, hasAnchor := strings.Cut(link[1], "#")
				if strings.Contains(target, "://") {
					continue
				}
				links++
				file := name
				if target != "" {
					file = path.Join(path.Dir(name), target)
				}
				require.Contains(t, prose, file, "%s links to %s", name, link[1])
				if hasAnchor {
					anchors++
					require.Contains(t, headings(prose[file]), anchor, "%s links to %s", name, link[1])
				}
			}
			require.NotRegexp(t, `go run \./cmd/miniredisd|(?m)^(\$ )?go build`, text, name)
			require.NotRegexp(t, `(?m)^<!--`, text, name)
		}
		require.Greater(t, links, 300)
		require.Greater(t, anchors, 50)
	}
}

// withoutCode returns a page without its blocks and without what stands between backquotes.
func withoutCode(text string) string {
	text = regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(text, "")
	return regexp.MustCompile("`[^`]*`").ReplaceAllString(text, "code")
}

// headings returns the names of a page's headings in links, as GitHub makes them.
func headings(text string) (all []string) {
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		words := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		all = append(all, strings.ReplaceAll(words, " ", "-"))
	}
	return all
}

func TestTheREADMEOfAnArchiveBeginsWithItsProgram(t *testing.T) {
	for file, program := range map[string]string{
		one(t, example(t).archives): "./miniredisd",
		unpacked(t, example(t)):     "miniredisd",
	} {
		for _, readme := range []string{"README.md", "README.zh-CN.md"} {
			text := runs(t, "sh", "-c", "tar -xOf \"$0\" --wildcards \"*/$1\"", file, readme)
			first := regexp.MustCompile("(?s)```sh\n(\\S+)").FindStringSubmatch(text)
			require.NotNil(t, first, file)
			require.Equal(t, program, first[1], file)
			require.Regexp(t, `(?m)^- \[[^\]]+\]\(docs/(zh/)?locks\.md\)[:：]`, text, "the shelves of the documents")
			require.Regexp(t, `(?m)^- \[[^\]]+\]\(CHANGELOG\.md\)[:：]`, text, "a page beside the shelves")
			require.NotContains(t, text, "CONTRIBUTING", "it is not in the archive")
		}
	}
}

// unpacked returns the files that Debian's package installs, as a tar archive.
func unpacked(t *testing.T, r *release) string {
	t.Helper()
	files := filepath.Join(t.TempDir(), "installed.tar")
	data := runs(t, "dpkg-deb", "--fsys-tarfile", one(t, r.debs))
	require.NoError(t, os.WriteFile(files, []byte(data), 0o644))
	return files
}

func TestALinkThatLeadsNowhereIsText(t *testing.T) {
	names := []string{"docs/a.md", "docs/b.md", "docs/b.svg"}
	page := "<!-- run: server -->\n```sh\ngo run ./cmd/miniredisd --lab yes # [a](b.md)\n```\n" +
		"[b](b.md#x), [`server/x.go: f[T]`](../server/x.go), [a](#a) and [net](https://redis.io).\n![b](b.svg)![c](c.png)\n"
	require.Equal(t, "```sh\n./miniredisd --lab yes # [a](b.md)\n```\n"+
		"[b](b.md#x), `server/x.go: f[T]`, [a](#a) and [net](https://redis.io).\n![b](b.svg)\n",
		string(packed("docs/a.md", []byte(page), "./miniredisd", names)))
	page = "```sh\ngo build ./cmd/miniredisd\n```\n\n```sh\ngo build ./cmd/miniredisd\n./miniredisd &\n```\n"
	require.Equal(t, "```sh\nminiredisd &\n```\n", string(packed("docs/a.md", []byte(page), "miniredisd", names)))
}

// release/check names the folder with the files that it has made. Sizes grow with the source, so five percent of one
// are not worth an edit.
func TestSizesInTheDocumentsAreThoseOfTheFiles(t *testing.T) {
	dist := os.Getenv("RELEASE_DIST")
	if dist == "" {
		t.Skip("release/check sets RELEASE_DIST")
	}
	text, err := os.ReadFile(filepath.Join("..", "docs", "install.md"))
	require.NoError(t, err)
	measured := 0
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (\\d+\\.\\d) \\|$")
	for _, row := range rows.FindAllStringSubmatch(string(text), -1) {
		info, err := os.Stat(filepath.Join(dist, row[1]))
		if os.IsNotExist(err) {
			continue // a platform that was not asked for
		}
		require.NoError(t, err)
		measured++
		said, err := strconv.ParseFloat(row[2], 64)
		require.NoError(t, err)
		require.InEpsilon(t, float64(info.Size())/1e6, said, 0.05, "docs/install.md, %s", row[1])
	}
	require.NotZero(t, measured, "docs/install.md names no file of the release")
}

// A reader copies these names.
func TestFileNamesInTheDocumentsAreThoseOfTheRelease(t *testing.T) {
	r := example(t)
	some := r.binaries[0]
	r.binaries = nil
	for _, platform := range strings.Split(allPlatforms, ",") {
		some.os, some.arch, _ = strings.Cut(platform, "/")
		r.binaries = append(r.binaries, some)
	}
	names := []string{"miniredisd-junit-" + r.version + ".jar"} // it takes Maven to make it
	for _, pack := range []func() ([]file, error){r.archives, r.debs, r.images, r.wheels, r.npms, r.crates, r.sbom} {
		made, err := pack()
		require.NoError(t, err)
		for _, f := range made {
			names = append(names, f.name)
		}
	}
	said := 0
	for _, page := range []string{"docs/install.md", "docs/lab/first-test.md", "docs/zh/lab/first-test.md",
		"docs/fixtures/junit.md", "docs/fixtures/rust.md"} {
		text, err := r.read(page)
		require.NoError(t, err)
		name := regexp.MustCompile(`[\w.-]*miniredisd[\w.-]*-0\.[\w.-]+\.(tar\.gz|deb|tar|whl|tgz|jar|crate|cdx\.json)\b`)
		for _, n := range name.FindAllString(strings.ReplaceAll(string(text), "-OS-ARCH", "-linux-amd64"), -1) {
			said++
			require.Contains(t, names, n, page)
		}
	}
	require.Greater(t, said, 20)
}
