package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// jars makes the jar of the JUnit extension, with the programs of all platforms inside. Maven compiles
// it. Then the entries are packed again: the programs are added, and every entry has the commit's time.
func (r *release) jars() ([]file, error) {
	for _, tool := range []string{"javac", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") != "" {
				return nil, err
			}
			fmt.Fprintf(os.Stderr, "release: no jar, because there is no %s\n", tool)
			return nil, nil
		}
	}
	dir := filepath.Join(r.dir, "clients", "fixtures", "java")
	if err := r.maven(dir, "package"); err != nil {
		return nil, err
	}
	name := "miniredisd-junit-" + r.version + ".jar"
	entries, err := unzipped(filepath.Join(dir, "target", name)) // not there if the pom has another version
	if err != nil {
		return nil, err
	}
	for _, b := range r.binaries {
		entries = append(entries, program("META-INF/miniredisd/"+b.os+"-"+b.arch+"/miniredisd", b.data))
	}
	data, err := zipped(append(entries, plain("META-INF/LICENSE", r.licences)), r.time)
	return []file{{name, data}}, err
}

// maven runs a phase, without a registry where the local repository has everything.
func (s *source) maven(dir, phase string) error {
	args := []string{"--batch-mode", "--quiet", "-Dmaven.test.skip=true", phase}
	offline := exec.Command("mvn", append([]string{"--offline"}, args...)...)
	offline.Dir = dir
	if offline.Run() == nil {
		return nil
	}
	cmd := exec.Command(filepath.Join(s.dir, "clients", "interop", "again"), append([]string{"mvn"}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("mvn %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// unzipped returns the entries of a zip archive, in their order. The manifest of a jar stays the first.
func unzipped(path string) ([]entry, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var entries []entry
	for _, f := range archive.File {
		if f.FileInfo().IsDir() {
			entries = append(entries, folder(f.Name))
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, f.Name, err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, f.Name, err)
		}
		entries = append(entries, plain(f.Name, text))
	}
	return entries, nil
}
