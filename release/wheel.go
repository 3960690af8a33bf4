package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// A project is pyproject.toml's [project], as far as the plugin uses it. Another key is an error: it
// would be lost on the way into the package.
type project struct {
	Name         string
	Version      string
	Description  string
	Readme       string
	License      string
	Python       string `toml:"requires-python"`
	Keywords     []string
	Classifiers  []string
	Dependencies []string
	URLs         map[string]string
	EntryPoints  map[string]map[string]string `toml:"entry-points"`
}

// wheelTags returns the platforms of a wheel, in PyPI's words. The program is static. So one wheel serves
// glibc and musl. Go 1.26 needs macOS 12.
func wheelTags(b binary) []string {
	processor := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[b.arch]
	switch {
	case b.os == "linux":
		return []string{"manylinux_2_17_" + processor, "musllinux_1_1_" + processor}
	case b.arch == "arm64":
		return []string{"macosx_12_0_arm64"}
	}
	return []string{"macosx_12_0_x86_64"}
}

// wheels makes a wheel of the pytest plugin for each platform, without a build backend:
// https://packaging.python.org/en/latest/specifications/binary-distribution-format/
func (r *release) wheels() ([]file, error) {
	const dir = "clients/fixtures/python"
	p, err := r.project(dir)
	if err != nil {
		return nil, err
	}
	readme, err := r.read(dir + "/" + p.Readme)
	if err != nil {
		return nil, err
	}
	module := strings.ReplaceAll(p.Name, "-", "_")
	sources, err := r.tree(dir, module)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, b := range r.binaries {
		tags := wheelTags(b)
		info := module + "-" + r.version + ".dist-info/"
		entries := append(sources[:len(sources):len(sources)],
			program(module+"/bin/miniredisd", b.data),
			plain(info+"METADATA", p.metadata(readme)),
			plain(info+"WHEEL", wheelFile(tags)),
			plain(info+"entry_points.txt", p.entryPoints()),
			plain(info+"licenses/LICENSE", r.licences))
		data, err := zipped(append(entries, plain(info+"RECORD", record(entries, info))), r.time)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%s-%s-py3-none-%s.whl", module, r.version, strings.Join(tags, "."))
		files = append(files, file{name, data})
	}
	return files, nil
}

func (s *source) project(dir string) (*project, error) {
	text, err := s.read(path.Join(dir, "pyproject.toml"))
	if err != nil {
		return nil, err
	}
	var all struct{ Project project }
	read, err := toml.Decode(string(text), &all)
	if err != nil {
		return nil, fmt.Errorf("pyproject.toml: %w", err)
	}
	for _, key := range read.Undecoded() {
		if key[0] == "project" {
			return nil, fmt.Errorf("pyproject.toml: %s would not be in the wheel", key)
		}
	}
	return &all.Project, s.sameVersion(dir, all.Project.Version)
}

// metadata describes the package to pip: https://packaging.python.org/en/latest/specifications/core-metadata/
func (p *project) metadata(readme []byte) []byte {
	var out bytes.Buffer
	line := func(name string, values ...string) {
		for _, value := range values {
			fmt.Fprintf(&out, "%s: %s\n", name, value)
		}
	}
	line("Metadata-Version", "2.4")
	line("Name", p.Name)
	line("Version", p.Version)
	line("Summary", p.Description)
	line("Keywords", strings.Join(p.Keywords, ","))
	line("License-Expression", p.License)
	line("License-File", "LICENSE")
	line("Classifier", p.Classifiers...)
	line("Requires-Python", p.Python)
	line("Requires-Dist", p.Dependencies...)
	for _, name := range slices.Sorted(maps.Keys(p.URLs)) {
		line("Project-URL", name+", "+p.URLs[name])
	}
	line("Description-Content-Type", "text/markdown")
	fmt.Fprintf(&out, "\n%s", readme)
	return out.Bytes()
}

// entryPoints tells pytest about its plugin.
func (p *project) entryPoints() []byte {
	var out bytes.Buffer
	for _, group := range slices.Sorted(maps.Keys(p.EntryPoints)) {
		fmt.Fprintf(&out, "[%s]\n", group)
		for _, name := range slices.Sorted(maps.Keys(p.EntryPoints[group])) {
			fmt.Fprintf(&out, "%s = %s\n", name, p.EntryPoints[group][name])
		}
	}
	return out.Bytes()
}

func wheelFile(tags []string) []byte {
	out := bytes.NewBufferString("Wheel-Version: 1.0\nGenerator: miniredisd\nRoot-Is-Purelib: false\n")
	for _, tag := range tags {
		fmt.Fprintf(out, "Tag: py3-none-%s\n", tag)
	}
	return out.Bytes()
}

// record lists every file with its hash and size. pip removes a package by this list.
func record(entries []entry, info string) []byte {
	var out bytes.Buffer
	for _, e := range entries {
		sum := sha256.Sum256(e.data)
		fmt.Fprintf(&out, "%s,sha256=%s,%d\n", e.path, base64.RawURLEncoding.EncodeToString(sum[:]), len(e.data))
	}
	fmt.Fprintf(&out, "%sRECORD,,\n", info)
	return out.Bytes()
}
