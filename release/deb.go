package main

import (
	"bytes"
	"crypto/md5"
	_ "embed"
	"fmt"
	"strings"
	"time"
)

const (
	maintainer = "The miniredisd authors <miniredisd@users.noreply.github.com>"
	homepage   = "https://github.com/miniredisd/miniredisd"
	summary    = "Redis-protocol server for tests of lock clients"
)

//go:embed debian/miniredisd.1
var manPage []byte

//go:embed debian/lintian-overrides
var lintianOverrides []byte

// debs makes a Debian package for each Linux. It installs /usr/bin/miniredisd. It has no file named
// redis-server, so it stands beside Debian's package of that name, and it starts no service.
func (r *release) debs() ([]file, error) {
	var files []file
	for _, b := range r.binaries {
		if b.os != "linux" {
			continue
		}
		data, err := r.deb(b)
		if err != nil {
			return nil, err
		}
		files = append(files, file{fmt.Sprintf("miniredisd_%s_%s.deb", r.version, b.arch), data})
	}
	return files, nil
}

// deb is an ar archive of three files: the version of the format, the control files, the files to
// install (man 5 deb). Go and Debian have the same names for amd64 and arm64.
func (r *release) deb(b binary) ([]byte, error) {
	installed, err := r.debFiles(b)
	if err != nil {
		return nil, err
	}
	var size int
	var sums bytes.Buffer
	for _, e := range installed {
		if !strings.HasSuffix(e.path, "/") {
			size += len(e.data)
			fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(e.data), strings.TrimPrefix(e.path, "./"))
		}
	}
	control := fmt.Sprintf(`Package: miniredisd
Version: %s
Architecture: %s
Maintainer: %s
Installed-Size: %d
Suggests: redis-tools
Section: net
Priority: optional
Homepage: %s
Description: %s
 miniredisd speaks the protocol of Redis 7.2 and starts in milliseconds. Its lab
 loses replies, moves the clock and crashes the server on demand, so that tests
 of distributed locks can show what really happens then. Data are in memory, and
 in files if it is asked to save them.
`, r.version, b.arch, maintainer, (size+1023)/1024, homepage, summary)
	controls, err := tarGz([]entry{
		folder("./"),
		plain("./control", []byte(control)),
		plain("./md5sums", sums.Bytes()),
	}, r.time)
	if err != nil {
		return nil, err
	}
	data, err := tarGz(installed, r.time)
	if err != nil {
		return nil, err
	}
	return ar([]file{
		{"debian-binary", []byte("2.0\n")},
		{"control.tar.gz", controls},
		{"data.tar.gz", data},
	}, r.time), nil
}

// debFiles returns what the package installs, with the documents that Debian wants from each package.
func (r *release) debFiles(b binary) ([]entry, error) {
	documents, err := r.documents("miniredisd")
	if err != nil {
		return nil, err
	}
	man, err := gzipped(manPage)
	if err != nil {
		return nil, err
	}
	changes, err := gzipped(fmt.Appendf(nil, "miniredisd (%s) unstable; urgency=low\n\n  * Commit %s.\n\n -- %s  %s\n",
		r.version, r.commit, maintainer, r.time.Format(time.RFC1123Z)))
	if err != nil {
		return nil, err
	}
	const doc = "./usr/share/doc/miniredisd/"
	return append(under(doc, documents),
		folder("./"), folder("./usr/"), folder("./usr/bin/"), folder("./usr/share/"),
		folder("./usr/share/doc/"), folder(doc), folder("./usr/share/man/"), folder("./usr/share/man/man1/"),
		folder("./usr/share/lintian/"), folder("./usr/share/lintian/overrides/"),
		program("./usr/bin/miniredisd", b.data),
		plain(doc+"copyright", r.licences),
		plain(doc+"changelog.gz", changes),
		plain("./usr/share/man/man1/miniredisd.1.gz", man),
		plain("./usr/share/lintian/overrides/miniredisd", lintianOverrides),
	), nil
}

// ar returns the files as a Unix archive, in the order given.
func ar(files []file, at time.Time) []byte {
	out := bytes.NewBufferString("!<arch>\n")
	for _, f := range files {
		fmt.Fprintf(out, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", f.name, at.Unix(), 0, 0, "100644", len(f.data))
		out.Write(f.data)
		if len(f.data)%2 == 1 {
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}
