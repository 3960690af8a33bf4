package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nonroot is the user and the group of the server in a container, as in distroless images.
const nonroot = 65532

// images makes a container image for each Linux, as an archive that docker load, podman load and
// skopeo read. It holds the image twice over one set of blobs, as docker save writes it:
//
//	oci-layout, index.json    the OCI image layout
//	manifest.json             docker's older format
//	blobs/sha256/...          manifest, configuration, layer
func (r *release) images() ([]file, error) {
	var files []file
	for _, b := range r.binaries {
		if b.os != "linux" {
			continue
		}
		img, err := r.image(b)
		if err != nil {
			return nil, err
		}
		data, err := r.imageArchive(img, "miniredisd:"+r.version)
		if err != nil {
			return nil, err
		}
		files = append(files, file{fmt.Sprintf("miniredisd-%s-image-%s.tar", r.version, b.arch), data})
	}
	return files, nil
}

// image puts one layer on nothing (FROM scratch).
func (r *release) image(b binary) (v1.Image, error) {
	packed, err := tarGz([]entry{
		folder("usr/"), folder("usr/local/"), folder("usr/local/bin/"), folder("etc/"),
		program("usr/local/bin/miniredisd", b.data),
		link("usr/local/bin/redis-server"), link("usr/local/bin/redis-cli"), link("usr/local/bin/valkey-cli"),
		plain("etc/passwd", fmt.Appendf(nil, "nonroot:x:%d:%d::/data:/sbin/nologin\n", nonroot, nonroot)),
		plain("LICENSE", r.licences),
		{path: "data/", mode: 0o755, owner: nonroot},
		{path: "tmp/", mode: 0o1777},
	}, r.time)
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed)), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	img, err := mutate.Append(mutate.MediaType(empty.Image, types.OCIManifestSchema1), mutate.Addendum{
		Layer:   layer,
		History: v1.History{Created: v1.Time{Time: r.time}, CreatedBy: "make release"},
	})
	if err != nil {
		return nil, err
	}
	img = mutate.ConfigMediaType(img, types.OCIConfigJSON)
	config, err := r.imageConfig(img, b)
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(img, config)
}

// link is another name of the program. Health checks by redis-cli or valkey-cli are a habit.
func link(path string) entry { return entry{path: path, mode: 0o777, link: "miniredisd"} }

// imageConfig says how a container starts: as redis-server does in the usual images, for everybody who
// reaches the container. The server then checks itself, as there is no shell.
func (r *release) imageConfig(img v1.Image, b binary) (*v1.ConfigFile, error) {
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = b.os, b.arch, v1.Time{Time: r.time}
	config.Config = v1.Config{
		Cmd:          []string{"redis-server", "--bind", "0.0.0.0", "--protected-mode", "no"},
		Env:          []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
		User:         fmt.Sprintf("%d:%d", nonroot, nonroot),
		WorkingDir:   "/data",
		ExposedPorts: map[string]struct{}{"6379/tcp": {}},
		Healthcheck: &v1.HealthConfig{
			Test:     []string{"CMD", "miniredisd", "health"},
			Interval: 2 * time.Second, Timeout: 5 * time.Second, Retries: 5,
		},
		Labels: map[string]string{
			"org.opencontainers.image.title":       "miniredisd",
			"org.opencontainers.image.description": summary,
			"org.opencontainers.image.version":     r.version,
			"org.opencontainers.image.revision":    r.commit,
			"org.opencontainers.image.created":     r.time.Format(time.RFC3339),
			"org.opencontainers.image.source":      homepage,
			"org.opencontainers.image.licenses":    "MIT",
		},
	}
	return config, nil
}

// imageArchive returns the image under a name, in both formats.
func (r *release) imageArchive(img v1.Image, name string) ([]byte, error) {
	blobs, err := blobsOf(img)
	if err != nil {
		return nil, err
	}
	descriptor, err := partial.Descriptor(img)
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	descriptor.Platform, descriptor.ArtifactType = config.Platform(), "" // an image is no artifact
	_, tag, _ := strings.Cut(name, ":")
	descriptor.Annotations = map[string]string{
		"io.containerd.image.name":          "docker.io/library/" + name,
		"org.opencontainers.image.ref.name": tag,
	}
	index, err := json.Marshal(v1.IndexManifest{
		SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{*descriptor}})
	if err != nil {
		return nil, err
	}
	manifest, err := img.Manifest()
	if err != nil {
		return nil, err
	}
	older := tarball.Descriptor{Config: blob(manifest.Config.Digest), RepoTags: []string{name}}
	for _, layer := range manifest.Layers {
		older.Layers = append(older.Layers, blob(layer.Digest))
	}
	list, err := json.Marshal(tarball.Manifest{older})
	if err != nil {
		return nil, err
	}
	return tarred(append(blobs, folder("blobs/"), folder("blobs/sha256/"),
		plain("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)),
		plain("index.json", index),
		plain("manifest.json", list)), r.time)
}

// blobsOf returns the manifest, the configuration and the layers of an image, each named by its hash.
func blobsOf(img v1.Image) ([]entry, error) {
	manifest, err := img.RawManifest()
	if err != nil {
		return nil, err
	}
	digest, err := img.Digest()
	if err != nil {
		return nil, err
	}
	config, err := img.RawConfigFile()
	if err != nil {
		return nil, err
	}
	configName, err := img.ConfigName()
	if err != nil {
		return nil, err
	}
	blobs := []entry{plain(blob(digest), manifest), plain(blob(configName), config)}
	layers, err := img.Layers()
	if err != nil {
		return nil, err
	}
	for _, layer := range layers {
		digest, err := layer.Digest()
		if err != nil {
			return nil, err
		}
		packed, err := layer.Compressed()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(packed)
		if err != nil {
			return nil, err
		}
		blobs = append(blobs, plain(blob(digest), data))
	}
	return blobs, nil
}

func blob(digest v1.Hash) string { return "blobs/" + digest.Algorithm + "/" + digest.Hex }
