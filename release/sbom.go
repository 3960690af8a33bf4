package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// sbom lists what the binaries are made of, in CycloneDX's JSON. The list is read out of the binaries.
func (r *release) sbom() ([]file, error) {
	self := component("github.com/miniredisd/miniredisd", "v"+r.version)
	self.Type = cdx.ComponentTypeApplication
	self.Licenses = &cdx.Licenses{{License: &cdx.License{ID: "MIT"}}}
	self.Properties = &[]cdx.Property{{Name: "vcs.revision", Value: r.commit}}

	std := component("std", strings.TrimPrefix(r.binaries[0].info.GoVersion, "go"))
	components, refs := []cdx.Component{std}, []string{std.BOMRef}
	for _, dep := range dependencies(r.binaries) {
		c := component(dep.Path, dep.Version)
		sum, err := treeHash(dep)
		if err != nil {
			return nil, err
		}
		c.Hashes = &[]cdx.Hash{sum}
		components, refs = append(components, c), append(refs, c.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &self}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: self.BOMRef, Dependencies: &refs}}

	var out bytes.Buffer
	encoder := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true)
	if err := encoder.EncodeVersion(bom, cdx.SpecVersion1_6); err != nil {
		return nil, err
	}
	return []file{{"miniredisd-" + r.version + ".cdx.json", out.Bytes()}}, nil
}

// component names a Go module by its package URL.
func component(path, version string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: url, Name: path, Version: version, PackageURL: url}
}

// treeHash turns "h1:", the sum in go.sum, into hexadecimal: SHA-256 over the names and hashes of the files.
func treeHash(dep *debug.Module) (cdx.Hash, error) {
	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(dep.Sum, "h1:"))
	if err != nil {
		return cdx.Hash{}, fmt.Errorf("%s: the sum %q: %w", dep.Path, dep.Sum, err)
	}
	return cdx.Hash{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}, nil
}
