// Package labs has what a student gets: the texts of the labs in two languages, and a skeleton for each
// of six programming languages. All of it is in the program, so a lab needs no source tree.
//
//	L04-reactor/en.md, zh.md      title, idea, task, what is judged, three hints
//	L04-reactor/python/...        the skeletons: python, java, node, go, c, rust
//	common/python/...             a client of Redis and the skeleton of a lock, for labs about clients; a lab
//	                              that needs another skeleton has one of its own
//
// Files of Go end in .txt here, because they are programs of their own. WriteTemplate takes that away.
// Any goroutine may call any function.
package labs

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed L* common
var files embed.FS

// Languages are the languages of the skeletons.
func Languages() []string { return []string{"python", "java", "node", "go", "c", "rust"} }

// Text is the text of a lab in one language.
type Text struct {
	Title   string   `json:"title"`
	Idea    string   `json:"idea"` // one sentence
	Minutes string   `json:"minutes"`
	Level   string   `json:"level"` // from 1 to 5
	Task    string   `json:"task"`
	Judged  string   `json:"judged"`
	Hints   []string `json:"hints"` // three steps
}

// Read returns the text of the lab in a folder. lang is en or zh.
//
//	# The reactor
//	> One thread serves a thousand clients.
//	> 90 4
//	## ...   the task
//	## ...   what is judged
//	## ...   the three hints
func Read(folder, lang string) (Text, error) {
	name := folder + "/" + lang + ".md"
	b, err := files.ReadFile(name)
	if err != nil {
		return Text{}, err
	}
	parts := strings.Split("\n"+string(b), "\n## ")
	head := strings.Split(strings.TrimSpace(parts[0]), "\n")
	if len(parts) != 6 || len(head) < 3 {
		return Text{}, fmt.Errorf("%s: expected a title, two lines that begin with >, and five sections", name)
	}
	t := Text{Title: strings.TrimPrefix(head[0], "# "), Idea: strings.TrimPrefix(head[1], "> ")}
	t.Minutes, t.Level, _ = strings.Cut(strings.TrimPrefix(head[2], "> "), " ")
	for i, part := range parts[1:] {
		_, body, _ := strings.Cut(part, "\n")
		switch body = strings.TrimSpace(body); i {
		case 0:
			t.Task = body
		case 1:
			t.Judged = body
		default:
			t.Hints = append(t.Hints, body)
		}
	}
	return t, nil
}

// Lab is a lab with its text in one language.
type Lab struct {
	ID string `json:"id"` // such as L04
	Text
}

// All returns all labs in order. lang is en or zh.
func All(lang string) (all []Lab, err error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		id, _, found := strings.Cut(e.Name(), "-")
		if !found {
			continue // the common files
		}
		text, err := Read(e.Name(), lang)
		if err != nil {
			return nil, err
		}
		all = append(all, Lab{id, text})
	}
	return all, nil
}

// Folder returns the folder of a lab, such as L04-reactor for L04, or "".
func Folder(id string) string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), id+"-") {
			return e.Name()
		}
	}
	return ""
}

// Template returns the files of a skeleton: their names, without folders, and their contents. A lab about
// clients has the files in common, but for those that it has itself.
func Template(folder, language string, client bool) (map[string]string, error) {
	if !slices.Contains(Languages(), language) {
		return nil, fmt.Errorf("there is no template in '%s', only in %s", language, strings.Join(Languages(), ", "))
	}
	all := map[string]string{}
	if language == "go" {
		all["go.mod"] = "module lab\n\ngo 1.24\n"
	}
	if client {
		if err := add(all, "common/"+language); err != nil {
			return nil, err
		}
	}
	err := add(all, folder+"/"+language)
	if client && errors.Is(err, fs.ErrNotExist) {
		err = nil // the skeleton of a lock is enough
	}
	return all, err
}

// add adds the files of a folder.
func add(all map[string]string, folder string) error {
	entries, err := files.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := files.ReadFile(folder + "/" + e.Name())
		if err != nil {
			return err
		}
		all[strings.TrimSuffix(e.Name(), ".txt")] = string(text)
	}
	return nil
}

// WriteTemplate writes a skeleton into dir, which it makes. It overwrites nothing.
func WriteTemplate(folder, language, dir string, client bool) (names []string, err error) {
	all, err := Template(folder, language, client)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	names = slices.Sorted(maps.Keys(all))
	for _, name := range names {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return nil, err
		}
		_, err = f.WriteString(all[name])
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// Command returns the command that starts a skeleton in its folder, and the one that builds it before, or "".
func Command(language string) (build, run string) {
	switch language {
	case "python":
		return "", "python3 main.py"
	case "java":
		return "javac -d out *.java", "java -cp out Main"
	case "node":
		return "", "node main.mjs"
	case "c":
		return "cc -O2 -Wall -pthread -o main *.c", "./main"
	case "rust":
		return "rustc --edition 2021 -O main.rs", "./main"
	}
	return "", "go run ."
}
