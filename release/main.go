// Command release makes every file of a release: archives, packages, images, checksums.
//
//	GOWORK=off go run . -out ../dist        what make release runs
//
// It clones the last commit into a temporary folder and builds there. So files outside the commit
// have no part in a release. Two runs on one commit, with the same Go and JDK, write the same bytes:
// entries of archives are sorted, their owner is root, their time is that of the commit, and their
// modes are given here.
//
//	main.go      flags, the order of the work
//	source.go    the commit, its clone, the licences
//	build.go     the binaries
//	archive.go   tar.gz and zip with nothing of this machine in them
//	documents.go the documents in the archives and in Debian's packages
//	sbom.go      the list of what is in the binaries
//	deb.go       Debian's packages
//	image.go     container images
//	wheel.go     the package for pytest
//	npm.go       the package for Vitest, Jest and node:test
//	jar.go       the package for JUnit
//	crate.go     the package for Rust
package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// allPlatforms are what a release has. -platforms chooses fewer, for a faster check.
const allPlatforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64"

func main() {
	out := flag.String("out", "dist", "the `folder` that gets the files, in place of an older release")
	platforms := flag.String("platforms", allPlatforms, "a comma-separated `list` of GOOS/GOARCH")
	flag.Parse()
	if err := run(*out, strings.Split(*platforms, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// A file is one result.
type file struct {
	name string
	data []byte
}

func run(out string, platforms []string) error {
	src, err := clone()
	if err != nil {
		return err
	}
	defer os.RemoveAll(src.dir)
	src.say("commit %s, version %s", src.commit[:12], src.version)
	binaries, err := src.build(platforms)
	if err != nil {
		return err
	}
	licences, err := src.licences(binaries)
	if err != nil {
		return err
	}
	r := &release{source: src, binaries: binaries, licences: licences}
	files, err := r.files()
	if err != nil {
		return err
	}
	return write(out, files)
}

// A release is what every package is made from.
type release struct {
	*source
	binaries []binary
	licences []byte
}

// files makes all packages, side by side: compressing takes most of the time.
func (r *release) files() ([]file, error) {
	packs := []struct {
		name string
		make func() ([]file, error)
	}{
		{"archives", r.archives}, {"Debian packages", r.debs}, {"images", r.images}, {"wheels", r.wheels},
		{"npm packages", r.npms}, {"jar", r.jars}, {"crate", r.crates}, {"list of modules", r.sbom},
	}
	made, errs := make([][]file, len(packs)), make([]error, len(packs))
	var all sync.WaitGroup
	for i, pack := range packs {
		all.Go(func() {
			if made[i], errs[i] = pack.make(); len(made[i]) > 0 && errs[i] == nil {
				r.say("packed: %s", pack.name)
			}
		})
	}
	all.Wait()
	return slices.Concat(made...), errors.Join(errs...)
}

// say prints what the program is doing, and how long it has run: a build without a cache takes minutes.
func (s *source) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%4.0f s  %s\n", time.Since(s.begun).Seconds(), fmt.Sprintf(format, args...))
}

// write fills the folder out with files and their checksums. It removes an older release there, but
// no other files.
func write(out string, files []file) error {
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	var sums strings.Builder
	for _, f := range files {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(f.data), f.name)
	}
	files = append(files, file{"SHA256SUMS", []byte(sums.String())})
	there, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil {
		return err
	}
	if len(there) > 0 && !slices.Contains(there, filepath.Join(out, "SHA256SUMS")) {
		return fmt.Errorf("%s has files, and they are not a release: remove them first", out)
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(out, f.name), f.data, 0o644); err != nil {
			return err
		}
		fmt.Printf("%11d  %s\n", len(f.data), f.name)
	}
	return nil
}
