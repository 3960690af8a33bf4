// Texts of the labs' screen. The labs themselves come from the server: package course/labs.
export default {
  en: {
    'labs.title': 'labs', 'labs.lead': 'Write it yourself: a parser, an event loop, locks. In any language.', 'labs.minutes': '{n} minutes', 'labs.level': 'level {n} of 5',
    'labs.task': 'The task', 'labs.judged': 'What is judged', 'labs.start': 'Begin', 'labs.language': 'language of the skeleton',
    'labs.copy': 'Copy', 'labs.copied': 'Copied', 'labs.hints': 'Hints', 'labs.hint': 'Hint {n}', 'labs.more': 'Show hint {n}',
    'labs.after': 'The grader prints your points and the reason for each one that is missing. Its recordings open on this page: screen 7.',
    'labs.failed': 'The labs cannot be read: {why}',
  },
  zh: {
    'labs.title': '实验题目', 'labs.lead': '自己动手：解析器、事件循环、锁。语言不限。', 'labs.minutes': '{n} 分钟', 'labs.level': '难度 {n}，最高 5',
    'labs.task': '任务', 'labs.judged': '评分', 'labs.start': '开始', 'labs.language': '骨架的语言',
    'labs.copy': '复制', 'labs.copied': '已复制', 'labs.hints': '提示', 'labs.hint': '提示 {n}', 'labs.more': '显示提示 {n}',
    'labs.after': '评分程序会打印得分，以及每一处丢分的原因。它的录制可以在本页打开：第 7 页。',
    'labs.failed': '读不到实验题目：{why}',
  },
};
