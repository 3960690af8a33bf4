package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// npmNames are node's words for Go's: process.platform and process.arch.
func npmNames(b binary) (system, processor string) {
	if b.arch == "amd64" {
		return b.os, "x64"
	}
	return b.os, b.arch
}

// npms makes an npm package for each platform, as npm pack does: a .tgz with all files in a folder
// named package. package.json says which files, and gets the platform, so that npm refuses the wrong one.
func (r *release) npms() ([]file, error) {
	const dir = "clients/fixtures/node"
	text, err := r.read(dir + "/package.json")
	if err != nil {
		return nil, err
	}
	var manifest struct {
		Name, Version string
		Files         []string
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, fmt.Errorf("package.json: %w", err)
	}
	if err := r.sameVersion(dir, manifest.Version); err != nil {
		return nil, err
	}
	common := []entry{plain("package/LICENSE", r.licences)}
	for _, name := range manifest.Files {
		if name == "bin" { // made below
			continue
		}
		found, err := r.tree(dir, name)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			common = append(common, plain("package/"+e.path, e.data))
		}
	}
	var files []file
	for _, b := range r.binaries {
		system, processor := npmNames(b)
		// The keys of the file keep their order: node takes the first match in "exports".
		platform := fmt.Appendf(nil, "{\n  \"os\": [%q],\n  \"cpu\": [%q],", system, processor)
		mine := bytes.Replace(text, []byte("{"), platform, 1)
		data, err := tarGz(append(common[:len(common):len(common)],
			plain("package/package.json", mine),
			program("package/bin/miniredisd", b.data)), r.time)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%s-npm-%s-%s-%s.tgz", manifest.Name, r.version, system, processor)
		files = append(files, file{name, data})
	}
	return files, nil
}

// tree returns the files of the commit at and below dir/name, named from dir.
func (s *source) tree(dir, name string) ([]entry, error) {
	var entries []entry
	top := filepath.Join(s.dir, filepath.FromSlash(dir))
	root := os.DirFS(top)
	err := fs.WalkDir(root, name, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, p)
		entries = append(entries, plain(path.Clean(p), data))
		return err
	})
	return entries, err
}

// sameVersion fails if a fixture has another version than the program in its package.
func (s *source) sameVersion(dir, version string) error {
	if strings.TrimSpace(version) != s.version {
		return fmt.Errorf("%s has version %q, and miniredisd has %s", dir, version, s.version)
	}
	return nil
}
