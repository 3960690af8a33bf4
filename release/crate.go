package main

import (
	"fmt"

	"github.com/BurntSushi/toml"
)

// crates makes the crate for Rust as cargo package does: a .crate is a tar.gz with all files in a folder
// named after the crate and its version. It has no program inside, so one file serves all platforms.
func (r *release) crates() ([]file, error) {
	const dir = "clients/fixtures/rust"
	text, err := r.read(dir + "/Cargo.toml")
	if err != nil {
		return nil, err
	}
	var manifest struct {
		Package struct{ Name, Version string }
	}
	if err := toml.Unmarshal(text, &manifest); err != nil {
		return nil, fmt.Errorf("Cargo.toml: %w", err)
	}
	if err := r.sameVersion(dir, manifest.Package.Version); err != nil {
		return nil, err
	}
	licence, err := r.read("LICENSE")
	if err != nil {
		return nil, err
	}
	name := manifest.Package.Name + "-" + r.version
	entries := []entry{plain(name+"/LICENSE", licence)}
	for _, part := range []string{"Cargo.toml", "README.md", "src"} {
		found, err := r.tree(dir, part)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			entries = append(entries, plain(name+"/"+e.path, e.data))
		}
	}
	data, err := tarGz(entries, r.time)
	return []file{{name + ".crate", data}}, err
}
