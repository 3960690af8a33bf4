// Texts of the screen for recordings.
export default {
  en: {
    'rp.title': 'Recordings', 'rp.none': 'No recording is open.', 'rp.facts': '{n} events · {threads} {threads|thread|threads} · exec {exec} · {multiplexer} · version {version}',
    'rp.drop': 'Open a file, or drop it here: .loop.gz', 'rp.choose': 'Choose a file', 'rp.file': 'recording file', 'rp.html': 'Save as one HTML file', 'rp.save': 'Save as .loop.gz', 'rp.share': 'Copy a link to this place', 'rp.link': 'link to this recording', 'rp.shared': 'from a link', 'rp.large': 'The recording has {n} KB packed, and a link holds 10. Save it as a file.', 'rp.wrong': 'This link holds no recording.', 'rp.live': 'Back to the live server',
    'rp.slider': 'place in the recording', 'rp.slide': 'Move the slider, or use ← and →. Space plays. n, c and p go to the next event, command and pass.', 'rp.bad': '{name} is not a recording.',
    'rec.one-command': 'One command', 'rec.pipeline': 'A pipeline of 16', 'rec.partial-read': 'A partial read', 'rec.full-socket': 'A full socket', 'rec.blpop': 'BLPOP is woken',
    'rec.busy-script': 'A script that is busy', 'rec.io-threads': 'Eight clients, two I/O threads', 'rec.get-del': 'A lock lost by GET and DEL', 'rec.lost-reply': 'A reply lost after SET NX',
  },
  zh: {
    'rp.title': '录制', 'rp.none': '没有打开的录制。', 'rp.facts': '{n} 个事件 · {threads} 个线程 · exec {exec} · {multiplexer} · 版本 {version}',
    'rp.drop': '打开文件，或拖到这里：.loop.gz', 'rp.choose': '选择文件', 'rp.file': '录制文件', 'rp.html': '存为单个 HTML 文件', 'rp.save': '存为 .loop.gz', 'rp.share': '复制指向此处的链接', 'rp.link': '这段录制的链接', 'rp.shared': '来自链接', 'rp.large': '录制压缩后有 {n} KB，链接只装得下 10 KB。请存为文件。', 'rp.wrong': '这个链接里没有录制。', 'rp.live': '回到实时服务器',
    'rp.slider': '在录制中的位置', 'rp.slide': '拖动滑块，或用 ← 和 →。空格播放；n、c、p 跳到下一个事件、命令、循环。', 'rp.bad': '{name} 不是录制文件。',
    'rec.one-command': '一条命令', 'rec.pipeline': '16 条命令的流水线', 'rec.partial-read': '读到半条命令', 'rec.full-socket': '套接字写满', 'rec.blpop': 'BLPOP 被唤醒',
    'rec.busy-script': '一直不结束的脚本', 'rec.io-threads': '八个客户端，两个 I/O 线程', 'rec.get-del': 'GET 加 DEL 丢了锁', 'rec.lost-reply': 'SET NX 之后丢失回复',
  },
};
