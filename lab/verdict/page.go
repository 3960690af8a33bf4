package verdict

import (
	"bytes"
	"io"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/miniredisd/miniredisd/lab/words"
)

// page writes the operations as porcupine shows them.
func (v *Verdict) page(w io.Writer, r *replay, info porcupine.LinearizationInfo) error {
	info.AddAnnotations(r.annotations(v.Language))
	m := describing(model(nil), v.Language)
	if v.Language != words.Chinese {
		return porcupine.Visualize(m, info, w) // repeats the steps
	}
	var b bytes.Buffer
	if err := porcupine.Visualize(m, info, &b); err != nil {
		return err
	}
	_, err := io.WriteString(w, inChinese(b.String()))
	return err
}

// inChinese translates what porcupine's page says by itself. The page begins with it, and the operations come
// last. So the first places are the right ones, whatever names the clients have.
func inChinese(page string) string {
	for _, text := range ofPorcupine() {
		page = strings.Replace(page, text.english, text.chinese, text.times)
	}
	return page
}

// saying is a text of porcupine's page, and how often the page has it.
type saying struct {
	english, chinese string
	times            int
}

func ofPorcupine() []saying {
	return []saying{
		{`<html lang="en">`, `<html lang="zh-CN">`, 1},
		{"<title>Porcupine</title>", "<title>操作顺序</title>", 1},
		{">Clients</text>", ">客户端</text>", 1},
		{">Time</text>", ">时间</text>", 1},
		{">Valid LP</text>", ">合法的点</text>", 1},
		{">Invalid LP</text>", ">不合法的点</text>", 1},
		{"[ jump to first error ]", "[ 跳到第一个错误 ]", 1},
		{"<br><br>Call: ", "<br><br>开始：", 1},
		{"<br><br>Return: ", "<br><br>结束：", 1},
		{"⟨no details⟩", "（没有详情）", 1},
		{"'Not part of selected partition.'", "'不属于选中的这把锁。'", 1},
		{"'Selected element is not part of any partial linearization.'", "'选中的操作不在任何一个合法的顺序里。'", 1},
		{"'Not part of any partial linearization.'", "'不在任何一个合法的顺序里。'", 1},
		{`"Not part of selected element's partial linearization."`, `"不在选中的操作所在的合法顺序里。"`, 1},
		{"<strong>Previous state:</strong>", "<strong>之前的状态：</strong>", 2},
		{"<strong>New state:</strong>", "<strong>之后的状态：</strong>", 2},
		{"&langle;invalid op&rangle;", "（操作不合法）", 1},
	}
}

// describing is m with descriptions in a language.
func describing(m porcupine.Model, in words.Language) porcupine.Model {
	m.DescribeOperation = func(operation, out any) string {
		i := operation.(input)
		holder := i.holder
		if i.stranger != "" {
			holder = in.Say("client %s", i.stranger)
		}
		switch {
		case i.do == acquire && !out.(bool):
			return in.Say("acquire %s: refused", i.Lock)
		case i.do == acquire:
			return in.Say("acquire %s by %s", i.Lock, holder)
		case i.do == release:
			return in.Say("release %s by %s", i.Lock, holder)
		}
		return in.Say("lease over %s by %s", i.Lock, holder)
	}
	m.DescribeState = func(state any) string {
		if state == "" {
			return in.Say("free")
		}
		holders := strings.ReplaceAll(strings.TrimPrefix(state.(string), readers), readers, in.Say(" and "))
		return in.Say("held by %s", holders)
	}
	return m
}
