package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// documents returns the pages for a reader without network and without the source: the README of a release, what
// stands in docs, and the scripts and pictures that they show. A link leads to one of these files, or is plain text. A
// command begins with program, such as ./miniredisd, where a page has `go run ./cmd/miniredisd`.
//
//	release/README.md ─┐
//	docs/README.md ────┴─> README.md, with the shelves of the documents
//	docs, CHANGELOG.md ──> the same path
func (s *source) documents(program string) ([]entry, error) {
	names, err := s.documentNames()
	if err != nil {
		return nil, err
	}
	var entries []entry
	for _, name := range names {
		text, err := s.document(name)
		if err != nil {
			return nil, err
		}
		e := plain(name, text)
		switch path.Ext(name) {
		case ".md":
			e.data = packed(name, text, program, names)
		case ".sh":
			e.mode = 0o755
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// documentNames returns the paths of the documents, from the top of the source.
func (s *source) documentNames() ([]string, error) {
	names := []string{"README.md", "README.zh-CN.md", "CHANGELOG.md", "SECURITY.md"}
	for _, pattern := range []string{
		"docs/*.md", "docs/*/*.md", "docs/*/*/*.md", "docs/*.svg", "lab/verdict/testdata/pictures/clock-jump.svg",
		"clients/examples/lab/*.sh", "clients/examples/way-out/*.sh", "clients/examples/first/java/pom.xml",
	} {
		found, err := fs.Glob(os.DirFS(s.dir), pattern)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	return names, nil
}

// document reads a file. A README is that of the release, and ends with the shelves of the documents.
func (s *source) document(name string) ([]byte, error) {
	shelves, isReadme := map[string]string{"README.md": "docs/README.md", "README.zh-CN.md": "docs/zh/README.md"}[name]
	if !isReadme {
		return s.read(name)
	}
	own, err := s.read(path.Join("release", name))
	if err != nil {
		return nil, err
	}
	text, err := s.read(shelves)
	if err != nil {
		return nil, err
	}
	at := bytes.Index(text, []byte("\n# "))
	if at < 0 {
		return nil, fmt.Errorf("%s: no title", shelves)
	}
	text = regexp.MustCompile(`(?m)^#`).ReplaceAll(text[at:], []byte("##"))
	link := regexp.MustCompile(`\]\(([^)]+)\)`)
	return append(own, link.ReplaceAllFunc(text, func(l []byte) []byte {
		return []byte("](" + path.Join(path.Dir(shelves), string(link.FindSubmatch(l)[1])) + ")")
	})...), nil
}

// packed returns a page as a release has it.
func packed(name string, text []byte, program string, names []string) []byte {
	ships := func(target string) bool {
		file, _, _ := strings.Cut(target, "#")
		return file == "" || strings.Contains(target, "://") || slices.Contains(names, path.Join(path.Dir(name), file))
	}
	text = regexp.MustCompile(`(?m)^<!--(?s:.*?)-->\n`).ReplaceAll(text, nil) // for CI
	text = regexp.MustCompile(`(?m)^go build (-o miniredisd )?\./cmd/miniredisd\n`).ReplaceAll(text, nil)
	text = regexp.MustCompile("(?m)^```sh\n```\n\n?").ReplaceAll(text, nil)
	text = bytes.ReplaceAll(text, []byte("go build ./cmd/miniredisd && "), nil)
	text = bytes.ReplaceAll(text, []byte("go run ./cmd/miniredisd"), []byte(program))
	text = bytes.ReplaceAll(text, []byte("./miniredisd"), []byte(program))
	if strings.HasPrefix(path.Base(name), "README") {
		row := regexp.MustCompile(`(?m)^- \[[^\]]*\]\(([^)]*)\).*\n`) // of a shelf
		text = row.ReplaceAllFunc(text, func(line []byte) []byte {
			if !ships(string(row.FindSubmatch(line)[1])) {
				return nil
			}
			return line
		})
	}
	return outsideCode(text, func(prose string) string { return unlink(prose, ships) })
}

// unlink makes plain text of the links that lead nowhere, and leaves out such pictures.
func unlink(prose string, ships func(target string) bool) string {
	link := regexp.MustCompile(`!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)`)
	return link.ReplaceAllStringFunc(prose, func(s string) string {
		parts := link.FindStringSubmatch(s)
		switch {
		case ships(parts[2]):
			return s
		case s[0] == '!':
			return ""
		}
		return parts[1]
	})
}

// outsideCode changes what stands outside of blocks of code.
func outsideCode(text []byte, change func(prose string) string) []byte {
	parts := regexp.MustCompile("(?m)^```").Split(string(text), -1)
	for i := 0; i < len(parts); i += 2 {
		parts[i] = change(parts[i])
	}
	return []byte(strings.Join(parts, "```"))
}

// under returns the entries below a folder, whose name ends in a slash, with the folders on the way.
func under(top string, entries []entry) []entry {
	var all []entry
	folders := map[string]bool{}
	for _, e := range entries {
		for dir := path.Dir(e.path); dir != "."; dir = path.Dir(dir) {
			folders[dir] = true
		}
		e.path = top + e.path
		all = append(all, e)
	}
	for dir := range folders {
		all = append(all, folder(top+dir+"/"))
	}
	return all
}
