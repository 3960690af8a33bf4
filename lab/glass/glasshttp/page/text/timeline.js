// Texts of the timeline.
export default {
  en: {
    'tl.passes': 'Passes', 'tl.lanes': 'Threads', 'tl.lives': 'Lives of the requests', 'tl.pair': 'Two passes side by side',
    'tl.hint': '{n} passes. Drag to choose: {from} to {to}. The height of a bar is its number of events.', 'tl.none': 'No events yet. Let a client send something: here, or on screen 1.', 'tl.ping': 'Let client A send PING',
    'tl.part': 'pass {pass}: {n} of its events, {commands} {commands|command|commands}', 'tl.pass': 'pass {pass}: {n} {n|event|events}, {commands} {commands|command|commands}', 'tl.norequests': 'No command in these passes.',
    'tl.two': 'Two passes are needed. Press a to keep the current pass for the comparison.', 'tl.pinned': 'kept',
    'tl.earlier': 'earlier passes', 'tl.earlier.short': 'Earlier', 'tl.later': 'later passes', 'tl.later.short': 'Later', 'tl.fewer': 'zoom in: fewer passes', 'tl.fewer.short': 'Zoom in',
    'tl.more': 'zoom out: more passes', 'tl.more.short': 'Zoom out', 'tl.pin': 'keep this pass to compare others with it', 'tl.pin.short': 'Keep',
  },
  zh: {
    'tl.passes': '各轮循环', 'tl.lanes': '线程', 'tl.lives': '每个请求的一生', 'tl.pair': '两轮循环对比',
    'tl.hint': '共 {n} 轮。拖动以选择：第 {from} 至 {to} 轮。柱的高度是事件数。', 'tl.none': '还没有事件。让客户端发点什么：就在这里，或者在页面 1。', 'tl.ping': '让客户端 A 发 PING',
    'tl.part': '第 {pass} 轮：只画出其中 {n} 个事件，共 {commands} 条命令', 'tl.pass': '第 {pass} 轮：{n} 个事件，{commands} 条命令', 'tl.norequests': '这几轮里没有命令。',
    'tl.two': '需要两轮循环。按 a 键保留当前这一轮用来对比。', 'tl.pinned': '已保留',
    'tl.earlier': '更早的循环', 'tl.earlier.short': '更早', 'tl.later': '更晚的循环', 'tl.later.short': '更晚', 'tl.fewer': '放大：少看几轮', 'tl.fewer.short': '放大',
    'tl.more': '缩小：多看几轮', 'tl.more.short': '缩小', 'tl.pin': '保留这一轮，与其他轮对比', 'tl.pin.short': '保留',
  },
};
